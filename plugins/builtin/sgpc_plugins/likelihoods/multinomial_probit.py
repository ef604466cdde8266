"""The multinomial probit likelihood: the class whose latent function, with noise, is highest."""

from __future__ import annotations

import math
from typing import ClassVar

import attrs
import numpy as np
from attrs import frozen
from numpy.typing import NDArray
from scipy.special import erfcx, log_ndtr

from sgpc_framework.authors import ManyClassLink, Moments, compiled, hyperparameter
from sgpc_plugins.likelihoods.link import LEAST_NU, blocks
from sgpc_plugins.likelihoods.normal_tail import BELOW_ONE, log_cdf_derivatives

Floats = NDArray[np.float64]
Positions = NDArray[np.int64]

_TWIN = "sgpc_plugins.likelihoods.multinomial_probit_compiled"

NODES = 16
"""Nodes of the quadrature. Around the integrand's maximum they give log Z to 1e-8 for 3 classes and
to 1e-6 for 26, however improbable the label is (12 nodes: 1e-6 and 1e-5)."""

_CERTAIN = 60.0
"""How far a class is ahead of itself: so far that Φ is one at every node."""

_DENSITY = math.sqrt(2.0 / math.pi)
_ROOT_HALF = math.sqrt(0.5)

_ENTRIES = 1 << 16
"""Nodes times classes times rows that are worked on at a time."""


