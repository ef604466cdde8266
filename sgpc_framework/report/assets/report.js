"use strict";

// ---------------------------------------------------------------------------------------------
// Tables that can be sorted: a click on a heading sorts by its column, another one the other way.

for (const table of document.querySelectorAll("table[data-sortable]")) {
  const headings = [...table.tHead.rows[0].cells];
  headings.forEach((heading, column) => {
    // No <button>: browsers do not repeat a heading that has one on every page they print.
    const button = document.createElement("span");
    button.setAttribute("role", "button");
    button.tabIndex = 0;
    button.append(...heading.childNodes);
    heading.append(button);
    button.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      button.click();
    });
    button.addEventListener("click", () => {
      const down = heading.getAttribute("aria-sort") === "ascending";
      for (const other of headings) other.removeAttribute("aria-sort");
      heading.setAttribute("aria-sort", down ? "descending" : "ascending");
      const numeric = heading.classList.contains("n");
      const key = (row) => {
        const cell = row.cells[column];
        return numeric ? Number(cell.dataset.value ?? cell.textContent) : cell.textContent;
      };
      const compare = numeric ? (a, b) => key(a) - key(b) : (a, b) => key(a).localeCompare(key(b));
      const rows = [...table.tBodies[0].rows].sort((a, b) => (down ? compare(b, a) : compare(a, b)));
      table.tBodies[0].append(...rows);
    });
  });
}

// ---------------------------------------------------------------------------------------------
// The player. Without it, or where it cannot work, the picture of the last stage stays.

const source = document.getElementById("reel");
if (source && "DecompressionStream" in window) {
  play(JSON.parse(source.textContent)).catch((error) => console.error(error));
}

const choices = document.getElementById("choices");
if (choices) decide(JSON.parse(choices.textContent));

async function play(reel) {
  const planes = await unpacked(reel);
  const lead = Float32Array.from({ length: 256 }, (_, byte) => {
    const root = (byte - 127.5) / 127.5;
    return Math.sign(root) * root * root;
  });
  const player = document.getElementById("player");
  const canvas = document.getElementById("plane-canvas");
  const slider = document.getElementById("stage");
  const button = document.getElementById("play");
  const said = document.getElementById("said");
  const total = reel.frames.at(-1).size;
  const each = reel.frames.at(-1).basis.length > 1 ? " a class" : "";
  let timer = null;

  function show() {
    const position = Number(slider.value) - 1;
    const frame = reel.frames[position];
    const percent = (100 * frame.error).toFixed(1);
    const text = `${frame.size} of ${total} basis vectors${each}: error ${percent} %, log loss ${frame.loss.toFixed(3)}`;
    said.textContent = text;
    slider.setAttribute("aria-valuetext", text);
    draw(canvas, reel, planes, lead, position);
  }

  function stop() {
    seen.disconnect();
    clearInterval(timer);
    timer = null;
    button.textContent = "Play";
    said.setAttribute("aria-live", "polite");
  }

  function start() {
    seen.disconnect();
    if (Number(slider.value) === Number(slider.max)) slider.value = slider.min;
    said.setAttribute("aria-live", "off");
    button.textContent = "Pause";
    show();
    const pace = Math.min(700, Math.max(120, 8000 / reel.frames.length));
    timer = setInterval(() => {
      slider.stepUp();
      show();
      if (Number(slider.value) === Number(slider.max)) stop();
    }, pace);
  }

  button.addEventListener("click", () => (timer === null ? start() : stop()));
  slider.addEventListener("input", () => {
    stop();
    show();
  });
  // It plays once, by itself, when it is first seen, unless the reader wants nothing to move.
  const seen = new IntersectionObserver((entries) => {
    if (entries.some((entry) => entry.isIntersecting)) start();
  }, { threshold: 0.5 });
  player.hidden = false;
  player.closest("section").classList.add("plays");
  new ResizeObserver(show).observe(canvas);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", show);
  show();
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  if (reel.frames.length > 1 && !still) seen.observe(canvas);
}

// ---------------------------------------------------------------------------------------------
// Decisions: a threshold, what mistakes cost, and what follows. Counts at every threshold are known.

