"""Distances in which features may count together."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar, Literal, Self, final

import attrs
import numpy as np

from sgpc_framework.authors import (
    Expression,
    Floats,
    InputError,
    Inputs,
    Kernel,
    KernelArithmetic,
    LinearMap,
    Pullback,
    hyperparameter,
    kernel_columns,
)
from sgpc_plugins.kernels.distances import PairSums
from sgpc_plugins.kernels.matern import Matern52
from sgpc_plugins.kernels.stationary import Stationary, constant_diagonal
from sgpc_plugins.kernels.vectors import matrices, matrix, per_feature

UNIT = 0.15
"""What a mixing of one is: what optimisers do in logarithms then suits it, too."""


def _numbers(value: Any) -> Any:
    return value if isinstance(value, str) else tuple(map(float, value))


def _scales(_: Any, field: attrs.Attribute[Any], value: tuple[float, ...] | str) -> None:
    if isinstance(value, str):
        if value != "deviations":
            raise ValueError(
                f"{field.name} must be a list of numbers or 'deviations', found {value!r}"
            )
    elif not all(0.0 < scale < np.inf for scale in value):
        raise ValueError(f"{field.name} must be finite numbers above zero, found {value!r}")


def _of_distances(_: Any, field: attrs.Attribute[Any], value: Any) -> None:
    if not isinstance(value, Stationary):
        raise ValueError(
            f"{field.name} must be a kernel of distances (squared-exponential, matern-12, "
            f"matern-32, matern-52 or rational-quadratic), found {value!r}"
        )


def _width(mixing: tuple[float, ...]) -> int:
    """Of how many features it is the mixing."""
    return math.isqrt(len(mixing))


@final
@attrs.frozen
class Mahalanobis(KernelArithmetic):
    """A kernel of distances between linear combinations of the features.

        k(x, z) = inner(x A, z A)       A = I + 0.15 D⁻¹ B D

    for rows x and z. B is ``mixing``, row by row, and D has ``scale`` on its diagonal, so that
    features of any units can be mixed; with ``"deviations"`` it is taken from the data. With a
    mixing of zero the kernel is the inner one. Squared distances are (x - z) A Λ Aᵀ (x - z)ᵀ, where
    Λ has the inverse squares of the inner lengthscales: a Mahalanobis distance. It suits functions
    that change along directions which are no single feature, a difference of two measurements, say.

    >>> apart = np.array([[1.0, 1.0]]), np.array([[0.0, 0.0]])
    >>> inner = Matern52(lengthscale=1.0)
    >>> alone = Mahalanobis(inner, scale=(1.0, 1.0), mixing=(0.0, 0.0, 0.0, 0.0))
    >>> bool(alone(*apart) == inner(*apart))
    True
    """

    name: ClassVar[str] = "mahalanobis"

    inner: Kernel = attrs.field(default=Matern52(), validator=_of_distances)
    scale: Literal["deviations"] | tuple[float, ...] = attrs.field(
        default="deviations", converter=_numbers, validator=_scales
    )
    """The unit of each feature."""
    mixing: tuple[float, ...] | str = hyperparameter(
        "none", bounds=(-1e3, 1e3), transform="identity", starts=("none",)
    )
    """What of every feature (one after the other) is added to each."""

    @mixing.validator
    def _square(self, field: attrs.Attribute[Any], value: tuple[float, ...] | str) -> None:
        if isinstance(value, str):
            return
        if not isinstance(value, tuple) or _width(value) ** 2 != len(value):
            raise ValueError(
                f"{field.name} must be 'none', or a number for every two features (4 for two "
                f"features, 9 for three), found {value!r}"
            )

    def __call__(self, X: Inputs, Z: Inputs, /) -> Floats:
        X, Z = matrices(self, X, Z)
        A = self._map(X.shape[1])
        return self.inner(X @ A, Z @ A)

    def columns_of(self, X: Inputs, /) -> Callable[[Inputs], Floats]:
        X = matrix(self, X)
        A = self._map(X.shape[1])
        columns = kernel_columns(self.inner, X @ A)
        return lambda Z: columns(matrix(self, Z) @ A)

    def diag(self, X: Inputs, /) -> Floats:
        return self.inner.diag(X)

    def linearised(self, X: Inputs, Z: Inputs, /) -> tuple[Floats, Pullback]:
        K, pullbacks = self.linearised_in_inputs(X, Z)
        return K, lambda G: pullbacks(G)[0]

    def linearised_in_inputs(
        self, X: Inputs, Z: Inputs, /
    ) -> tuple[Floats, Callable[[Floats], tuple[Floats, Floats]]]:
        X, Z = matrices(self, X, Z)
        inner, A = self._stationary, self._map(X.shape[1])
        r2 = inner.squared_distances(X @ A, Z @ A)
        K = inner.at_distances(r2.copy())

        def pullbacks(G: Floats) -> tuple[Floats, Floats]:
            W = inner.by_distances(G, r2, K)
            pairs = PairSums(W, X, Z)
            products = pairs.products() @ A
            weighted = A * inner.weights(A)
            ard = isinstance(inner.lengthscale, tuple)
            squares = np.einsum("ij,ij->j", A, products) if ard else np.asarray(np.vdot(W, r2))
            by_mixing = 2.0 * products * inner.weights(A) * self._unit(len(A))
            own = np.concatenate([inner.own_gradient(G, r2, K, squares), by_mixing.ravel()])
            return own, 2.0 * pairs.differences() @ (weighted @ A.T)

        return K, pullbacks

    def linearised_diag(self, X: Inputs, /) -> tuple[Floats, Pullback]:
        return self.diag(X), constant_diagonal(self)

    def input_pullback(self, X: Inputs, Z: Inputs, cotangent: Floats, /) -> Floats:
        return self.linearised_in_inputs(X, Z)[1](cotangent)[1]

    def started(self, X: Inputs, /) -> Self:
        X = matrix(self, X)
        scale, mixing = self.scale, self.mixing
        if isinstance(scale, str):
            deviation = X.std(axis=0)
            scale = tuple(np.where(deviation > 0.0, deviation, 1.0).tolist())
        if isinstance(mixing, str):
            mixing = (0.0,) * X.shape[1] ** 2
        started = attrs.evolve(self, scale=scale, mixing=mixing)
        return attrs.evolve(started, inner=self._stationary.started(X @ started._map(X.shape[1])))

    def around(self, inner: Kernel, /) -> Self:
        """The same mixing for another kernel inside."""
        return attrs.evolve(self, inner=inner)

    def relevances(self) -> Floats | None:
        """As if features changed one by one."""
        if isinstance(self.mixing, str):
            return None
        A = self._map(_width(self.mixing))
        relevances: Floats = np.sqrt(A**2 @ self._stationary.weights(A))
        return relevances

    def expression(self) -> Expression:
        if isinstance(self.mixing, str):
            raise self._not_started()
        A = self._map(_width(self.mixing))
        return LinearMap(self._stationary.expression(), tuple(map(tuple, A.tolist())))

    @property
    def _stationary(self) -> Stationary:
        assert isinstance(self.inner, Stationary)  # its validator has seen to it
        return self.inner

    def _map(self, features: int) -> Floats:
        """A, for rows that stand to its left."""
        if isinstance(self.mixing, str):
            raise self._not_started()
        if len(self.mixing) != features**2:
            raise InputError(
                f"kernel {self.name!r} has {len(self.mixing)} numbers for its mixing, but the "
                f"inputs have {features} features: give {features**2}, or 'none'"
            )
        mixing = np.reshape(self.mixing, (features, features))
        return np.eye(features) + mixing * self._unit(features)

    def _unit(self, features: int) -> Floats:
        """What a mixing of one adds, entry by entry: of each feature (rows) to each (columns)."""
        scale = per_feature(self, "scale", self.scale, features)
        unit: Floats = UNIT * scale / scale[:, None]
        return unit

    def _not_started(self) -> InputError:
        return InputError(
            f"kernel {self.name!r} still has the word {self.mixing!r} for its mixing: a fit takes "
            "the number of features from the data, kernel.started(X) does so by hand, or give "
            "numbers"
        )
