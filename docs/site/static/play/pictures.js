// The two pictures of a fit: the plane with its rows, and the curves over the stages.
"use strict";

const pictures = (() => {
  const EDGE = 3; // the plane goes from -3 to 3
  const CELLS = 72; // of the coloured grid, along each side

  // The middle of every cell, row by row from the top left.
  const grid = Array.from({ length: CELLS * CELLS }, (_, i) => [
    ((0.5 + (i % CELLS)) / CELLS) * 2 * EDGE - EDGE,
    EDGE - ((0.5 + Math.floor(i / CELLS)) / CELLS) * 2 * EDGE,
  ]);

  // A canvas as sharp as the screen, measured in units of the page.
  function sheet(canvas) {
    const sharpness = window.devicePixelRatio || 1;
    const size = canvas.clientWidth;
    canvas.width = canvas.height = Math.round(size * sharpness);
    const pen = canvas.getContext("2d");
    pen.scale(sharpness, sharpness);
    return { pen, size };
  }

  function colours(canvas) {
    const style = getComputedStyle(canvas.closest(".play"));
    const names = ["first", "second", "ink", "quiet", "paper", "edge"];
    return Object.fromEntries(names.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
  }

  function shape(pen, kind, x, y, r) {
    pen.beginPath();
    if (kind > 0) {
      pen.moveTo(x, y - 1.2 * r);
      pen.lineTo(x + 1.1 * r, y + 0.8 * r);
      pen.lineTo(x - 1.1 * r, y + 0.8 * r);
      pen.closePath();
    } else {
      pen.arc(x, y, r, 0, 2 * Math.PI);
    }
  }

  // A small picture with a dot for each cell; undecided places are clear.
  function tinted(probability, colour) {
    const small = document.createElement("canvas");
    small.width = small.height = CELLS;
    const pen = small.getContext("2d");
    probability.forEach((p, i) => {
      pen.globalAlpha = 0.75 * Math.abs(2 * p - 1);
      pen.fillStyle = p > 0.5 ? colour.second : colour.first;
      pen.fillRect(i % CELLS, Math.floor(i / CELLS), 1, 1);
    });
    return small;
  }

  // probability: of the second class in every cell; basis and candidates: row numbers.
  function plane(canvas, { X, y, probability, basis, candidates }) {
    const { pen, size } = sheet(canvas);
    const colour = colours(canvas);
    const place = ([a, b]) => [((a + EDGE) / (2 * EDGE)) * size, ((EDGE - b) / (2 * EDGE)) * size];
    pen.fillStyle = colour.paper;
    pen.fillRect(0, 0, size, size);
    pen.drawImage(tinted(probability, colour), 0, 0, size, size);
    X.forEach((x, i) => {
      shape(pen, y[i], ...place(x), 3.4);
      pen.fillStyle = y[i] > 0 ? colour.second : colour.first;
      pen.fill();
      pen.lineWidth = 1;
      pen.strokeStyle = colour.paper;
      pen.stroke();
    });
    pen.strokeStyle = colour.ink;
    pen.lineWidth = 1.2;
    pen.setLineDash([2, 2]);
    candidates.forEach((i) => {
      shape(pen, -1, ...place(X[i]), 9);
      pen.stroke();
    });
    pen.setLineDash([]);
    pen.lineWidth = 2;
    basis.forEach((i) => {
      shape(pen, -1, ...place(X[i]), 6.5);
      pen.stroke();
    });
  }

  // trace: bound and error after 0, 1, ... stages; at: the stage that is shown; most: how many there may be.
  function curve(canvas, { trace, at, most }) {
    const { pen, size } = sheet(canvas);
    const colour = colours(canvas);
    const box = { left: 44, right: size - 12, top: 14, bottom: size - 40 };
    const highest = Math.max(1, ...trace.map((stage) => stage.bound));
    const across = (t) => box.left + (t / most) * (box.right - box.left);
    const up = (value) => box.bottom - (value / highest) * (box.bottom - box.top);
    pen.fillStyle = colour.paper;
    pen.fillRect(0, 0, size, size);
    pen.font = "12px system-ui, sans-serif";
    pen.fillStyle = colour.quiet;
    pen.strokeStyle = colour.edge;
    pen.lineWidth = 1;
    pen.textAlign = "right";
    pen.textBaseline = "middle";
    for (let value = 0; value <= highest + 1e-9; value += 0.25) {
      pen.beginPath();
      pen.moveTo(box.left, up(value));
      pen.lineTo(box.right, up(value));
      pen.stroke();
      pen.fillText(`${Math.round(100 * value)} %`, box.left - 6, up(value));
    }
    pen.textAlign = "center";
    for (let t = 0; t <= most; t += 10) pen.fillText(String(t), across(t), box.bottom + 13);
    pen.fillText("basis vectors", (box.left + box.right) / 2, box.bottom + 30);

    function line(key, style, dash) {
      pen.beginPath();
      trace.forEach((stage, t) => pen.lineTo(across(t), up(stage[key])));
      pen.strokeStyle = style;
      pen.lineWidth = 2;
      pen.setLineDash(dash);
      pen.stroke();
      pen.setLineDash([]);
      shape(pen, -1, across(at), up(trace[at][key]), 4.5);
      pen.fillStyle = style;
      pen.fill();
    }
    line("bound", colour.second, []);
    line("error", colour.first, [5, 4]);
  }

  return { grid, plane, curve, CELLS, EDGE };
})();