function decide(data) {
  const [watched, miss, alarm, slider, at] = ["watched", "miss", "alarm", "threshold", "at"].map(byId);
  slider.max = data.thresholds.length - 1;

  const own = () => data.classes[Number(watched.value)];
  const price = (field) => Math.max(0, Number(field.value) || 0);
  const nearest = (wanted) => {
    const gaps = data.thresholds.map((threshold) => Math.abs(threshold - wanted));
    return gaps.indexOf(Math.min(...gaps));
  };
  const cost = (place) => {
    const { rows, own: found, others } = own();
    return (price(miss) * (rows[0] - found[place]) + price(alarm) * others[place]) / (rows[0] + rows[1]);
  };
  const asked = () => (price(miss) + price(alarm) > 0 ? price(alarm) / (price(alarm) + price(miss)) : 0.5);

  function show() {
    const place = Number(slider.value);
    const threshold = data.thresholds[place];
    at.textContent = short(threshold);
    slider.setAttribute("aria-valuetext", `threshold ${short(threshold)}`);
    const { name, other, rows, own: founds, others: alarms, option, literal } = own();
    const [found, alarmed] = [founds[place], alarms[place]];
    byId("follows").replaceChildren(confusion(name, other, rows, found, alarmed));
    const said = found + alarmed;
    const total = rows[0] + rows[1];
    const costs = data.thresholds.map((_, i) => cost(i));
    const least = costs.indexOf(Math.min(...costs));
    const parts = [
      `${said} of ${total} rows are said to be ${name}`,
      rows[0] ? `${share(found, rows[0])} of those that are, are found (recall)` : "",
      said ? `${share(found, said)} of those said are right (precision)` : "",
      rows[1] ? `${share(rows[1] - alarmed, rows[1])} of the others are left alone (specificity)` : "",
      `${share(rows[0] - found + alarmed, total)} are wrong`,
    ];
    const alone = Math.min((price(miss) * rows[0]) / total, (price(alarm) * rows[1]) / total);
    byId("decided").textContent =
      `${parts.filter(Boolean).join("; ")}. A decision costs ${short(costs[place])} on average; ` +
      `the same one for all rows, ${short(alone)}; the least on these rows is ` +
      `${short(costs[least])}, at ${short(data.thresholds[least])}.`;
    const weight = place === nearest(asked()) ? price(miss) / price(alarm) : (1 - threshold) / threshold;
    const times = Number.isFinite(weight) && weight > 0 ? short(weight) : short((1 - threshold) / threshold);
    byId("keep").textContent =
      `sgpc decide MODEL --cost ${option}${times} -o DECIDED, or model.with_costs({${literal}: ${times}})`;
    byId("cost-curve").replaceChildren(costCurve(data.thresholds, costs, place, asked()));
  }

  function follow() {
    slider.value = nearest(asked());
    show();
  }

  function look() {
    miss.value = own().miss;
    alarm.value = 1;
    slider.value = nearest(own().start);
    show();
  }

  watched.addEventListener("change", look);
  for (const field of [miss, alarm]) field.addEventListener("input", follow);
  slider.addEventListener("input", show);
  byId("decider").hidden = false;
  byId("decider").closest("section").classList.add("plays");
  look();
}

function byId(id) {
  return document.getElementById(id);
}

/* Three digits that count, and no exponent where people would not write one. */
function short(value) {
  return String(Number(value.toPrecision(3)));
}

function share(part, whole) {
  return `${((100 * part) / whole).toFixed(1)}\u00a0%`;
}

function confusion(name, other, rows, found, alarmed) {
  const table = document.createElement("table");
  table.className = "confusion";
  const line = (head, cells) => {
    const row = table.insertRow();
    const first = document.createElement("th");
    first.textContent = head;
    row.append(first, ...cells);
  };
  const heading = (text) => Object.assign(document.createElement("th"), { textContent: text });
  const cell = (count, whole, right) => {
    const made = document.createElement("td");
    made.className = right ? "right" : "wrong";
    made.style.setProperty("--share", whole ? count / whole : 0);
    const number = Object.assign(document.createElement("b"), { textContent: count });
    const beside = Object.assign(document.createElement("small"), { textContent: whole ? ` ${share(count, whole)}` : "" });
    made.append(number, beside);
    return made;
  };
  line("true", [heading(`said: ${name}`), heading(`said: ${other}`)]);
  line(name, [cell(found, rows[0], true), cell(rows[0] - found, rows[0], false)]);
  line(other, [cell(alarmed, rows[1], false), cell(rows[1] - alarmed, rows[1], true)]);
  return table;
}

