"""The probit likelihood with flipped labels: robust, at the price of log-concavity."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np
from attrs import frozen
from numpy.typing import NDArray
from scipy.special import ndtr

from sgpc_framework.authors import Moments, TwoClassLink, hyperparameter
from sgpc_plugins.likelihoods.link import blocks, probit_gradient, standardise
from sgpc_plugins.likelihoods.noisy_multinomial_probit import NoisyMultinomialProbit

Floats = NDArray[np.float64]


@frozen
class NoisyProbit:
    """p(y|f) = ε + (1 - 2ε) Φ(slope y (f + bias)): a probit whose labels flip with probability ε.

    With width² = variance + slope⁻², z = y (mean + bias) / width and g = (1 - 2ε) N(z) / Z:

        Z = ε + (1 - 2ε) Φ(z),   alpha = y g / width,   nu = g (g + z) / width²

    slope     λ, how steeply the probability rises with the latent value
    bias      b, added to the latent value
    epsilon   ε, the probability that a label is wrong whatever the latent value is

    Not log-concave: far on the wrong side of the boundary a label is taken for a flip, log_z
    flattens towards log ε and nu is negative. That is meant. Always nu * variance < 1. Of many
    classes, it is ``noisy-multinomial-probit``.

    >>> one = np.ones(1)
    >>> log_z, alpha, nu = NoisyProbit(epsilon=0.1).moments(one, -100.0 * one, one)
    >>> np.exp(log_z), alpha, nu
    (array([0.1]), array([0.]), array([-0.]))
    """

    name: ClassVar[str] = "noisy-probit"

    slope: float = hyperparameter(1.0, bounds=(1e-4, 1e4))
    bias: float = hyperparameter(0.0, bounds=(-1e3, 1e3), transform="identity")
    epsilon: float = hyperparameter(0.01, bounds=(1e-6, 0.49), transform="logit")

    def for_classes(self, count: int) -> NoisyMultinomialProbit:
        """The form for many classes, in which as many labels are wrong."""
        epsilon = min(0.49, self.epsilon * count / (count - 1))
        return NoisyMultinomialProbit((0.0,) * count, epsilon)

    def link(self) -> TwoClassLink:
        """The formula, for other languages."""
        return TwoClassLink("normal", self.slope, self.bias, self.epsilon)

    def log_z(self, y: Floats, mean: Floats, variance: Floats, /) -> Floats:
        """log Z of every row."""
        log_z = np.empty(len(y))
        for rows in blocks(len(y)):
            z, _ = standardise(self.slope, self.bias, y[rows], mean[rows], variance[rows])
            log_z[rows] = self._log_evidence(z)
        return log_z

    def moments(self, y: Floats, mean: Floats, variance: Floats, /) -> Moments:
        """(log_z, alpha, nu) of every row."""
        moments = np.empty((3, len(y)))
        for rows in blocks(len(y)):
            moments[:, rows] = self._moments_of_block(y[rows], mean[rows], variance[rows])
        return Moments(*moments)

    def _moments_of_block(self, y: Floats, mean: Floats, variance: Floats) -> Moments:
        z, width = standardise(self.slope, self.bias, y, mean, variance)
        log_z = self._log_evidence(z)
        g = np.exp(-z * z / 2.0 - log_z)
        g *= (1.0 - 2.0 * self.epsilon) / math.sqrt(2.0 * math.pi)
        return Moments(log_z, y * g / width, g * (g + z) / width**2)

    def pullback(
        self, y: Floats, mean: Floats, variance: Floats, moments: Moments, cotangent: Floats, /
    ) -> Floats:
        """sum(cotangent * d log_z / dθ) for slope, bias and epsilon.

        d log_z / dε = (1 - 2 Φ(z)) / Z, and Φ(z) = (Z - ε) / (1 - 2ε).
        """
        d_epsilon = (np.exp(-moments.log_z) - 2.0) / (1.0 - 2.0 * self.epsilon)
        d_slope, d_bias = probit_gradient(
            self.slope, self.bias, mean, variance, moments.alpha, cotangent
        )
        return np.array([d_slope, d_bias, float(cotangent @ d_epsilon)])

    def _log_evidence(self, z: Floats) -> Floats:
        """log Z through its smaller side, Z(-|z|) <= 1/2, from which the larger is 1 - Z(-|z|)."""
        smaller: Floats = ndtr(-np.abs(z))
        smaller *= 1.0 - 2.0 * self.epsilon
        smaller += self.epsilon
        return np.where(z < 0.0, np.log(smaller), np.log1p(-smaller))