@frozen
class MultinomialProbit:
    """p(y|f) = the probability that f_y + bias_y + noise_y is the highest of all classes.

    The noise of each class is standard normal: how steeply probabilities change with the latent
    values is up to the kernel's variance. With width² = variance + 1 and z_c =
    (mean_y + bias_y - mean_c - bias_c) / width,

        Z = ∫ N(u; 0, 1) Π_{c≠y} Φ(u + z_c) du

    an integral over one variable, whatever the number of classes. With the expectation E under its
    integrand, h_c = N / Φ at u + z_c, b_c = h_c (h_c + u + z_c), and for y itself sums over c≠y,

        alpha_c = -E h_c / width            nu_c = (E b_c - Var h_c) / width²
        alpha_y = E Σ h_c / width           nu_y = (E Σ b_c - Var Σ h_c) / width²

    bias    one for each class, added to its latent value: how frequent the class is

    Two classes are the probit of (f_1 - f_0) / √2. Log-concave: nu > 0, and nu * variance < 1.

    Girolami & Rogers (2006), "Variational Bayesian multinomial probit regression with Gaussian
    process priors".

    >>> likelihood = MultinomialProbit()
    >>> moments = likelihood.moments(np.zeros(1), np.zeros((3, 1)), np.ones(1))
    >>> np.exp(moments.log_z).round(4), moments.alpha.round(4).ravel()
    (array([0.3333]), array([ 0.5984, -0.2992, -0.2992]))
    """

    name: ClassVar[str] = "multinomial-probit"

    bias: tuple[float, ...] = hyperparameter(
        (0.0, 0.0, 0.0), bounds=(-1e3, 1e3), transform="identity", each="class"
    )

    def __attrs_post_init__(self) -> None:
        check_biases(self.bias)

    @property
    def functions(self) -> int:
        """As many as there are classes."""
        return len(self.bias)

    def for_classes(self, count: int) -> MultinomialProbit:
        """The same for so many classes."""
        if count == self.functions:
            return self
        return attrs.evolve(self, bias=(0.0,) * count)

    def link(self) -> ManyClassLink:
        """The formula, for other languages."""
        return ManyClassLink(self.bias)

    def log_z(self, y: Floats, mean: Floats, variance: Floats, /) -> Floats:
        """log Z of every row."""
        own, shifted = self._prepared(y, mean)
        if twin := compiled(_TWIN):
            return _of_a_probability(twin.log_z(_QUADRATURE, own, shifted, variance))
        if len(y) <= self.functions:  # one row that is predicted by itself, with every label
            return _of_a_probability(_log_z_of_few(own, shifted, variance))
        log_z = np.empty(len(y))
        for rows in self._blocks(len(y)):
            log_z[rows] = self._integral(own[rows], shifted[:, rows], variance[rows])[0]
        return _of_a_probability(log_z)

    def moments(self, y: Floats, mean: Floats, variance: Floats, /) -> Moments:
        """(log_z, alpha, nu) of every row."""
        own, shifted = self._prepared(y, mean)
        if twin := compiled(_TWIN):
            found = twin.moments(_QUADRATURE, own, shifted, variance)
            return Moments(_of_a_probability(found.log_z), found.alpha, found.nu)
        moments = Moments(np.empty(len(y)), np.empty(mean.shape), np.empty(mean.shape))
        for rows in self._blocks(len(y)):
            block = self._moments_of_block(own[rows], shifted[:, rows], variance[rows])
            for whole, part in zip(moments, block, strict=True):
                whole[..., rows] = part
        return Moments(_of_a_probability(moments.log_z), moments.alpha, moments.nu)

    def pullback(
        self, y: Floats, mean: Floats, variance: Floats, moments: Moments, cotangent: Floats, /
    ) -> Floats:
        """sum(cotangent * d log_z / dθ) for the biases, which move log_z as the means do."""
        gradient: Floats = moments.alpha @ cotangent
        return gradient

    def _prepared(self, y: Floats, mean: Floats) -> tuple[Positions, Floats]:
        """The positions of the classes, and means with biases."""
        own = y.astype(np.int64)
        if len(own) and not 0 <= own.min() <= own.max() < self.functions:
            raise ValueError(
                f"wanted labels that are positions among {self.functions} classes, found "
                f"{own.min()} to {own.max()}"
            )
        return own, mean + np.array(self.bias)[:, None]

    def _blocks(self, rows: int) -> list[slice]:
        return list(blocks(rows, size=max(1, _ENTRIES // (NODES * self.functions))))

    def _integral(
        self, own: Positions, mean: Floats, variance: Floats
    ) -> tuple[Floats, Floats, Floats, Floats]:
        """log Z, the weights of the nodes, and the two derivatives of log Φ there, (nodes, classes,
        rows)."""
        width = np.sqrt(variance + 1.0)
        rows = np.arange(len(own))
        z = (mean[own, rows] - mean) / width
        z[own, rows] = _CERTAIN
        u, spread = _centre(z)
        nodes, log_weights = _QUADRATURE
        t = u + nodes[:, None] * spread
        log_phi, h, bend = _derivatives(t[:, None] + z)
        at = log_weights[:, None] - t * t / 2.0 + log_phi.sum(axis=1)
        most = at.max(axis=0)
        weights = np.exp(at - most)
        total = weights.sum(axis=0)
        return most + np.log(spread * total), weights / total, h, bend

    def _moments_of_block(self, own: Positions, mean: Floats, variance: Floats) -> Moments:
        log_z, weights, h, bend = self._integral(own, mean, variance)
        width = np.sqrt(variance + 1.0)
        rows = np.arange(len(own))
        alpha, nu = _mean_and_curvature(weights[:, None], h, bend)
        alpha *= -1.0
        alpha[own, rows], of_all = _mean_and_curvature(weights, h.sum(axis=1), bend.sum(axis=1))
        nu[own, rows] = np.minimum(of_all, BELOW_ONE)
        return Moments(log_z, alpha / width, np.maximum(nu / width**2, LEAST_NU))


def _log_z_of_few(own: Positions, mean: Floats, variance: Floats) -> Floats:
    """log Z of a few rows: no derivatives, no table, and no class beside itself."""
    rows = np.arange(len(own))
    ahead = (mean[own, rows] - mean).T
    ahead /= np.sqrt(variance + 1.0)[:, None]
    other = np.ones(ahead.shape, dtype=np.bool_)
    other[rows, own] = False
    z = ahead[other].reshape(len(own), -1)
    u, step = np.zeros((len(own), 1)), np.ones((len(own), 1))
    curvature = step
    while (step > 1e-3 * (1.0 + u)).any():  # as in ``_centre``
        x = u + z
        h = _DENSITY / erfcx(x * -_ROOT_HALF)
        bend = np.clip(h * (h + x), 0.0, 1.0)
        curvature = 1.0 + bend.sum(axis=1, keepdims=True)
        step = (h.sum(axis=1, keepdims=True) - u) / curvature
        u = u + step
    spread = 1.0 / np.sqrt(curvature)
    nodes, log_weights = _QUADRATURE
    t = u + nodes * spread
    at = log_weights - t * t / 2.0 + log_ndtr(t[:, :, None] + z[:, None, :]).sum(axis=2)
    most = at.max(axis=1)
    total = np.exp(at - most[:, None]).sum(axis=1)
    log_z: Floats = most + np.log(spread[:, 0] * total)
    return log_z


def _of_a_probability(log_z: Floats) -> Floats:
    """The same, without what rounding in the sum over the nodes put above one, in place."""
    return np.minimum(log_z, 0.0, out=log_z)


def check_biases(bias: object) -> None:
    """Refuse what is no list of at least two numbers."""
    if not isinstance(bias, tuple) or len(bias) < 2:
        raise ValueError(f"bias must hold a number for each of the classes, found {bias}")


def _mean_and_curvature(weights: Floats, h: Floats, bend: Floats) -> tuple[Floats, Floats]:
    """E h, and E b - Var h, which a difference of squares would lose in the tails."""
    mean = np.sum(weights * h, axis=0)
    return mean, np.sum(weights * (bend - (h - mean) ** 2), axis=0)


def _centre(z: Floats) -> tuple[Floats, Floats]:
    """Where the integrand has its maximum, and its width there.

    The slope -u + Σ h(u + z_c) is convex and falls, so that Newton's method from zero, which is
    left of its root, goes up to it and never beyond.
    """
    u, step = np.zeros(z.shape[1]), np.ones(z.shape[1])
    curvature = step
    while np.any(step > 1e-3 * (1.0 + u)):
        _, h, bend = _derivatives(u + z)
        curvature = 1.0 + bend.sum(axis=0)
        step = (h.sum(axis=0) - u) / curvature
        u = u + step
    return u, 1.0 / np.sqrt(curvature)


def _derivatives(z: Floats) -> tuple[Floats, Floats, Floats]:
    """log Φ, h and h (h + z), of any shape."""
    log_phi, h, bend = (each.reshape(z.shape) for each in log_cdf_derivatives(z.reshape(-1)))
    return log_phi, h, bend


def _quadrature() -> tuple[Floats, Floats]:
    """Nodes, and the logarithms of their weights for a density that is normal where it is moved."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(NODES)
    return nodes, np.log(weights / np.sqrt(2.0 * np.pi)) + nodes**2 / 2.0


_QUADRATURE = _quadrature()