/* What a decision costs at each threshold; where it is now, and where the costs would have it. */
function costCurve(thresholds, costs, place, asked) {
  const [width, height, left, bottom] = [330, 170, 38, 34];
  const most = Math.max(...costs, 1e-12);
  const x = (threshold) => left + (width - left) * threshold;
  const y = (cost) => 6 + (height - bottom - 6) * (1 - cost / most);
  const floor = y(0);
  const root = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "What a decision costs at each threshold" });
  const text = (content, attributes) => {
    const node = svg("text", attributes);
    node.textContent = content;
    root.append(node);
  };
  root.append(svg("path", { d: `M${left} 6V${floor}H${width}`, fill: "none", stroke: "var(--faint)" }));
  for (const tick of [0, 0.25, 0.5, 0.75, 1]) {
    root.append(svg("path", { d: `M${x(tick)} ${floor}v4`, stroke: "var(--faint)" }));
    text(String(tick), { x: x(tick), y: floor + 16, "text-anchor": "middle" });
  }
  text(short(most), { x: left - 5, y: 10, "text-anchor": "end" });
  text("0", { x: left - 5, y: floor + 3, "text-anchor": "end" });
  text("threshold", { x: x(0.5), y: height - 2, "text-anchor": "middle" });
  const label = svg("text", { transform: `translate(10 ${(6 + floor) / 2}) rotate(-90)`, "text-anchor": "middle" });
  label.textContent = "cost of a decision";
  root.append(label);
  root.append(svg("path", { d: `M${x(asked)} 6V${floor}`, stroke: "var(--quiet)", "stroke-dasharray": "2 3" }));
  const points = thresholds.map((threshold, i) => `${x(threshold).toFixed(1)} ${y(costs[i]).toFixed(1)}`);
  root.append(svg("path", { d: `M${points.join("L")}`, fill: "none", stroke: "var(--ink)", "stroke-width": 1.6 }));
  root.append(svg("circle", { cx: x(thresholds[place]), cy: y(costs[place]), r: 5, fill: "var(--ink)" }));
  return root;
}

function svg(name, attributes) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

