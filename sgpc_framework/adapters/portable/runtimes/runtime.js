@@ posterior
  function posterior(k, prior, count, functions, coefficient, shrinkage) {
    const size = k.length, mean = new Array(count).fill(0);
    let variance = prior, next = 0;
    for (let t = 0; t < size; t++) {
      let f = 0;
      for (let j = 0; j <= t; j++) f += functions[next++] * k[j];
      for (let c = 0; c < count; c++) mean[c] += coefficient[c * size + t] * f;
      variance -= shrinkage[t] * f * f;
    }
    return [mean, Math.max(variance, 0)]; // below zero by rounding only
  }
@@ squared_distance
  function squaredDistance(x, z, at, weights) {
    let total = 0;
    for (let f = 0; f < FEATURES; f++) total += weights[f] * (x[f] - z[at + f]) ** 2;
    return total;
  }
@@ sine_distance
  function sineDistance(x, z, at, weights, rate) {
    let total = 0;
    for (let f = 0; f < FEATURES; f++) total += weights[f] * Math.sin(rate * (x[f] - z[at + f])) ** 2;
    return total;
  }
@@ dot_product
  function dotProduct(x, z, at) {
    let total = 0;
    for (let f = 0; f < FEATURES; f++) total += x[f] * z[at + f];
    return total;
  }
@@ along_lines
  function alongLines(x, pieces, image, knot, slope, low, width) {
    return x.map((value, f) => {
      let bent = image[f];
      for (let i = f * pieces; i < (f + 1) * pieces; i++) {
        bent += slope[i] * Math.min(Math.max(value - knot[i], low[i]), width[i]);
      }
      return bent;
    });
  }
@@ combinations
  function combinations(x, matrix) {
    return x.map((_, g) => x.reduce((total, value, f) => total + value * matrix[f * FEATURES + g], 0));
  }
@@ erfcx
  // exp(x * x) * erfc(x) for x >= 0
  function scaledErfc(x) {
    const t = x < 1e30 ? (x - $pole) / (x + $pole) : 1;
    let b = 0, c = 0;
    for (let i = $degree; i > 0; i--) [b, c] = [chebyshev[i] + 2 * t * b - c, b];
    return (chebyshev[0] + t * b - c) / (1 + 2 * x);
  }
@@ normal
  // log of the normal distribution function at -t, for t >= 0
  function logNormalTail(t) {
    return Math.log(0.5 * scaledErfc(t / Math.SQRT2)) - 0.5 * t * t;
  }
@@ logistic
  // log E[1 / (1 + exp(-f))] for f ~ N(-a, v), a >= 0
  function logLogisticTail(a, variance) {
    const v = Math.max(variance, 1e-30), s = Math.sqrt(2 * v), far = a > v;
    const scale = far ? 0.5 * Math.exp(-(((v - a) / s) ** 2)) : 0.5;
    let z = 0;
    for (let i = 0; i < $terms; i++) {
      const k = i + 1;
      let term = scale * scaledErfc(Math.abs((k * v - a) / s));
      if (far && k * v < a) term = Math.exp((k - 1) * (((k + 1) * v) / 2 - a)) - term;
      z += alternating[i] * (term + scale * scaledErfc(((k - 1) * v + a) / s));
    }
    return Math.log(z) + (far ? v / 2 - a : (-a * (a / v)) / 2);
  }
@@ two_classes
  // log probabilities of the first and the second class
  function linkTwo(tail, positive, epsilon) {
    if (epsilon > 0) tail = Math.log(epsilon + (1 - 2 * epsilon) * Math.exp(tail));
    const rest = Math.log1p(-Math.exp(tail));
    return positive ? [tail, rest] : [rest, tail];
  }
@@ softmax
  function softmax(logs) {
    const most = Math.max(...logs);
    const total = logs.reduce((sum, log) => sum + Math.exp(log - most), 0);
    return logs.map((log) => log - most - Math.log(total));
  }
