// The page that plays Algorithm 1: settings in, stages out, one picture after the other.
"use strict";

const player = (() => {
  const MOST = 60; // stages
  const PAUSE = 450; // milliseconds that a stage is shown

  const root = document.getElementById("play");
  const named = (name) => root.querySelector(`[name="${name}"]`);
  const settings = root.querySelector("form");
  const [play, step, again, slider] = ["play", "step", "again", "stage"].map(named);
  const choices = {
    data: dataSets.names,
    selector: [...Object.keys(algorithm1.SAMPLING), ...Object.keys(algorithm1.GREEDY)],
    kernel: Object.keys(algorithm1.KERNELS),
  };

  let fit; // Algorithm 1, with all stages so far
  let pixels; // the same posterior at the cells of the picture
  let frames; // the probability in every cell after 0, 1, ... stages
  let timer = null;

  const value = (name) => Number(named(name).value);
  const stages = () => fit.steps.length;

  function begin() {
    pause();
    const { X, y } = dataSets.make(named("data").value, value("rows"), value("seed"), value("noise") / 100);
    fit = new algorithm1.Fit(X, y, {
      kernel: named("kernel").value,
      lengthscale: value("lengthscale"),
      selector: named("selector").value,
      workingSet: value("workingSet"),
      seed: value("seed"),
    });
    pixels = new algorithm1.Points(pictures.grid, fit.k);
    frames = [probabilities()];
    slider.max = 0;
    show(0);
  }

  function probabilities() {
    return Float32Array.from(pixels.mean, (mean, i) => algorithm1.probability(mean, pixels.variance[i]));
  }

  // One more stage; false if there is none.
  function grow() {
    const next = stages() < MOST ? fit.stage() : null;
    if (next === null) return false;
    pixels.include(next);
    frames.push(probabilities());
    slider.max = stages();
    show(stages());
    return true;
  }

  // The stage after the one that is shown, be it there already or not.
  function advance() {
    const at = Number(slider.value);
    if (at < stages()) show(at + 1);
    else if (!grow()) pause();
  }

  function show(at) {
    slider.value = at;
    const done = at === stages() && (at >= MOST || fit.eligible().length === 0);
    if (done) pause();
    step.disabled = done;
    const { X } = fit.points;
    const { candidates } = fit.trace[at];
    const seen = candidates.length > 1 ? candidates : [];
    const basis = fit.basis.slice(0, at);
    pictures.plane(root.querySelector(".plane"), { X, y: fit.y, probability: frames[at], basis, candidates: seen });
    pictures.curve(root.querySelector(".curve"), { trace: fit.trace, at, most: MOST });
    label(slider);
    say(at, done);
  }

  function say(at, done) {
    const { loss, error, bound, candidates } = fit.trace[at];
    const percent = (share) => `${(100 * share).toFixed(1)} %`;
    const figures =
      `Log loss ${loss.toFixed(3)}, so at most ${percent(Math.min(bound, 1))} of the training rows can be ` +
      `wrong; ${percent(error)} are.`;
    const entered = candidates.length > 1 ? `the best of ${candidates.length} rows came in` : "a row came in";
    const event = at === 0 ? "No basis vector yet: every place gets 50 %, which counts as wrong." : `Stage ${at}: ${entered}.`;
    root.querySelector(".play-said").textContent = `${event} ${figures}${done ? " That is all." : ""}`;
  }

  function pause() {
    clearInterval(timer);
    timer = null;
    play.textContent = "Play";
  }

  function toggle() {
    if (timer !== null) return pause();
    if (step.disabled) show(0); // from the end it begins anew
    timer = setInterval(advance, PAUSE);
    play.textContent = "Pause";
    advance();
  }

  // The number beside a slider.
  function label(input) {
    const output = input.closest("label").querySelector("output");
    if (output !== null) output.textContent = input.value + (input.dataset.unit || "");
  }

  function changed() {
    settings.querySelectorAll("input").forEach(label);
    named("workingSet").disabled = !(named("selector").value in algorithm1.SAMPLING);
    if (settings.checkValidity()) begin();
  }

  for (const [name, words] of Object.entries(choices)) {
    words.forEach((word) => named(name).add(new Option(word)));
  }
  settings.addEventListener("input", changed);
  settings.addEventListener("submit", (event) => event.preventDefault());
  play.addEventListener("click", toggle);
  step.addEventListener("click", () => {
    pause();
    advance();
  });
  again.addEventListener("click", begin);
  slider.addEventListener("input", () => {
    pause();
    show(Number(slider.value));
  });
  const redraw = () => show(Number(slider.value));
  window.addEventListener("resize", redraw);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  new MutationObserver(redraw).observe(document.body, { attributeFilter: ["data-theme"] });
  changed();

  return { fit: () => fit, frame: (at) => frames[at], MOST };
})();
