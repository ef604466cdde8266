"""The periodic kernel."""

from __future__ import annotations

from typing import ClassVar, NamedTuple, Self, final

import attrs
import numpy as np

from sgpc_framework.authors import (
    Exp,
    Expression,
    Floats,
    Inputs,
    KernelArithmetic,
    Pullback,
    SineDistance,
    hyperparameter,
)
from sgpc_plugins.kernels.distances import PairSums, centred, squared_distances
from sgpc_plugins.kernels.kernel_of_distances import constant_diagonal
from sgpc_plugins.kernels.medians import median_distance
from sgpc_plugins.kernels.squared_exponential import GAUSSIAN
from sgpc_plugins.kernels.stationary import (
    LENGTHSCALE,
    VARIANCE,
    inverse_lengthscales,
    inverse_squares,
    lengthscale_gradient,
)
from sgpc_plugins.kernels.vectors import matrices, matrix, number, per_feature


@final
@attrs.frozen
class Periodic(KernelArithmetic):
    """Functions that repeat themselves along every feature.

        k(x, z) = variance · exp(-2 Σ_f sin²(π (x_f - z_f) / period) / lengthscale_f²)

    ``variance`` is the prior variance of the function; ``period`` how far apart repetitions are, a
    number or ``"median"``, which a fit replaces by twice the median distance of the inputs;
    ``lengthscale`` how much it changes within a period: a number, or one for each feature.

    It is the squared exponential of points on circles: with u = 2π x / period, the squared distance
    of (cos u, sin u) for two inputs is 4 sin²(π (x - z) / period).

    >>> Periodic(period=2.0)(np.array([[0.0], [1.0], [2.0]]), np.array([[0.0]])).round(3)
    array([[1.   ],
           [0.135],
           [1.   ]])
    """

    name: ClassVar[str] = "periodic"

    variance: float = hyperparameter(1.0, bounds=VARIANCE)
    period: float | str = hyperparameter("median", bounds=LENGTHSCALE, starts=("median",))
    lengthscale: float | tuple[float, ...] = hyperparameter(1.0, bounds=LENGTHSCALE)

    def __call__(self, X: Inputs, Z: Inputs, /) -> Floats:
        x, z = self._circles(X, Z)
        return self._values(self._squared_distances(x, z))

    def diag(self, X: Inputs, /) -> Floats:
        return np.full(len(matrix(self, X)), self.variance)

    def linearised(self, X: Inputs, Z: Inputs, /) -> tuple[Floats, Pullback]:
        x, z = self._circles(X, Z)
        r2 = self._squared_distances(x, z)
        K = self._values(r2.copy())

        def pullback(G: Floats) -> Floats:
            W = GAUSSIAN.slope(r2, K)
            W *= G
            turned = np.vdot(x.angles, self._turned(W, x, z))
            turned += np.vdot(z.angles, self._turned(W.T, z, x))
            return np.concatenate(
                [
                    [np.vdot(G, K) / self.variance],
                    [-turned / number(self, "period", self.period)],
                    self._lengthscale_gradient(W, r2, x, z),
                ]
            )

        return K, pullback

    def linearised_diag(self, X: Inputs, /) -> tuple[Floats, Pullback]:
        return self.diag(X), constant_diagonal(self)

    def input_pullback(self, X: Inputs, Z: Inputs, cotangent: Floats, /) -> Floats:
        x, z = self._circles(X, Z)
        r2 = self._squared_distances(x, z)
        W = GAUSSIAN.slope(r2, self._values(r2.copy()))
        W *= cotangent
        gradient = self._turned(W, x, z)
        gradient *= 2.0 * np.pi / number(self, "period", self.period)
        return gradient

    def started(self, X: Inputs, /) -> Self:
        if not isinstance(self.period, str):
            return self
        period = np.clip(2.0 * median_distance(matrix(self, X)), *LENGTHSCALE)
        return attrs.evolve(self, period=period)

    def relevances(self) -> Floats | None:
        return inverse_lengthscales(self.lengthscale)

    def expression(self) -> Expression:
        rate = float(np.pi / number(self, "period", self.period))
        return self.variance * Exp(-2.0 * SineDistance(inverse_squares(self.lengthscale), rate))

    def _circles(self, X: Inputs, Z: Inputs) -> tuple[Circles, Circles]:
        rate = 2.0 * np.pi / number(self, "period", self.period)
        A, B = centred(*matrices(self, X, Z))  # the angles of inputs far out would lose digits
        return Circles.at(rate * A), Circles.at(rate * B)

    def _weights(self, x: Circles) -> Floats:
        """One for every coordinate of the points: cosines first, then sines."""
        lengthscales = per_feature(self, "lengthscale", self.lengthscale, x.angles.shape[1])
        return np.tile(lengthscales**-2.0, 2)

    def _squared_distances(self, x: Circles, z: Circles) -> Floats:
        return squared_distances(x.points, z.points, self._weights(x))

    def _values(self, r2: Floats) -> Floats:
        K = GAUSSIAN.value(r2)
        K *= self.variance
        return K

    def _turned(self, W: Floats, x: Circles, z: Circles) -> Floats:
        """Σ_j W_ij dr²_ij/du_if for every row and angle of x."""
        pulled = PairSums(W, x.points, z.points).differences()
        pulled *= 2.0 * self._weights(x)
        along_cosine, along_sine = np.hsplit(pulled, 2)
        cosine, sine = np.hsplit(x.points, 2)
        turned: Floats = along_sine * cosine - along_cosine * sine
        return turned

    def _lengthscale_gradient(self, W: Floats, r2: Floats, x: Circles, z: Circles) -> Floats:
        scale = self.lengthscale
        twice = scale + scale if isinstance(scale, tuple) else scale  # cosines and sines
        ard = isinstance(scale, tuple)
        squares = PairSums(W, x.points, z.points).squares() if ard else np.asarray(np.vdot(W, r2))
        gradient = lengthscale_gradient(twice, squares)
        summed: Floats = gradient.reshape(-1, np.size(scale)).sum(axis=0)
        return summed


class Circles(NamedTuple):
    """Inputs as points on circles, one circle for each feature."""

    angles: Floats
    points: Floats

    @classmethod
    def at(cls, angles: Floats) -> Circles:
        """The points (cos u, sin u): all cosines, then all sines."""
        return cls(angles, np.hstack([np.cos(angles), np.sin(angles)]))