async function unpacked(reel) {
  const packed = Uint8Array.from(atob(reel.planes), (character) => character.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const planes = new Uint8Array(await new Response(stream).arrayBuffer());
  const size = reel.channels * reel.side * reel.side;
  for (let i = size; i < planes.length; i++) planes[i] += planes[i - size];
  return planes;
}

function draw(canvas, reel, planes, lead, position) {
  const scale = window.devicePixelRatio || 1;
  const width = canvas.clientWidth;
  const height = canvas.clientHeight;
  if (!width || !height) return;
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  const context = canvas.getContext("2d");
  context.scale(scale, scale);
  const style = getComputedStyle(document.documentElement);
  const look = {
    paper: style.getPropertyValue("--paper").trim(),
    ink: style.getPropertyValue("--ink").trim(),
    quiet: style.getPropertyValue("--quiet").trim(),
    sans: style.getPropertyValue("--sans").trim(),
  };
  look.dark = rgb(look.paper)[1] < 128;
  const box = boxIn(context, reel, width, height, look);
  canvas.dataset.box = JSON.stringify(box);
  const fields = leads(reel, planes, lead, position);
  context.save();
  context.beginPath();
  context.rect(box.left, box.top, box.width, box.height);
  context.clip();
  drawColours(context, reel, fields, box, look);
  drawPoints(context, reel, box, look);
  for (const field of fields.length === 2 ? fields.slice(1) : fields) {
    drawBoundary(context, reel.side, field, box, look);
  }
  drawBasis(context, reel, position, box, look);
  context.restore();
  drawAxes(context, reel, box, look);
}

/* The part of the canvas inside the axes: beside it there is room for the longest number. */
function boxIn(context, reel, width, height, look) {
  context.font = `12px ${look.sans}`;
  const numbers = ticks(reel.low[1], reel.high[1], 6).map((tick) => context.measureText(tick.text).width);
  const left = 30 + Math.ceil(Math.max(0, ...numbers));
  return { left, top: 8, width: width - left - 10, height: height - 54 };
}

/* By how much each class leads, on the grid; of two classes only the second is stored. */
function leads(reel, planes, lead, position) {
  const cells = reel.side * reel.side;
  const fields = [];
  for (let channel = 0; channel < reel.channels; channel++) {
    const begin = (position * reel.channels + channel) * cells;
    fields.push(Float32Array.from(planes.subarray(begin, begin + cells), (byte) => lead[byte]));
  }
  if (fields.length === 1) fields.unshift(fields[0].map((value) => -value));
  return fields;
}

function drawColours(context, reel, fields, box, look) {
  const side = reel.side;
  const small = document.createElement("canvas");
  small.width = small.height = side;
  const image = new ImageData(side, side);
  const paper = rgb(look.paper);
  const colours = reel.colours.map(rgb);
  for (let row = 0; row < side; row++) {
    for (let column = 0; column < side; column++) {
      const cell = row * side + column;
      let best = 0;
      for (let k = 1; k < fields.length; k++) if (fields[k][cell] > fields[best][cell]) best = k;
      const strength = reel.deepest * Math.max(fields[best][cell], 0);
      const pixel = 4 * ((side - 1 - row) * side + column);
      for (let part = 0; part < 3; part++) {
        image.data[pixel + part] = (1 - strength) * paper[part] + strength * colours[best][part];
      }
      image.data[pixel + 3] = 255;
    }
  }
  small.getContext("2d").putImageData(image, 0, 0);
  // The first and last points of the grid are on the edge of the box, so pixels reach beyond it.
  const across = box.width / (side - 1);
  const up = box.height / (side - 1);
  context.imageSmoothingQuality = "high";
  context.drawImage(small, box.left - across / 2, box.top - up / 2, box.width + across, box.height + up);
}

function rgb(colour) {
  return [1, 3, 5].map((start) => parseInt(colour.slice(start, start + 2), 16));
}

function lighter(colour) {
  return `rgb(${rgb(colour).map((part) => Math.round(part + 0.4 * (255 - part))).join(" ")})`;
}

function place(reel, box, [x, y]) {
  return [box.left + (box.width * x) / reel.unit, box.top + box.height * (1 - y / reel.unit)];
}

function drawPoints(context, reel, box, look) {
  const radius = Math.min(3.2, Math.max(1.8, box.width / 220));
  context.lineWidth = 0.6;
  context.strokeStyle = look.paper;
  const fills = reel.colours.map((colour) => (look.dark ? lighter(colour) : colour));
  for (const point of reel.points) {
    const [x, y] = place(reel, box, point);
    context.fillStyle = fills[point[2]];
    context.beginPath();
    mark(context, x, y, radius, point[2] % 4);
    context.fill();
    context.stroke();
  }
}

/* A circle, a square, a triangle or a diamond. */
function mark(context, x, y, r, shape) {
  if (shape === 0) context.arc(x, y, r, 0, 2 * Math.PI);
  else if (shape === 1) context.rect(x - 0.9 * r, y - 0.9 * r, 1.8 * r, 1.8 * r);
  else {
    const corners = shape === 2 ? [[0, -1.3], [1.2, 0.9], [-1.2, 0.9]] : [[0, -1.4], [1.4, 0], [0, 1.4], [-1.4, 0]];
    corners.forEach(([dx, dy], i) => context[i ? "lineTo" : "moveTo"](x + r * dx, y + r * dy));
    context.closePath();
  }
}

/* Where a field is zero: a line through each cell of the grid whose corners differ in sign. */
function drawBoundary(context, side, field, box, look) {
  const across = box.width / (side - 1);
  const up = box.height / (side - 1);
  context.beginPath();
  for (let row = 0; row + 1 < side; row++) {
    for (let column = 0; column + 1 < side; column++) {
      const at = row * side + column;
      const corners = [field[at], field[at + 1], field[at + side + 1], field[at + side]];
      const crossings = [];
      for (let edge = 0; edge < 4; edge++) {
        const a = corners[edge];
        const b = corners[(edge + 1) % 4];
        if (a > 0 === b > 0) continue;
        const part = a / (a - b);
        const [dx, dy] = [[part, 0], [1, part], [1 - part, 1], [0, 1 - part]][edge];
        crossings.push([box.left + across * (column + dx), box.top + box.height - up * (row + dy)]);
      }
      // Four crossings are a saddle: its middle decides which corners belong together.
      const middle = corners.reduce((sum, value) => sum + value, 0) > 0;
      if (crossings.length === 4 && middle === corners[0] > 0) crossings.push(crossings.shift());
      for (let i = 0; i < crossings.length; i += 2) {
        context.moveTo(...crossings[i]);
        context.lineTo(...crossings[i + 1]);
      }
    }
  }
  context.lineWidth = 1.6;
  context.lineCap = "round";
  context.strokeStyle = look.ink;
  context.stroke();
}

/* Numbered circles; those that the size before did not have are filled. Where there is no room for
   so many numbers, only these have one. */
function drawBasis(context, reel, position, box, look) {
  const frame = reel.frames[position];
  const before = position ? reel.frames[position - 1].basis : frame.basis.map(() => []);
  const count = frame.basis.reduce((sum, basis) => sum + basis.length, 0);
  const crowded = count > 60;
  const radius = count > 40 || box.width < 420 ? 7 : 9;
  context.font = `${radius}px ${look.sans}`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.lineWidth = 1.3;
  frame.basis.forEach((basis, k) => {
    const ink = frame.basis.length > 1 ? reel.colours[k] : look.ink;
    for (let i = 0; i < basis.length; i++) {
      const isNew = i >= before[k].length;
      const [x, y] = place(reel, box, basis[i]);
      context.beginPath();
      context.arc(x, y, crowded && !isNew ? 3.5 : radius, 0, 2 * Math.PI);
      context.fillStyle = isNew ? ink : look.paper;
      context.fill();
      context.strokeStyle = isNew ? look.paper : ink;
      context.stroke();
      if (crowded && !isNew) continue;
      context.fillStyle = isNew ? look.paper : ink;
      context.fillText(String(i + 1), x, y + 0.5);
    }
  });
}

function drawAxes(context, reel, box, look) {
  context.strokeStyle = context.fillStyle = look.quiet;
  context.lineWidth = 1;
  context.strokeRect(box.left, box.top, box.width, box.height);
  context.font = `12px ${look.sans}`;
  for (const axis of [0, 1]) {
    const low = reel.low[axis];
    const span = reel.high[axis] - low;
    for (const tick of ticks(low, low + span, axis ? 6 : Math.max(3, box.width / 90))) {
      const part = (tick.value - low) / span;
      context.beginPath();
      if (axis === 0) {
        const x = box.left + part * box.width;
        context.moveTo(x, box.top + box.height);
        context.lineTo(x, box.top + box.height + 4);
        context.textAlign = "center";
        context.textBaseline = "top";
        context.fillText(tick.text, x, box.top + box.height + 7);
      } else {
        const y = box.top + (1 - part) * box.height;
        context.moveTo(box.left - 4, y);
        context.lineTo(box.left, y);
        context.textAlign = "right";
        context.textBaseline = "middle";
        context.fillText(tick.text, box.left - 7, y);
      }
      context.stroke();
    }
  }
  context.fillStyle = look.ink;
  context.textAlign = "center";
  context.textBaseline = "bottom";
  context.fillText(shortened(reel.names[0]), box.left + box.width / 2, box.top + box.height + 44);
  context.save();
  context.translate(4, box.top + box.height / 2);
  context.rotate(-Math.PI / 2);
  context.textBaseline = "top";
  context.fillText(shortened(reel.names[1]), 0, 0);
  context.restore();
}

/* Round numbers between two others, about so many. */
function ticks(low, high, wanted) {
  const rough = (high - low) / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((factor) => factor * power >= rough);
  const digits = Math.max(0, -Math.floor(Math.log10(step)));
  const found = [];
  for (let i = Math.ceil(low / step); i * step <= high; i++) {
    const value = i * step;
    const text = Math.abs(value) >= 1e5 || digits > 4 ? Number(value.toPrecision(4)).toExponential() : value.toFixed(digits);
    found.push({ value, text: text.replace("-", "\u2212") });
  }
  return found;
}

function shortened(name) {
  return name.length > 40 ? `${name.slice(0, 39)}\u2026` : name;
}
