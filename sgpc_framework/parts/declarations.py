"""Declaring hyperparameters: as attrs fields, or said by a part itself.

    @frozen
    class SquaredExponential:
        variance: float = hyperparameter(1.0, bounds=(1e-4, 1e4))

A part whose tunable numbers are no attrs fields returns ``Hyperparameter("variance", 1.0,
bounds=(1e-4, 1e4))`` from its method ``hyperparameters`` (see ``Tunable``).
"""

from __future__ import annotations

import math
from numbers import Real
from typing import Any, Literal

import attrs
import numpy as np

Transform = Literal["identity", "log", "logit"]

Each = Literal["feature", "pair of features", "class", "piece"]
"""What the numbers of a list belong to, one each."""

_KEY = "sgpc_hyperparameter"
_EDGES = {"identity": (-math.inf, math.inf), "log": (0.0, math.inf), "logit": (0.0, 1.0)}
_ROUNDING = 1e-9
"""How far, relatively, a value may lie outside its bounds: exp(log(x)) need not be x."""


@attrs.frozen
class Declaration:
    """How a field may be tuned: its finite bounds and the transform optimisers work in."""

    bounds: tuple[float, float]
    transform: Transform
    each: Each


def hyperparameter(
    default: Any,
    *,
    bounds: tuple[float, float],
    transform: Transform = "log",
    starts: tuple[str, ...] = (),
    each: Each = "feature",
) -> Any:
    """Declare a tunable attrs field.

    The value is a number, or a tuple of numbers, one for ``each`` feature if nothing else is said.
    ``starts`` names the words that may stand for a value which a fit takes from the data (see
    ``StartsFromData``).
    """
    check_bounds(bounds, transform)
    low, high = bounds

    def validate(_: Any, field: attrs.Attribute[Any], value: Any) -> None:
        if isinstance(value, str):
            if value not in starts:
                wanted = " or ".join(["a number", *map(repr, starts)])
                raise ValueError(f"{field.name} must be {wanted}, found {value!r}")
            return
        entries = value if isinstance(value, tuple) else (value,)
        if not entries and each != "piece":  # there may be nothing to divide into pieces
            raise ValueError(f"{field.name} must hold at least one number, found none")
        for entry in entries:
            if not low <= entry <= high:  # also refuses NaN
                raise ValueError(f"{field.name} must lie in [{low:g}, {high:g}], found {entry!r}")

    return attrs.field(
        default=default,
        converter=_plain_numbers,
        validator=validate,
        metadata={_KEY: Declaration(bounds, transform, each)},
    )


def declaration(field: attrs.Attribute[Any]) -> Declaration | None:
    """How a field may be tuned; ``None`` if it is an ordinary option."""
    declared: Declaration | None = field.metadata.get(_KEY)
    return declared


def check_bounds(bounds: tuple[float, float], transform: str) -> None:
    """Refuse bounds that are not finite, not in order, or where the transform is not defined."""
    if transform not in _EDGES:
        raise ValueError(f"wanted the transform {' or '.join(_EDGES)}, found {transform!r}")
    low, high = bounds
    least, most = _EDGES[transform]
    if not least < low < high < most:
        raise ValueError(f"bounds {bounds} must be finite, in order, and inside the {transform}'s")


def _plain_numbers(value: Any) -> Any:
    """Numpy scalars, lists and arrays as floats and tuples of floats: hashable, printable."""
    if isinstance(value, str):
        return value
    if isinstance(value, (bool, np.bool_)):
        raise TypeError(f"a hyperparameter must be a number, found {value!r}")
    if isinstance(value, (list, tuple, np.ndarray)) and np.ndim(value) == 1:
        return tuple(float(entry) for entry in value)
    return float(value)


@attrs.frozen
class Hyperparameter:
    """One tunable number of a component: what it is, how it may move, where it stands.

    ``field`` is its name in its part, ``position`` its place where that field is a list of one
    number for ``each`` feature, say, and ``within`` the path from the component to the part, empty
    for the component itself.

    >>> Hyperparameter("lengthscale", 2.0, bounds=(1e-3, 1e3), position=1, within="terms[0]").path
    'terms[0].lengthscale[1]'
    """

    field: str
    value: float
    bounds: tuple[float, float]
    transform: Transform = "log"
    position: int | None = None
    within: str = ""
    each: Each = "feature"

    @property
    def path(self) -> str:
        """Where the number stands in the component, in words."""
        listed = self.list_path
        return listed if self.position is None else f"{listed}[{self.position}]"

    @property
    def list_path(self) -> str:
        """The same without the position: what numbers of one list have in common."""
        return f"{self.within}.{self.field}" if self.within else self.field


def check_hyperparameter(said: object) -> None:
    """Refuse what a part says of itself, unless it is a hyperparameter inside proper bounds."""
    if not isinstance(said, Hyperparameter):
        raise TypeError(f"wanted a tuple of Hyperparameter, found {said!r} in it")
    check_bounds(said.bounds, said.transform)
    low, high = said.bounds
    value = said.value
    number = isinstance(value, Real) and not isinstance(value, bool)
    if not number or not low - _ROUNDING * abs(low) <= value <= high + _ROUNDING * abs(high):
        raise ValueError(f"{said.path} must lie in [{low:g}, {high:g}], found {value!r}")