@@ many_classes
  // log of the normal distribution function, its first derivative, and minus its second
  function logNormal(z) {
    const t = Math.abs(z), ratio = 0.5 * scaledErfc(t / Math.SQRT2), gauss = Math.exp(-0.5 * t * t);
    const log = z < 0 ? Math.log(ratio) - 0.5 * t * t : Math.log1p(-gauss * ratio);
    const h = 0.3989422804014327 * (z < 0 ? 1 / ratio : gauss / (1 - gauss * ratio));
    return [log, h, Math.min(Math.max(h * (h + z), 0), 1)];
  }

  function linkMany(mean, variance, bias, epsilon) {
    const width = Math.sqrt(variance + 1), shifted = mean.map((m, c) => m + bias[c]);
    return softmax(shifted.map((own, position) => {
      const z = shifted.filter((_, c) => c !== position).map((other) => (own - other) / width);
      let u = 0, step = 1, curvature = 1;
      for (let round = 0; round < 100 && step > 1e-3 * (1 + u); round++) {
        let slope = -u;
        curvature = 1;
        for (const each of z) {
          const [, h, bend] = logNormal(u + each);
          slope += h;
          curvature += bend;
        }
        step = slope / curvature;
        u += step;
      }
      const at = nodes.map((node, i) => {
        const t = u + node / Math.sqrt(curvature);
        return z.reduce((sum, each) => sum + logNormal(t + each)[0], log_weights[i] - 0.5 * t * t);
      });
      const most = Math.max(...at);
      const total = at.reduce((sum, each) => sum + Math.exp(each - most), 0);
      const log = Math.min(most + Math.log(total / Math.sqrt(curvature)), 0);
      if (!(epsilon > 0)) return log;
      return Math.log(epsilon / mean.length + (1 - epsilon) * Math.exp(log));
    }));
  }
@@ numbers
  function number(value, name, fill) {
    if (value === null || value === undefined || Number.isNaN(value)) {
      if (fill === null) throw new Error("column " + name + ": the value is missing");
      return fill;
    }
    const text = typeof value === "string" && /^\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*$$/i.test(value);
    const read = typeof value === "number" ? value : text ? Number(value) : NaN;
    if (!Number.isFinite(read)) {
      throw new Error("column " + name + ": wanted a finite number, found " + String(value));
    }
    return read;
  }
@@ words
  // A number as the word that training had for it: 1 is "1", 0.00001 is "1e-05".
  function asWord(value) {
    if (typeof value === "boolean") return value ? "True" : "False";
    if (typeof value !== "number") return String(value);
    if (Number.isInteger(value)) return BigInt(value).toString();
    if (Math.abs(value) >= 1e-4) return String(value);
    return value.toExponential().replace(/e-(\d)$$/, "e-0$$1");
  }

  function oneHot(value, name, words, fill, unseen) {
    const missing = value === null || value === undefined || Number.isNaN(value);
    if (missing && fill === null) throw new Error("column " + name + ": the value is missing");
    const word = missing ? fill : asWord(value), position = words.indexOf(word);
    if (position < 0 && unseen === "refuse") {
      throw new Error("column " + name + ": training has not seen the word " + word);
    }
    return words.map((_, i) => (i === position ? 1 : 0));
  }
@@ dates
  // What a date such as "2026-01-31" or "2026-01-31T18:30" says; nothing if it is missing.
  function calendar(value, name) {
    if (value === null || value === undefined || Number.isNaN(value)) return {};
    const form = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?$$/;
    const found = form.exec(value), [, year, month, day, hour, minute, second] =
      (found || []).map((part) => Number(part || 0));
    const time = new Date(0);
    time.setUTCFullYear(year, month - 1, day);
    if (!found || time.getUTCMonth() !== month - 1 || hour > 23 || minute > 59 || second > 59) {
      throw new Error("column " + name + ": wanted a date such as 2026-01-31, found " + String(value));
    }
    const weekdays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
    const weekday = weekdays[time.getUTCDay()];
    return { year, month, day, weekday, hour: hour + minute / 60 + second / 3600 };
  }
@@ flags
  const isMissing = (value) => value === null || value === undefined || Number.isNaN(value);
