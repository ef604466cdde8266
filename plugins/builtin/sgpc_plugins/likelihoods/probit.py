"""The probit likelihood: the one of the paper, and the one with a closed form."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from sgpc_framework.authors import Moments, TwoClassLink, compiled, hyperparameter
from sgpc_plugins.likelihoods.link import LEAST_NU, blocks, probit_gradient, standardise
from sgpc_plugins.likelihoods.multinomial_probit import MultinomialProbit
from sgpc_plugins.likelihoods.normal_tail import log_cdf, log_cdf_derivatives

Floats = NDArray[np.float64]
_TWIN = "sgpc_plugins.likelihoods.probit_compiled"


@frozen
class Probit:
    """p(y|f) = Φ(slope y (f + bias)), the normal distribution function (§2 of the paper).

    With width² = variance + slope⁻², z = y (mean + bias) / width and h(z) = N(z) / Φ(z):

        log_z = log Φ(z),   alpha = y h(z) / width,   nu = h(z) (h(z) + z) / width²

    slope   λ, how steeply the probability rises with the latent value
    bias    b, added to the latent value: it carries the balance of the labels

    Log-concave: nu > 0, and nu * variance < 1. Of many classes, it is ``multinomial-probit``.

    >>> one = np.ones(1)
    >>> log_z, alpha, nu = Probit().moments(one, 0.0 * one, one)
    >>> np.exp(log_z), alpha.round(4), nu.round(4)
    (array([0.5]), array([0.5642]), array([0.3183]))
    """

    name: ClassVar[str] = "probit"

    slope: float = hyperparameter(1.0, bounds=(1e-4, 1e4))
    bias: float = hyperparameter(0.0, bounds=(-1e3, 1e3), transform="identity")

    def for_classes(self, count: int) -> MultinomialProbit:
        """The form for many classes, with a latent function and a bias each."""
        return MultinomialProbit((0.0,) * count)

    def link(self) -> TwoClassLink:
        """The formula, for other languages."""
        return TwoClassLink("normal", self.slope, self.bias)

    def log_z(self, y: Floats, mean: Floats, variance: Floats, /) -> Floats:
        """log Φ(z): the innermost loop of a fit."""
        if twin := compiled(_TWIN):
            return twin.log_z(self.slope, self.bias, y, mean, variance)  # type: ignore[no-any-return]
        log_z = np.empty(len(y))
        for rows in blocks(len(y)):
            z, _ = standardise(self.slope, self.bias, y[rows], mean[rows], variance[rows])
            log_z[rows] = log_cdf(z)
        return log_z

    def moments(self, y: Floats, mean: Floats, variance: Floats, /) -> Moments:
        """(log_z, alpha, nu) of every row."""
        if twin := compiled(_TWIN):
            return twin.moments(self.slope, self.bias, y, mean, variance)  # type: ignore[no-any-return]
        moments = np.empty((3, len(y)))
        for rows in blocks(len(y)):
            moments[:, rows] = self._moments_of_block(y[rows], mean[rows], variance[rows])
        return Moments(*moments)

    def _moments_of_block(self, y: Floats, mean: Floats, variance: Floats) -> Moments:
        z, width = standardise(self.slope, self.bias, y, mean, variance)
        log_z, alpha, nu = log_cdf_derivatives(z)
        alpha /= width
        alpha *= y
        width *= width
        nu /= width
        np.maximum(nu, LEAST_NU, out=nu)
        return Moments(log_z, alpha, nu)

    def pullback(
        self, y: Floats, mean: Floats, variance: Floats, moments: Moments, cotangent: Floats, /
    ) -> Floats:
        """sum(cotangent * d log_z / dθ) for slope and bias."""
        return np.array(
            probit_gradient(self.slope, self.bias, mean, variance, moments.alpha, cotangent)
        )
