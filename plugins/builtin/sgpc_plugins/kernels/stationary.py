"""Kernels of the scaled distance between two inputs: what they share.

A leaf supplies its profile, the correlation as a function of r² and the slope of it. Everything
else (distances, gradients, the start from the data) is here, once.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from functools import cached_property
from typing import ClassVar, NamedTuple, Self

import attrs
import numpy as np

from sgpc_framework.authors import (
    Expression,
    Floats,
    Inputs,
    SquaredDistance,
    hyperparameter,
)
from sgpc_plugins.kernels.distances import PairSums, distances_to, squared_distances
from sgpc_plugins.kernels.kernel_of_distances import Derivatives, KernelOfDistances
from sgpc_plugins.kernels.medians import started_lengthscale
from sgpc_plugins.kernels.vectors import matrices, matrix, per_feature

VARIANCE = (1e-6, 1e6)
LENGTHSCALE = (1e-75, 1e75)
"""What has the unit of a feature may be as small or as large as its square can be computed. It
starts from the data and moves by factors, so that nanoseconds and light years do alike."""


class Profile(NamedTuple):
    """A correlation as a function of squared distances r², and what differentiates it."""

    value: Callable[[Floats], Floats]
    """From r² to the correlations; may overwrite its argument."""

    slope: Callable[[Floats, Floats], Floats]
    """From r² and K, the correlations times any constant, to dK/dr²; a new array."""

    formula: Callable[[Expression], Expression]
    """From r² to the correlation, for who is to write it down."""

    own: tuple[Callable[[Floats, Floats], Floats], ...] = ()
    """From r² and K to dK/dθ, for each hyperparameter of the profile itself."""


@attrs.frozen
class Stationary(KernelOfDistances):
    """k(x, z) = variance · profile(r²),  r² = Σ_f (x_f - z_f)² / lengthscale_f²."""

    name: ClassVar[str]

    variance: float = hyperparameter(1.0, bounds=VARIANCE)
    lengthscale: float | tuple[float, ...] | str = hyperparameter(
        "median", bounds=LENGTHSCALE, starts=("median", "median-per-feature")
    )

    @abstractmethod
    def profile(self) -> Profile:
        """What the leaf is."""

    def __call__(self, X: Inputs, Z: Inputs, /) -> Floats:
        return self._at_distances(self._squared_distances(*matrices(self, X, Z)))

    def columns_of(self, X: Inputs, /) -> Callable[[Inputs], Floats]:
        X = matrix(self, X)
        distances = distances_to(X, self.weights(X))
        return lambda Z: self._at_distances(distances(matrix(self, Z)))

    def diag(self, X: Inputs, /) -> Floats:
        return np.full(len(matrix(self, X)), self.variance)

    def derivatives(self, X: Floats, Z: Floats) -> tuple[Floats, Callable[[Floats], Derivatives]]:
        r2 = self._squared_distances(X, Z)
        K = self._at_distances(r2.copy())
        return K, lambda G: _PairDerivatives(self, X, Z, r2, K, G)

    def started(self, X: Inputs, /) -> Self:
        lengthscale = started_lengthscale(self.lengthscale, matrix(self, X), LENGTHSCALE)
        return attrs.evolve(self, lengthscale=lengthscale)

    def relevances(self) -> Floats | None:
        return inverse_lengthscales(self.lengthscale)

    def expression(self) -> Expression:
        return self.variance * self.profile().formula(
            SquaredDistance(inverse_squares(self.lengthscale))
        )

    def widths(self, features: int) -> Floats:
        return per_feature(self, "lengthscale", self.lengthscale, features)

    def weights(self, X: Floats) -> Floats:
        """The inverse square of each feature's lengthscale."""
        weights: Floats = self.widths(X.shape[1]) ** -2.0
        return weights

    def _squared_distances(self, X: Floats, Z: Floats) -> Floats:
        return squared_distances(X, Z, self.weights(X))

    def _at_distances(self, r2: Floats) -> Floats:
        """The kernel at squared distances, which it may overwrite."""
        K = self.profile().value(r2)
        K *= self.variance
        return K


class _PairDerivatives:
    """The derivatives of sum(G * K), by way of W = d sum(G * K) / dr²."""

    def __init__(
        self, kernel: Stationary, X: Floats, Z: Floats, r2: Floats, K: Floats, G: Floats
    ) -> None:
        self._kernel, self._r2, self._K, self._G = kernel, r2, K, G
        self._profile = kernel.profile()
        self._W = self._profile.slope(r2, K)
        self._W *= G
        self._arguments = X, Z

    @cached_property
    def _pairs(self) -> PairSums:
        return PairSums(self._W, *self._arguments)

    def by_hyperparameters(self) -> Floats:
        kernel, G, r2, K = self._kernel, self._G, self._r2, self._K
        ard = isinstance(kernel.lengthscale, tuple)
        squares = self._pairs.squares() if ard else np.asarray(np.vdot(self._W, r2))
        return np.concatenate(
            [
                [np.vdot(G, K) / kernel.variance],
                lengthscale_gradient(kernel.lengthscale, squares),
                [np.vdot(G, derivative(r2, K)) for derivative in self._profile.own],
            ]
        )

    def by_X(self) -> Floats:
        return self._weighted(self._pairs.differences())

    def by_Z(self) -> Floats:
        return self._weighted(self._pairs.other_differences())

    def _weighted(self, differences: Floats) -> Floats:
        differences *= 2.0 * self._kernel.weights(differences)
        return differences


def inverse_lengthscales(lengthscale: float | tuple[float, ...] | str) -> Floats | None:
    """1 / lengthscale of each feature; ``None`` where there is one for all."""
    return 1.0 / np.array(lengthscale) if isinstance(lengthscale, tuple) else None


def inverse_squares(lengthscale: float | tuple[float, ...] | str) -> float | tuple[float, ...]:
    """The weights of squared distances: one for each feature, or one for all."""
    weights: float | tuple[float, ...] = (np.array(lengthscale, dtype=np.float64) ** -2.0).tolist()
    return tuple(weights) if isinstance(weights, list) else weights


def lengthscale_gradient(lengthscale: float | tuple[float, ...] | str, squares: Floats) -> Floats:
    """Σ_ij W_ij dr²_ij/dlengthscale, for W the derivative of a loss with respect to r².

    ``squares`` is Σ_ij W_ij (x_if - z_jf)² for every feature f where each has its lengthscale, and
    Σ_ij W_ij r²_ij where there is one for all.
    """
    scale = np.atleast_1d(np.asarray(lengthscale, dtype=np.float64))
    power = 3 if isinstance(lengthscale, tuple) else 1
    return np.asarray(-2.0 * squares / scale**power)
