// Steps 2 to 5 of Algorithm 1 in plain JavaScript: the stages of one inner loop on a few hundred rows.
//
// The names are those of the Python engine, and tests/site compares the two: the same basis, and means
// and variances to 1e-8. A page finds it as `algorithm1`; Node by require().
"use strict";

const algorithm1 = (() => {
  const SQRT_2PI = Math.sqrt(2 * Math.PI);
  const SPENT = 1e-10; // a row with a smaller share of its prior variance has nothing left to give
  const TERMS = 80; // of the series and of the continued fraction: enough for 1e-14 on both sides of 3

  // ---------------------------------------------------------------- the normal distribution

  // For t >= 3: N(t) / Phi(-t) - t, by the continued fraction 1/(t + 2/(t + 3/(t + ...))).
  function excess(t) {
    let value = 0;
    for (let k = TERMS; k > 0; k--) value = k / (t + value);
    return value;
  }

  // Phi(-t) for 0 <= t < 3, by the series of the middle: all of its terms are positive.
  function tail(t) {
    let term = t;
    let sum = t;
    for (let k = 3; k < 2 * TERMS; k += 2) sum += term *= (t * t) / k;
    return 0.5 - (Math.exp((-t * t) / 2) / SQRT_2PI) * sum;
  }

  // log Phi(z), h = N(z) / Phi(z), and h (h + z): the last two are its derivatives, up to a sign.
  function logCdf(z) {
    const gauss = Math.exp((-z * z) / 2) / SQRT_2PI;
    if (z <= -3) {
      const over = excess(-z);
      const h = over - z;
      return { value: (-z * z) / 2 - Math.log(SQRT_2PI * h), h, bend: Math.min(h * over, 1 - 1e-14) };
    }
    const t = Math.abs(z);
    const beyond = t < 3 ? tail(t) : gauss / (t + excess(t));
    const h = gauss / (z < 0 ? beyond : 1 - beyond);
    return { value: z < 0 ? Math.log(beyond) : Math.log1p(-beyond), h, bend: h * (h + z) };
  }

  // The probit likelihood with slope 1 and bias 0: log Z, alpha and nu of a row.
  function moments(y, mean, variance) {
    const width = Math.sqrt(1 + variance);
    const { value, h, bend } = logCdf((y * mean) / width);
    return { logZ: value, alpha: (y * h) / width, nu: Math.max(bend / (width * width), 1e-300) };
  }

  const probability = (mean, variance) => Math.exp(moments(1, mean, variance).logZ);

  // ---------------------------------------------------------------- kernels, of prior variance 1

  const KERNELS = {
    "squared-exponential": (r2) => Math.exp(-r2 / 2),
    "matern-52": (r2) => {
      const s = Math.sqrt(5 * r2);
      return (1 + s + (s * s) / 3) * Math.exp(-s);
    },
    "matern-32": (r2) => {
      const s = Math.sqrt(3 * r2);
      return (1 + s) * Math.exp(-s);
    },
    "matern-12": (r2) => Math.exp(-Math.sqrt(r2)),
  };

  function kernel(name, variance, lengthscale) {
    const profile = KERNELS[name];
    return (a, b) => {
      const r2 = ((a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2) / lengthscale ** 2;
      return variance * profile(r2);
    };
  }

  // ---------------------------------------------------------------- the posterior at some points

  // Mean and variance of the latent function at points, be they training rows or pixels of a picture.
  class Points {
    constructor(X, k) {
      this.X = X;
      this.k = k;
      this.mean = new Float64Array(X.length);
      this.variance = Float64Array.from(X, (x) => k(x, x));
      this.M = []; // a row for each stage
    }

    // k~(., x_j): the posterior covariance of every point with x; `at` holds M at x.
    residual(x, at) {
      const column = Float64Array.from(this.X, (point) => this.k(point, x));
      this.M.forEach((row, stage) => {
        for (let i = 0; i < column.length; i++) column[i] -= row[i] * at[stage];
      });
      return column;
    }

    // 4. Update mean and variance: mean += c k~, variance -= eta k~^2, M gains sqrt(eta) k~.
    include(step) {
      const column = this.residual(step.x, step.at);
      for (let i = 0; i < column.length; i++) {
        this.mean[i] += step.coefficient * column[i];
        this.variance[i] = Math.max(this.variance[i] - step.shrinkage * column[i] ** 2, 0);
      }
      this.M.push(column.map((value) => Math.sqrt(step.shrinkage) * value));
    }
  }

  // ---------------------------------------------------------------- selectors

  // Selectors that give every row a number and take the least.
  const GREEDY = {
    entropy: (row) => -row.nu * row.variance,
    "information-gain": (row) => {
      const removed = row.nu * row.variance;
      return 0.5 * (Math.log1p(-removed) + removed - row.alpha ** 2 * row.variance);
    },
    "most-violated": (row) => row.logZ,
    "conditional-variance": (row) => -row.variance,
  };

  // Selectors that draw a working set; the weights of the draw, and the rows that score it.
  const SAMPLING = {
    "adaptive-sampling": { weight: (row) => -Math.expm1(row.logZ), everyRow: true },
    "random-sampling": { weight: () => 1, everyRow: true },
    validation: { weight: () => 1, everyRow: false },
  };

  // Without replacement: the rows with the earliest arrivals of exponential clocks.
  function draw(rows, weight, size, random) {
    const arrivals = rows.map((row) => [-Math.log1p(-random()) / weight(row), row.index]);
    arrivals.sort((a, b) => a[0] - b[0]);
    const drawn = arrivals.slice(0, size).map(([, index]) => index);
    return drawn.sort((a, b) => a - b);
  }

  // ---------------------------------------------------------------- Algorithm 1

  class Fit {
    // X: pairs of numbers; y: -1 or +1; settings: kernel, variance, lengthscale, selector, workingSet, seed
    constructor(X, y, settings) {
      // 2. Initialize A := K, u = {}, means and sites to zero.
      this.settings = { variance: 1, workingSet: 2, seed: 0, ...settings };
      this.k = kernel(this.settings.kernel, this.settings.variance, this.settings.lengthscale);
      this.y = y;
      this.points = new Points(X, this.k);
      this.prior = Float64Array.from(this.points.variance);
      this.basis = [];
      this.steps = [];
      this.random = generator(this.settings.seed);
      this.trace = [this.judged([])];
    }

    // What a row is for a selector.
    row(index) {
      const { mean, variance } = this.points;
      return { index, variance: variance[index], ...moments(this.y[index], mean[index], variance[index]) };
    }

    eligible() {
      const inactive = [];
      for (let i = 0; i < this.y.length; i++) {
        const spent = this.points.variance[i] <= SPENT * this.prior[i];
        if (!this.basis.includes(i) && !spent) inactive.push(this.row(i));
      }
      return inactive;
    }

    // The rows that a stage considers: one for a greedy selector, a working set for the others.
    propose() {
      const rows = this.eligible();
      if (rows.length === 0) return [];
      const { selector, workingSet } = this.settings;
      if (selector in SAMPLING) return draw(rows, SAMPLING[selector].weight, workingSet, this.random);
      const scores = rows.map(GREEDY[selector]);
      return [rows[scores.indexOf(Math.min(...scores))].index];
    }

    // Moment matching: coefficient = alpha_j, shrinkage = nu_j.
    step(j) {
      const { alpha, nu, variance } = this.row(j);
      const precision = nu / (1 - nu * variance);
      return {
        row: j,
        x: this.points.X[j],
        at: this.points.M.map((row) => row[j]),
        coefficient: alpha,
        shrinkage: nu,
        precision,
        mean: this.points.mean[j] + alpha / nu,
      };
    }

    // NLP over all rows, or over the inactive ones, if the row of this step were included.
    loss(step, everyRow) {
      const column = this.points.residual(step.x, step.at);
      let sum = 0;
      for (let i = 0; i < column.length; i++) {
        if (!everyRow && (i === step.row || this.basis.includes(i))) continue;
        const mean = this.points.mean[i] + step.coefficient * column[i];
        const variance = Math.max(this.points.variance[i] - step.shrinkage * column[i] ** 2, 0);
        sum -= moments(this.y[i], mean, variance).logZ;
      }
      return sum;
    }

    // 3. to 5.: one stage. Returns the step, or null when nothing is left to include.
    stage() {
      // 3. Select a basis vector j.
      const candidates = this.propose();
      if (candidates.length === 0) return null;
      let steps = candidates.map((j) => this.step(j));
      if (steps.length > 1) {
        const { everyRow } = SAMPLING[this.settings.selector];
        const losses = steps.map((step) => this.loss(step, everyRow));
        steps = [steps[losses.indexOf(Math.min(...losses))]];
      }
      // 4. Update the site, the posterior mean and the variance. 5. u gains j.
      this.points.include(steps[0]);
      this.basis.push(steps[0].row);
      this.steps.push(steps[0]);
      this.trace.push(this.judged(candidates));
      return steps[0];
    }

    // NLP over all rows, the bound that it puts on the training error, and the training error.
    judged(candidates) {
      let loss = 0;
      let wrong = 0;
      for (let i = 0; i < this.y.length; i++) {
        loss -= this.row(i).logZ;
        wrong += this.y[i] * this.points.mean[i] <= 0 ? 1 : 0;
      }
      const count = Math.max(this.y.length, 1);
      return { candidates, loss: loss / count, bound: loss / count / Math.LN2, error: wrong / count };
    }
  }

  // Random numbers from 0 to 1, the same for the same seed (Mulberry32).
  function generator(seed) {
    let state = seed >>> 0;
    return () => {
      state = (state + 0x6d2b79f5) >>> 0;
      let t = Math.imul(state ^ (state >>> 15), state | 1);
      t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
      return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
    };
  }

  return { Fit, Points, draw, generator, kernel, logCdf, moments, probability, KERNELS, GREEDY, SAMPLING };
})();

if (typeof module !== "undefined") module.exports = algorithm1;
