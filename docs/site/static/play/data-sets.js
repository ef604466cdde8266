// Small sets of points in the plane, drawn anew from a seed: X from -3 to 3, y -1 or +1.
"use strict";

const dataSets = (() => {
  // A normal deviate from two uniform ones (Box and Muller).
  const normal = (random) => Math.sqrt(-2 * Math.log1p(-random())) * Math.cos(2 * Math.PI * random());

  function moons(random) {
    const upper = random() < 0.5;
    const angle = Math.PI * random();
    const x = 1.5 * (Math.cos(angle) + (upper ? -0.5 : 0.5)) + 0.25 * normal(random);
    const height = upper ? Math.sin(angle) - 0.25 : 0.25 - Math.sin(angle);
    return [x, 1.5 * height + 0.25 * normal(random), upper ? 1 : -1];
  }

  function ring(random) {
    const inside = random() < 0.5;
    const angle = 2 * Math.PI * random();
    const radius = (inside ? 0.6 : 2) + 0.35 * normal(random);
    return [radius * Math.cos(angle), radius * Math.sin(angle), inside ? 1 : -1];
  }

  function board(random) {
    const [x, y] = [5 * random() - 2.5, 5 * random() - 2.5];
    const square = Math.floor((x + 2.5) / 1.67) + Math.floor((y + 2.5) / 1.67);
    return [x, y, square % 2 ? 1 : -1];
  }

  function overlap(random) {
    const label = random() < 0.5 ? 1 : -1;
    return [0.9 * label + normal(random), 0.5 * label + normal(random), label];
  }

  const MAKERS = {
    "two moons": moons,
    "a ring": ring,
    "a chess board": board,
    "two clouds that overlap": overlap,
  };

  // `noise` is the share of labels that are flipped.
  function make(name, rows, seed, noise) {
    const random = algorithm1.generator(1000 + seed);
    const [X, y] = [[], []];
    for (let i = 0; i < rows; i++) {
      const [a, b, label] = MAKERS[name](random);
      X.push([a, b].map((value) => Math.min(Math.max(value, -2.95), 2.95)));
      y.push(random() < noise ? -label : label);
    }
    return { X, y };
  }

  return { make, names: Object.keys(MAKERS) };
})();
