"""The logistic likelihood: heavier tails than the probit's, and probabilities that are log odds."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from sgpc_framework.authors import Moments, TwoClassLink, hyperparameter
from sgpc_plugins.likelihoods.link import LEAST_NU, blocks
from sgpc_plugins.likelihoods.logistic_normal import logistic_normal

Floats = NDArray[np.float64]

_BLOCK = 512  # rows at a time: about fifty numbers are needed for each


@frozen
class Logistic:
    """p(y|f) = σ(slope y (f + bias)), σ(x) = 1 / (1 + e⁻ˣ).

    With m = slope y (mean + bias), v = slope² variance and Z(m, v) = E[σ(x)] for x ~ N(m, v):

        log_z = log Z,   alpha = slope y Z'/Z,   nu = slope² ((Z'/Z)² - Z''/Z)

    where a dash is a derivative with respect to m. ``logistic_normal`` computes them.

    slope   how steeply the log odds rise with the latent value
    bias    added to the latent value

    Log-concave: nu > 0, and nu * variance < 1.

    >>> one = np.ones(1)
    >>> log_z, alpha, nu = Logistic().moments(one, 0.0 * one, one)
    >>> np.exp(log_z).round(12), alpha.round(4), nu.round(4)
    (array([0.5]), array([0.4132]), array([0.1708]))
    """

    name: ClassVar[str] = "logistic"

    slope: float = hyperparameter(1.0, bounds=(1e-4, 1e4))
    bias: float = hyperparameter(0.0, bounds=(-1e3, 1e3), transform="identity")

    def link(self) -> TwoClassLink:
        """The formula, for other languages."""
        return TwoClassLink("logistic", self.slope, self.bias)

    def log_z(self, y: Floats, mean: Floats, variance: Floats, /) -> Floats:
        """log Z of every row. The derivatives cost next to nothing more."""
        return self.moments(y, mean, variance).log_z

    def moments(self, y: Floats, mean: Floats, variance: Floats, /) -> Moments:
        """(log_z, alpha, nu) of every row."""
        moments = np.empty((3, len(y)))
        for rows in blocks(len(y), size=_BLOCK):
            moments[:, rows] = self._moments_of_block(y[rows], mean[rows], variance[rows])
        return Moments(*moments)

    def _moments_of_block(self, y: Floats, mean: Floats, variance: Floats) -> Moments:
        v = self.slope**2 * variance
        log_z, slope, _, nu = logistic_normal(self.slope * y * (mean + self.bias), v)
        return Moments(log_z, self.slope * y * slope, np.maximum(self.slope**2 * nu, LEAST_NU))

    def pullback(
        self, y: Floats, mean: Floats, variance: Floats, moments: Moments, cotangent: Floats, /
    ) -> Floats:
        """sum(cotangent * d log_z / dθ) for slope and bias.

        log_z depends on the slope through slope * (mean + bias) and slope² * variance, so that
        slope * d log_z / d slope = (mean + bias) alpha + variance (alpha² - nu).
        """
        _, alpha, nu = moments
        d_slope = (mean + self.bias) * alpha + variance * (alpha * alpha - nu)
        return np.array([cotangent @ d_slope / self.slope, cotangent @ alpha])
