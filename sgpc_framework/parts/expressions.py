"""A kernel and a link as plain formulas, which other languages can be told.

A kernel with the ability ``KernelExpression`` says what it computes as an expression: distances or
products of two inputs x and z, numbers, sums, products, powers and exponentials.

>>> r2 = SquaredDistance(4.0)
>>> evaluate(2.0 * Exp(-0.5 * r2), np.array([[0.0]]), np.array([[0.0], [1.0]])).round(3)
array([[2.   , 0.271]])

A likelihood with the ability ``LikelihoodLink`` says which of the two families below it is of.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Expression:
    """A formula of two inputs x and z. They add and multiply, also with numbers, and have powers.

    >>> (1.0 + DotProduct()) ** 2
    Power(base=Sum(terms=(Number(value=1.0), DotProduct())), exponent=2.0)
    """

    __slots__ = ()

    def __add__(self, other: Expression | float) -> Expression:
        return Sum((self, number(other)))

    def __radd__(self, other: float) -> Expression:
        return Sum((number(other), self))

    def __mul__(self, other: Expression | float) -> Expression:
        return Product((self, number(other)))

    def __rmul__(self, other: float) -> Expression:
        return Product((number(other), self))

    def __pow__(self, exponent: float) -> Expression:
        return Power(self, float(exponent))


@attrs.frozen
class Number(Expression):
    """A constant."""

    value: float


@attrs.frozen
class SquaredDistance(Expression):
    """Σ_f weights_f (x_f - z_f)²; one number is the weight of every feature."""

    weights: float | tuple[float, ...] = 1.0


@attrs.frozen
class SineDistance(Expression):
    """Σ_f weights_f sin²(rate (x_f - z_f)); one number is the weight of every feature."""

    weights: float | tuple[float, ...] = 1.0
    rate: float = 1.0


@attrs.frozen
class DotProduct(Expression):
    """Σ_f x_f z_f."""


@attrs.frozen
class Sum(Expression):
    """The sum of some terms."""

    terms: tuple[Expression, ...]


@attrs.frozen
class Product(Expression):
    """The product of some factors."""

    factors: tuple[Expression, ...]


@attrs.frozen
class Power(Expression):
    """base^exponent; a base that may be negative needs a whole exponent."""

    base: Expression
    exponent: float


@attrs.frozen
class Exp(Expression):
    """e^exponent."""

    exponent: Expression


@attrs.frozen
class Warp(Expression):
    """``inner`` of x and z, each feature of which goes through a rising line first.

    ``knots`` and ``images`` have a list for each feature, as those of the kernel ``warped`` have;
    an empty one leaves a feature alone. Beyond the first and the last knot lines go on straight.
    """

    inner: Expression
    knots: tuple[tuple[float, ...], ...]
    images: tuple[tuple[float, ...], ...]


@attrs.frozen
class LinearMap(Expression):
    """``inner`` of x A and z A, for rows x and z; ``matrix`` is A, row by row."""

    inner: Expression
    matrix: tuple[tuple[float, ...], ...]


@attrs.frozen
class TwoClassLink:
    """p(y|f) = ε + (1 - 2ε) g(slope y (f + bias)), with ``curve`` g ``"normal"`` or ``"logistic"``.

    ``normal`` is the normal distribution function Φ, ``logistic`` is 1 / (1 + e⁻ˣ).
    """

    curve: str
    slope: float = 1.0
    bias: float = 0.0
    epsilon: float = 0.0


@attrs.frozen
class ManyClassLink:
    """p(y|f) = ε / C + (1 - ε) P(f_y + bias_y + noise_y is the highest), with normal noise."""

    bias: tuple[float, ...]
    epsilon: float = 0.0


Link = TwoClassLink | ManyClassLink


def number(value: Expression | float) -> Expression:
    """An expression, also of a number."""
    return value if isinstance(value, Expression) else Number(float(value))


def evaluate(expression: Expression, X: Floats, Z: Floats) -> Floats:
    """The matrix of an expression for all rows of X (rows) and Z (columns), feature by feature."""
    match expression:
        case Number(value):
            return np.full((len(X), len(Z)), value)
        case DotProduct():
            return np.asarray(X @ Z.T)
        case SquaredDistance(weights):
            return _over_features(weights, X, Z, np.square)
        case SineDistance(weights, rate):
            return _over_features(weights, X, Z, lambda d: np.sin(rate * d) ** 2)
        case Sum(terms):
            return np.asarray(sum(evaluate(term, X, Z) for term in terms))
        case Product(factors):
            return np.asarray(np.prod([evaluate(factor, X, Z) for factor in factors], axis=0))
        case Power(base, exponent):
            return np.asarray(evaluate(base, X, Z) ** exponent)
        case Exp(exponent):
            return np.exp(evaluate(exponent, X, Z))
        case Warp(inner, knots, images):
            return evaluate(inner, warp_features(X, knots, images), warp_features(Z, knots, images))
        case LinearMap(inner, matrix):
            return evaluate(inner, X @ np.array(matrix), Z @ np.array(matrix))
    raise TypeError(f"wanted an expression, found {expression!r}")


def _over_features(weights: float | tuple[float, ...], X: Floats, Z: Floats, f: Any) -> Floats:
    total = np.zeros((len(X), len(Z)))
    for weight, x, z in zip(np.broadcast_to(weights, X.shape[1]), X.T, Z.T, strict=True):
        total += weight * f(x[:, None] - z)
    return total


FAR = float(np.finfo(np.float64).max)
"""Stands for infinity, which not every language can write."""


@attrs.frozen(eq=False)
class Lines:
    """Rising lines, one for each feature, as sums over their pieces:

        g(x) = image + Σ_j slope_j min(max(x - knot_j, low_j), width_j)

    No term is much larger than the sum, so that nothing cancels. Of shape (features, pieces), where
    shorter lines end with pieces of slope zero; ``image`` has one number a feature.
    """

    image: Floats
    knot: Floats
    slope: Floats
    low: Floats
    width: Floats

    @classmethod
    def through(cls, knots: Sequence[Sequence[float]], images: Sequence[Sequence[float]]) -> Lines:
        """The lines through some knots with their images; an empty list is the identity."""
        pieces = max(1, *(len(line) - 1 for line in knots)) if knots else 1
        shape = (len(knots), pieces)
        lines = cls(np.zeros(len(knots)), *(np.zeros(shape) for _ in range(4)))
        for feature, (knot, image) in enumerate(zip(knots, images, strict=True)):
            if not knot:
                knot = image = (0.0, 1.0)
            count = len(knot) - 1
            lines.image[feature] = image[0]
            lines.knot[feature, :count] = knot[:-1]
            lines.slope[feature, :count] = np.diff(image) / np.diff(knot)
            lines.width[feature, :count] = np.diff(knot)
            lines.low[feature, 0], lines.width[feature, count - 1] = -FAR, FAR
        return lines

    def __call__(self, X: Floats) -> Floats:
        bent = np.minimum(np.maximum(X[:, :, None] - self.knot, self.low), self.width)
        return np.asarray(self.image + (self.slope * bent).sum(axis=2))


@attrs.frozen(eq=False)
class Combinations:
    """Linear combinations of features: each column of ``matrix`` says what one is made of."""

    matrix: Floats

    def __call__(self, X: Floats) -> Floats:
        return np.asarray(X @ self.matrix)


def warp_features(
    X: Floats, knots: Sequence[Sequence[float]], images: Sequence[Sequence[float]]
) -> Floats:
    """X with every feature along its line.

    >>> warp_features(np.array([[0.5], [199.0]]), [[0.0, 1.0, 100.0]], [[0.0, 1.0, 2.0]])
    array([[0.5],
           [3. ]])
    """
    return Lines.through(knots, images)(X)
