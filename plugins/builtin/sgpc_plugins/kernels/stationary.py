"""Kernels of the scaled distance between two inputs: what they share.

A leaf supplies its profile, the correlation as a function of r² and the slope of it. Everything
else (distances, gradients, the start from the data) is here, once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar, NamedTuple, Self

import attrs
import numpy as np

from sgpc_framework.authors import (
    Expression,
    Floats,
    Inputs,
    Kernel,
    KernelArithmetic,
    Pullback,
    SquaredDistance,
    hyperparameter,
    values,
)
from sgpc_plugins.kernels.distances import PairSums, distances_to, squared_distances
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
class Stationary(KernelArithmetic, ABC):
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
        return self.at_distances(self.squared_distances(*matrices(self, X, Z)))

    def columns_of(self, X: Inputs, /) -> Callable[[Inputs], Floats]:
        X = matrix(self, X)
        distances = distances_to(X, self.weights(X))
        return lambda Z: self.at_distances(distances(matrix(self, Z)))

    def diag(self, X: Inputs, /) -> Floats:
        return np.full(len(matrix(self, X)), self.variance)

    def linearised(self, X: Inputs, Z: Inputs, /) -> tuple[Floats, Pullback]:
        K, pullbacks = self._linearised(*matrices(self, X, Z))
        return K, lambda G: pullbacks(G, False)[0]

    def linearised_in_inputs(
        self, X: Inputs, Z: Inputs, /
    ) -> tuple[Floats, Callable[[Floats], tuple[Floats, Floats]]]:
        K, pullbacks = self._linearised(*matrices(self, X, Z))
        return K, lambda G: pullbacks(G, True)

    def _linearised(
        self, X: Floats, Z: Floats
    ) -> tuple[Floats, Callable[[Floats, bool], tuple[Floats, Floats]]]:
        r2 = self.squared_distances(X, Z)
        K = self.at_distances(r2.copy())

        def pullbacks(G: Floats, inputs: bool) -> tuple[Floats, Floats]:
            W = self.by_distances(G, r2, K)
            ard = isinstance(self.lengthscale, tuple)
            pairs = PairSums(W, X, Z) if ard or inputs else None
            squares = pairs.squares() if pairs and ard else np.asarray(np.vdot(W, r2))
            own = self.own_gradient(G, r2, K, squares)
            return own, self._input_gradient(pairs) if pairs and inputs else np.empty(0)

        return K, pullbacks

    def linearised_diag(self, X: Inputs, /) -> tuple[Floats, Pullback]:
        return self.diag(X), constant_diagonal(self)

    def input_pullback(self, X: Inputs, Z: Inputs, cotangent: Floats, /) -> Floats:
        X, Z = matrices(self, X, Z)
        r2 = self.squared_distances(X, Z)
        W = self.by_distances(cotangent, r2, self.at_distances(r2.copy()))
        return self._input_gradient(PairSums(W, X, Z))

    def _input_gradient(self, pairs: PairSums) -> Floats:
        differences = pairs.differences()
        differences *= 2.0 * self.weights(differences)
        return differences

    def started(self, X: Inputs, /) -> Self:
        lengthscale = started_lengthscale(self.lengthscale, matrix(self, X), LENGTHSCALE)
        return attrs.evolve(self, lengthscale=lengthscale)

    def relevances(self) -> Floats | None:
        return inverse_lengthscales(self.lengthscale)

    def expression(self) -> Expression:
        return self.variance * self.profile().formula(
            SquaredDistance(inverse_squares(self.lengthscale))
        )

    # -- in distances, for kernels that measure them in another way -----------------------------

    def weights(self, X: Floats) -> Floats:
        """The inverse square of each feature's lengthscale."""
        lengthscales = per_feature(self, "lengthscale", self.lengthscale, X.shape[1])
        return lengthscales**-2.0

    def squared_distances(self, X: Floats, Z: Floats) -> Floats:
        """r² of every pair."""
        return squared_distances(X, Z, self.weights(X))

    def at_distances(self, r2: Floats) -> Floats:
        """The kernel at squared distances, which it may overwrite."""
        K = self.profile().value(r2)
        K *= self.variance
        return K

    def by_distances(self, G: Floats, r2: Floats, K: Floats) -> Floats:
        """d sum(G * K) / dr²."""
        W = self.profile().slope(r2, K)
        W *= G
        return W

    def own_gradient(self, G: Floats, r2: Floats, K: Floats, squares: Floats) -> Floats:
        """sum(G * dK/dθ), with ``squares`` as ``lengthscale_gradient`` wants them."""
        return np.concatenate(
            [
                [np.vdot(G, K) / self.variance],
                lengthscale_gradient(self.lengthscale, squares),
                [np.vdot(G, derivative(r2, K)) for derivative in self.profile().own],
            ]
        )


def inverse_lengthscales(lengthscale: float | tuple[float, ...] | str) -> Floats | None:
    """1 / lengthscale of each feature; ``None`` where there is one for all."""
    return 1.0 / np.array(lengthscale) if isinstance(lengthscale, tuple) else None


def inverse_squares(lengthscale: float | tuple[float, ...] | str) -> float | tuple[float, ...]:
    """The weights of squared distances: one for each feature, or one for all."""
    weights: float | tuple[float, ...] = (np.array(lengthscale, dtype=np.float64) ** -2.0).tolist()
    return tuple(weights) if isinstance(weights, list) else weights


def constant_diagonal(kernel: Kernel) -> Pullback:
    """The pullback of a diagonal that is the variance, the first hyperparameter, and no more."""
    count = len(values(kernel))
    return lambda G: np.concatenate([[G.sum()], np.zeros(count - 1)])


def lengthscale_gradient(lengthscale: float | tuple[float, ...] | str, squares: Floats) -> Floats:
    """Σ_ij W_ij dr²_ij/dlengthscale, for W the derivative of a loss with respect to r².

    ``squares`` is Σ_ij W_ij (x_if - z_jf)² for every feature f where each has its lengthscale, and
    Σ_ij W_ij r²_ij where there is one for all.
    """
    scale = np.atleast_1d(np.asarray(lengthscale, dtype=np.float64))
    power = 3 if isinstance(lengthscale, tuple) else 1
    return np.asarray(-2.0 * squares / scale**power)
