"""Kernels of the dot product of two inputs: linear and polynomial."""

from __future__ import annotations

from typing import ClassVar, Self, final

import attrs
import numpy as np

from sgpc_framework.authors import (
    DotProduct,
    Expression,
    Floats,
    Inputs,
    KernelArithmetic,
    Pullback,
    hyperparameter,
)
from sgpc_plugins.kernels.medians import median_distance
from sgpc_plugins.kernels.stationary import LENGTHSCALE, VARIANCE
from sgpc_plugins.kernels.vectors import matrices, matrix, number

MOST_DEGREE = 100
"""A degree is so many products of matrices."""


@final
@attrs.frozen
class Linear(KernelArithmetic):
    """Linear functions through the origin.

        k(x, z) = variance · x·z

    ``variance`` is the prior variance of each weight. Add a ``constant`` for a bias.

    >>> Linear(variance=2.0)(np.array([[1.0, 2.0]]), np.array([[3.0, 1.0]]))
    array([[10.]])
    """

    name: ClassVar[str] = "linear"

    variance: float = hyperparameter(1.0, bounds=VARIANCE)

    def __call__(self, X: Inputs, Z: Inputs, /) -> Floats:
        K = _products(*matrices(self, X, Z))
        K *= self.variance
        return K

    def diag(self, X: Inputs, /) -> Floats:
        K = _squared_norms(matrix(self, X))
        K *= self.variance
        return K

    def linearised(self, X: Inputs, Z: Inputs, /) -> tuple[Floats, Pullback]:
        return self._with_pullback(self(X, Z))

    def linearised_diag(self, X: Inputs, /) -> tuple[Floats, Pullback]:
        return self._with_pullback(self.diag(X))

    def input_pullback(self, X: Inputs, Z: Inputs, cotangent: Floats, /) -> Floats:
        X, Z = matrices(self, X, Z)
        gradient: Floats = cotangent @ Z
        gradient *= self.variance
        return gradient

    def expression(self) -> Expression:
        return self.variance * DotProduct()

    def _with_pullback(self, K: Floats) -> tuple[Floats, Pullback]:
        return K, lambda G: np.array([np.vdot(G, K) / self.variance])


@final
@attrs.frozen
class Polynomial(KernelArithmetic):
    """Polynomials of the features, up to a degree.

        k(x, z) = variance · (x·z / lengthscale² + offset)^degree

    ``variance`` scales the prior variance; ``lengthscale`` is a number, or ``"median"``, which a
    fit replaces by the median distance of the inputs; the larger the ``offset``, the more the lower
    degrees weigh; ``degree`` is a whole number that is not tuned.

    >>> kernel = Polynomial(lengthscale=1.0, offset=1.0, degree=2)
    >>> kernel(np.array([[1.0, 2.0]]), np.array([[3.0, 1.0]]))
    array([[36.]])
    """

    name: ClassVar[str] = "polynomial"

    variance: float = hyperparameter(1.0, bounds=VARIANCE)
    lengthscale: float | str = hyperparameter("median", bounds=LENGTHSCALE, starts=("median",))
    offset: float = hyperparameter(1.0, bounds=(1e-6, 1e4))
    degree: int = attrs.field(
        default=2,
        validator=[
            attrs.validators.instance_of(int),
            attrs.validators.ge(1),
            attrs.validators.le(MOST_DEGREE),
        ],
    )

    def __call__(self, X: Inputs, Z: Inputs, /) -> Floats:
        return self._values(self._base(_products(*matrices(self, X, Z))))

    def diag(self, X: Inputs, /) -> Floats:
        return self._values(self._base(_squared_norms(matrix(self, X))))

    def linearised(self, X: Inputs, Z: Inputs, /) -> tuple[Floats, Pullback]:
        return self._with_pullback(self._base(_products(*matrices(self, X, Z))))

    def linearised_diag(self, X: Inputs, /) -> tuple[Floats, Pullback]:
        return self._with_pullback(self._base(_squared_norms(matrix(self, X))))

    def input_pullback(self, X: Inputs, Z: Inputs, cotangent: Floats, /) -> Floats:
        X, Z = matrices(self, X, Z)
        W = self._slope(self._base(_products(X, Z)))
        W *= cotangent
        gradient: Floats = W @ Z
        gradient /= self._squared_lengthscale()
        return gradient

    def started(self, X: Inputs, /) -> Self:
        if not isinstance(self.lengthscale, str):
            return self
        lengthscale = np.clip(median_distance(matrix(self, X)), *LENGTHSCALE)
        return attrs.evolve(self, lengthscale=lengthscale)

    def expression(self) -> Expression:
        scale = 1.0 / self._squared_lengthscale()
        return self.variance * (scale * DotProduct() + self.offset) ** self.degree

    def _squared_lengthscale(self) -> float:
        return number(self, "lengthscale", self.lengthscale) ** 2

    def _base(self, products: Floats) -> Floats:
        """x·z / lengthscale² + offset, in place of the products."""
        products /= self._squared_lengthscale()
        products += self.offset
        return products

    def _values(self, base: Floats) -> Floats:
        K = _power(base, self.degree)
        K *= self.variance
        return K

    def _slope(self, base: Floats) -> Floats:
        slope = _power(base, self.degree - 1)
        slope *= self.variance * self.degree
        return slope

    def _with_pullback(self, base: Floats) -> tuple[Floats, Pullback]:
        K = self._values(base)

        def pullback(G: Floats) -> Floats:
            W = self._slope(base)
            W *= G
            scaled = np.vdot(W, base - self.offset)
            lengthscale = number(self, "lengthscale", self.lengthscale)
            return np.array([np.vdot(G, K) / self.variance, -2.0 * scaled / lengthscale, W.sum()])

        return K, pullback


def _products(X: Floats, Z: Floats) -> Floats:
    products: Floats = X @ Z.T
    return products


def _power(base: Floats, exponent: int) -> Floats:
    result = np.ones_like(base)
    for _ in range(exponent):  # several times faster than base**exponent, for any sane degree
        result *= base
    return result


def _squared_norms(X: Floats) -> Floats:
    norms: Floats = np.einsum("if,if->i", X, X)
    return norms
