"""Distances in which features may count together."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar, Literal, Self, final

import attrs
import numpy as np

from sgpc_framework.authors import Expression, Floats, InputError, LinearMap, hyperparameter
from sgpc_plugins.kernels.composite import expression_inside
from sgpc_plugins.kernels.learnt_map import LearntMap, Mapped
from sgpc_plugins.kernels.vectors import per_feature

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


def _width(mixing: tuple[float, ...]) -> int:
    """Of how many features it is the mixing."""
    return math.isqrt(len(mixing))


@final
@attrs.frozen
class Mahalanobis(LearntMap):
    """A kernel of distances between linear combinations of the features.

        k(x, z) = inner(x A, z A)       A = I + 0.15 D⁻¹ B D

    for rows x and z. B is ``mixing``, row by row, and D has ``scale`` on its diagonal, so that
    features of any units can be mixed; with ``"deviations"`` it is taken from the data. With a
    mixing of zero the kernel is the inner one. Squared distances are (x - z) A Λ Aᵀ (x - z)ᵀ, where
    Λ has the inverse squares of the inner lengthscales: a Mahalanobis distance. It suits functions
    that change along directions which are no single feature, a difference of two measurements, say.

    >>> from sgpc_plugins.kernels import Matern52
    >>> apart = np.array([[1.0, 1.0]]), np.array([[0.0, 0.0]])
    >>> inner = Matern52(lengthscale=1.0)
    >>> alone = Mahalanobis(inner, scale=(1.0, 1.0), mixing=(0.0, 0.0, 0.0, 0.0))
    >>> bool(alone(*apart) == inner(*apart))
    True
    """

    name: ClassVar[str] = "mahalanobis"

    scale: Literal["deviations"] | tuple[float, ...] = attrs.field(
        default="deviations", converter=_numbers, validator=_scales
    )
    """The unit of each feature."""
    mixing: tuple[float, ...] | str = hyperparameter(
        "none",
        bounds=(-1e3, 1e3),
        transform="identity",
        starts=("none",),
        each="pair of features",
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

    def map(self, features: int) -> Callable[[Floats], Mapped]:
        A, unit = self._combinations(features), self._unit(features)
        return lambda X: _Mixed(X, A, unit)

    def begun(self, X: Floats) -> Self:
        scale, mixing = self.scale, self.mixing
        if isinstance(scale, str):
            deviation = X.std(axis=0)
            scale = tuple(np.where(deviation > 0.0, deviation, 1.0).tolist())
        if isinstance(mixing, str):
            mixing = (0.0,) * X.shape[1] ** 2
        return attrs.evolve(self, scale=scale, mixing=mixing)

    def widths(self, features: int) -> Floats:
        """As if features changed one by one."""
        weights: Floats = self._combinations(features) ** 2 @ self._inside.widths(features) ** -2.0
        return np.asarray(weights**-0.5)

    def relevances(self) -> Floats | None:
        return None if isinstance(self.mixing, str) else 1.0 / self.widths(_width(self.mixing))

    def expression(self) -> Expression:
        if isinstance(self.mixing, str):
            raise self._not_started("mixing", self.mixing)
        A = self._combinations(_width(self.mixing))
        inner = expression_inside(self, self.inner)
        return LinearMap(inner, tuple(map(tuple, A.tolist())))

    def _combinations(self, features: int) -> Floats:
        """A, for rows that stand to its left."""
        if isinstance(self.mixing, str):
            raise self._not_started("mixing", self.mixing)
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


class _Mixed:
    """Rows times A."""

    def __init__(self, X: Floats, A: Floats, unit: Floats) -> None:
        self._X, self._A, self._unit = X, A, unit
        self.rows: Floats = X @ A

    def by_map(self, G: Floats) -> Floats:
        return (self._X.T @ G * self._unit).ravel()

    def by_inputs(self, G: Floats) -> Floats:
        return G @ self._A.T
