"""Problems drawn from the prior, and what is known of their posteriors without the framework.

``python tests/correctness/prior_draws.py`` computes the references anew (some minutes) and writes
``references.json``. For each likelihood there are twenty problems: a latent function (of each
class) is drawn from a Gaussian process, labels from the likelihood. Whoever knows the kernel and
conditions on the training labels rightly is calibrated, and nobody's expected loss is less. Two
references, which share no code with the framework or with each other, do that:

- a long Markov chain for every problem. Of two classes, by elliptical slice sampling (Murray, Adams
  and MacKay, 2010) on the ellipses of a Gaussian near the posterior (Nishihara, Murray and Adams,
  2014). Of several, by Gibbs sampling (Albert and Chib, 1993): a label is the greatest of the sums
  fᶜ + noise, and of these sums and the functions each is simple given the other;
- dense expectation propagation, for the probit (Rasmussen and Williams, 2006, algorithm 3.5).

Test values are drawn given the training values, each for itself: their marginals are those of the
prior, which is all that calibration and mean loss depend on.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import attrs
import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit, log_expit, log_ndtr, ndtr, ndtri_exp

Floats = NDArray[np.float64]

REFERENCES = Path(__file__).parent / "references.json"
PROBLEMS, ROWS, TEST_ROWS = 20, 150, 5000
VARIANCE, LENGTHSCALE = 4.0, 1.5
FUNCTIONS = {"probit": 1, "logistic": 1, "multinomial-probit": 3}
BURN_IN, SWEEPS, EVERY = 300, 6_000, 30


@attrs.frozen(eq=False)
class Problem:
    """Training rows and test rows; labels are positions among the classes."""

    X: Floats
    y: NDArray[np.intp]
    X_test: Floats
    y_test: NDArray[np.intp]


@cache
def problem(likelihood: str, seed: int) -> Problem:
    """One draw from the prior, on a square of four lengthscales or so."""
    rng = np.random.default_rng([seed, *likelihood.encode()])
    X, X_test = rng.uniform(-3.0, 3.0, (ROWS, 2)), rng.uniform(-3.0, 3.0, (TEST_ROWS, 2))
    L = np.linalg.cholesky(matern(X, X))
    f = L @ rng.standard_normal((ROWS, FUNCTIONS[likelihood]))
    mean, spread = conditional(L, X, X_test)
    f_test = mean @ f + spread[:, None] * rng.standard_normal((TEST_ROWS, FUNCTIONS[likelihood]))
    y, y_test = (_labels(likelihood, each, rng) for each in (f, f_test))
    return Problem(X, y, X_test, y_test)


def matern(X: Floats, Z: Floats) -> Floats:
    """k(x, z) = variance (1 + √3 r) exp(-√3 r), r the distance in lengthscales."""
    r = np.sqrt(np.sum((X[:, None] - Z) ** 2, axis=-1)) * np.sqrt(3.0) / LENGTHSCALE
    return VARIANCE * (1.0 + r) * np.exp(-r)


def conditional(L: Floats, X: Floats, X_test: Floats) -> tuple[Floats, Floats]:
    """Of test values given training values f: A with mean A f, and the standard deviation."""
    V = np.linalg.solve(L, matern(X, X_test))
    spread = np.sqrt(np.maximum(VARIANCE - np.sum(V**2, axis=0), 0.0))
    return np.linalg.solve(L.T, V).T, spread


def _labels(likelihood: str, f: Floats, rng: np.random.Generator) -> NDArray[np.intp]:
    if likelihood == "multinomial-probit":
        return (f + rng.standard_normal(f.shape)).argmax(axis=1)
    link = {"probit": ndtr, "logistic": expit}[likelihood]
    return (rng.random(len(f)) < link(f[:, 0])).astype(np.intp)


# ---------------------------------------------------------------------------------------------
# Markov chains, of all problems at once


def sampled_losses(likelihood: str) -> Floats:
    """The mean test loss of each problem under long chains; of their halves in two rows besides."""
    problems = [problem(likelihood, seed) for seed in range(PROBLEMS)]
    rng = np.random.default_rng(1)
    chain = (_gibbs if FUNCTIONS[likelihood] > 1 else _elliptical)(likelihood, problems, rng)
    ahead = [conditional(np.linalg.cholesky(_gram(each)), each.X, each.X_test) for each in problems]
    halves = np.zeros((2, PROBLEMS, TEST_ROWS))
    for sweep, f in zip(range(-BURN_IN, SWEEPS), chain, strict=False):
        if sweep >= 0 and sweep % EVERY == 0:
            for i, (mean, spread) in enumerate(ahead):
                found = _probability(likelihood, mean @ f[i], spread, problems[i].y_test)
                halves[2 * sweep // SWEEPS, i] += found
    halves /= SWEEPS // EVERY / 2
    return -np.log([halves.mean(axis=0), *halves]).mean(axis=-1)


def _gram(given: Problem) -> Floats:
    return matern(given.X, given.X)


def _gibbs(likelihood: str, problems: list[Problem], rng: np.random.Generator) -> Iterator[Floats]:
    """Functions given sums z = f + noise, N(K (K + I)⁻¹ z, K - K (K + I)⁻¹ K), and sums given
    functions: normal, the one of the label above all others."""
    smooth = np.stack([np.linalg.solve(_gram(p) + np.eye(ROWS), _gram(p)) for p in problems])
    roots = np.linalg.cholesky(smooth)  # K - K (K + I)⁻¹ K = K (K + I)⁻¹
    y = np.stack([each.y for each in problems])[..., None]
    own = np.arange(FUNCTIONS[likelihood]) == y
    f = np.zeros(own.shape)
    z = np.where(own, 1.0, -1.0)
    while True:
        top = np.where(own, -np.inf, z).max(axis=-1, keepdims=True)
        mean = np.take_along_axis(f, y, axis=-1)
        label = mean + _above(top - mean, rng)
        z = np.where(own, label, f - _above(f - label, rng))
        f = smooth @ z + roots @ rng.standard_normal(z.shape)
        yield f


def _above(bound: Floats, rng: np.random.Generator) -> Floats:
    """Standard normal numbers, each given that it is above a bound."""
    return -ndtri_exp(np.log(rng.random(bound.shape)) + log_ndtr(-bound))


def _elliptical(
    likelihood: str, problems: list[Problem], rng: np.random.Generator
) -> Iterator[Floats]:
    """On the ellipses of the Gaussian of Laplace, a little wider.

    At the mode m with slopes g and curvatures w of the log likelihood the Gaussian has the mean m
    and the precision K⁻¹ + W; posterior over Gaussian is then, for each row, the likelihood times
    exp(-g f + w (f - m)² / 2): K cancels, because K⁻¹ m = g.
    """
    y = np.stack([each.y for each in problems])
    modes = np.stack([_mode(likelihood, each) for each in problems])
    slope = np.stack([np.linalg.solve(_gram(p), m) for p, m in zip(problems, modes, strict=True)])
    curvature = 0.8 * _log_likelihood(likelihood, modes, y)[2]
    each = zip(problems, curvature, strict=True)
    roots = np.stack([_root_of_posterior(_gram(p), w) for p, w in each])

    def excess(moved: Floats) -> Floats:
        f = modes + moved
        ratio = -slope * f + curvature * moved**2 / 2.0
        return (_log_likelihood(likelihood, f, y)[0] + ratio).sum(axis=1)

    def draw() -> Floats:
        return (roots @ rng.standard_normal((PROBLEMS, ROWS, 1)))[..., 0]

    state = draw()
    level = excess(state)
    while True:
        state, level = _slice_step(state, level, draw(), excess, rng)
        yield (modes + state)[..., None]


def _mode(likelihood: str, given: Problem) -> Floats:
    """Where the posterior density is highest."""
    L = np.linalg.cholesky(_gram(given))

    def function(xi: Floats) -> tuple[float, Floats]:
        value, slope, _ = _log_likelihood(likelihood, L @ xi, given.y)
        return float(xi @ xi / 2.0 - value.sum()), xi - L.T @ slope

    return L @ minimize(function, np.zeros(ROWS), jac=True, method="L-BFGS-B").x


def _root_of_posterior(K: Floats, w: Floats) -> Floats:
    """A root of (K⁻¹ + W)⁻¹."""
    L = np.linalg.cholesky(np.eye(len(w)) + np.sqrt(np.outer(w, w)) * K)
    V = np.linalg.solve(L, np.sqrt(w)[:, None] * K)
    return np.linalg.cholesky(K - V.T @ V + 1e-10 * np.eye(len(w)))


def _slice_step(
    state: Floats,
    level: Floats,
    other: Floats,
    log_ratio: Callable[[Floats], Floats],
    rng: np.random.Generator,
) -> tuple[Floats, Floats]:
    """One transition of every chain: a point on the ellipse through two draws of the prior."""
    wanted = level + np.log(rng.random(PROBLEMS))
    angle = rng.uniform(0.0, 2.0 * np.pi, PROBLEMS)
    low, high = angle - 2.0 * np.pi, angle.copy()
    while True:
        turned = np.cos(angle)[:, None] * state + np.sin(angle)[:, None] * other
        found = log_ratio(turned)
        out = found < wanted
        if not out.any():
            return turned, found
        low, high = (
            np.where(out & (angle < 0), angle, low),
            np.where(out & (angle > 0), angle, high),
        )
        angle = np.where(out, rng.uniform(low, high), angle)


def _log_likelihood(
    likelihood: str, f: Floats, y: NDArray[np.intp]
) -> tuple[Floats, Floats, Floats]:
    """Of two classes: its values, slopes and curvatures, row by row."""
    sign = 2.0 * y - 1.0
    z = sign * f
    if likelihood == "logistic":
        return log_expit(z), sign * expit(-z), expit(z) * expit(-z)
    h = np.exp(-z * z / 2.0 - log_ndtr(z)) / np.sqrt(2.0 * np.pi)
    return log_ndtr(z), sign * h, h * (h + z)


def _probability(likelihood: str, f: Floats, spread: Floats, y: NDArray[np.intp]) -> Floats:
    """Of the test labels given the training values: an integral over the test values."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(24)
    weights = weights / weights.sum()
    if likelihood == "multinomial-probit":
        width = np.sqrt(1.0 + spread**2)
        own = f[np.arange(len(y)), y]
        total = np.zeros(len(y))
        for node, weight in zip(nodes, weights, strict=True):
            each = ndtr(node + (own[:, None] - f) / width[:, None])
            each[np.arange(len(y)), y] = 1.0
            total += weight * each.prod(axis=1)
        return total
    sign, mean = 2.0 * y - 1.0, f[:, 0]
    if likelihood == "probit":
        return ndtr(sign * mean / np.sqrt(1.0 + spread**2))
    return expit(sign * (mean + nodes[:, None] * spread)).T @ weights


# ---------------------------------------------------------------------------------------------
# Dense expectation propagation for the probit


def propagated_loss(given: Problem) -> float:
    """The mean test loss under dense EP, until no site moves."""
    K, sign = matern(given.X, given.X), 2.0 * given.y - 1.0
    tau, nu = np.zeros(ROWS), np.zeros(ROWS)
    Sigma, mu = K.copy(), np.zeros(ROWS)
    for _ in range(100):
        before = tau.copy()
        for i in range(ROWS):
            tau_out, nu_out = 1.0 / Sigma[i, i] - tau[i], mu[i] / Sigma[i, i] - nu[i]
            mean, variance = nu_out / tau_out, 1.0 / tau_out
            z = sign[i] * mean / np.sqrt(1.0 + variance)
            h = np.exp(-z * z / 2.0 - log_ndtr(z)) / np.sqrt(2.0 * np.pi)
            hat_mean = mean + sign[i] * variance * h / np.sqrt(1.0 + variance)
            hat_variance = variance - variance**2 * h * (z + h) / (1.0 + variance)
            change = 1.0 / hat_variance - tau_out - tau[i]
            tau[i], nu[i] = tau[i] + change, hat_mean / hat_variance - nu_out
            column = Sigma[:, i]
            Sigma = Sigma - np.outer(column, column) * (change / (1.0 + change * column[i]))
            mu = Sigma @ nu
        B = np.eye(ROWS) + np.sqrt(np.outer(tau, tau)) * K
        root = np.sqrt(tau)[:, None]
        Sigma = K - (root * K).T @ np.linalg.solve(B, root * K)
        mu = Sigma @ nu
        if np.abs(tau - before).max() < 1e-8:
            break
    ahead = matern(given.X_test, given.X)
    solved = np.linalg.solve(B, root * ahead.T)
    mean = ahead @ nu - (root * (K @ nu)[:, None] * solved).sum(axis=0)
    variance = VARIANCE - np.sum((root * ahead.T) * solved, axis=0)
    return float(-log_ndtr((2.0 * given.y_test - 1.0) * mean / np.sqrt(1.0 + variance)).mean())


def main() -> None:
    references: dict[str, dict[str, list[float]]] = {}
    for likelihood in FUNCTIONS:
        whole, first, second = sampled_losses(likelihood).round(5).tolist()
        references[likelihood] = {"sampled": whole}
        apart = np.mean(first) - np.mean(second)
        print(f"{likelihood}: sampled {np.mean(whole):.4f}, halves apart {apart:.5f}", flush=True)
    losses = [round(propagated_loss(problem("probit", seed)), 5) for seed in range(PROBLEMS)]
    references["probit"]["propagated"] = losses
    print(f"probit: propagated {np.mean(losses):.4f}")
    REFERENCES.write_text(json.dumps(references, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
