"""Hyperparameters: declared as attrs fields, read and replaced as one vector.

A component says what may be tuned by the way it declares a field::

    @frozen
    class SquaredExponential:
        variance: float = hyperparameter(1.0, bounds=(1e-4, 1e4))

Everything else here works on any component, nested ones included (the terms of a sum are found
because they are attrs instances). Optimisers work on *free* values: the field's transform of the
value, so that a step is a ratio for a scale (``log``), a difference for a location (``identity``)
and log odds for a probability (``logit``).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, Literal, TypeVar

import attrs
import numpy as np
from numpy.typing import NDArray

Transform = Literal["identity", "log", "logit"]
C = TypeVar("C")

_KEY = "sgpc_hyperparameter"


@attrs.frozen
class Declaration:
    """How a field may be tuned: its finite bounds and the transform optimisers work in."""

    bounds: tuple[float, float]
    transform: Transform


def hyperparameter(
    default: Any,
    *,
    bounds: tuple[float, float],
    transform: Transform = "log",
    starts: tuple[str, ...] = (),
) -> Any:
    """Declare a tunable attrs field.

    The value is a number, or a tuple of numbers (one for each feature, say). ``starts`` names the
    words that may stand for a value which a fit takes from the data (see ``StartsFromData``).
    """
    declared = Declaration(bounds, transform)
    low, high = bounds
    edge = {"identity": (-math.inf, math.inf), "log": (0.0, math.inf), "logit": (0.0, 1.0)}
    if not edge[transform][0] < low < high < edge[transform][1]:
        raise ValueError(f"bounds {bounds} must be finite, in order, and inside the {transform}'s")

    def validate(_: Any, field: attrs.Attribute[Any], value: Any) -> None:
        if isinstance(value, str):
            if value not in starts:
                wanted = " or ".join(["a number", *map(repr, starts)])
                raise ValueError(f"{field.name} must be {wanted}, found {value!r}")
            return
        entries = value if isinstance(value, tuple) else (value,)
        if not entries:
            raise ValueError(f"{field.name} must hold at least one number, found none")
        for entry in entries:
            if not low <= entry <= high:  # also refuses NaN
                raise ValueError(f"{field.name} must lie in [{low:g}, {high:g}], found {entry!r}")

    return attrs.field(
        default=default,
        converter=_plain_numbers,
        validator=validate,
        metadata={_KEY: declared},
    )


def declaration(field: attrs.Attribute[Any]) -> Declaration | None:
    """How a field may be tuned; ``None`` if it is an ordinary option."""
    found: Declaration | None = field.metadata.get(_KEY)
    return found


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
    """One tunable number of a component: where it is, what it is, how it may move."""

    path: str
    value: float
    bounds: tuple[float, float]
    transform: Transform


def hyperparameters(component: object) -> tuple[Hyperparameter, ...]:
    """Every tunable number of a component, in the order that pullbacks return gradients."""
    return tuple(_walk(component, ""))


def _walk(component: object, prefix: str) -> Iterator[Hyperparameter]:
    for name, value, declaration in _fields(component):
        path = f"{prefix}{name}"
        if declaration is None:
            for suffix, part in _parts(value):
                yield from _walk(part, f"{path}{suffix}.")
            continue
        bounds, transform = declaration.bounds, declaration.transform
        if isinstance(value, tuple):
            for position, entry in enumerate(value):
                yield Hyperparameter(f"{path}[{position}]", entry, bounds, transform)
        elif not isinstance(value, str):
            yield Hyperparameter(path, value, bounds, transform)


def parts_of(component: object) -> Iterator[object]:
    """The component and every component inside it."""
    yield component
    for _, value, declared in _fields(component):
        if declared is None:
            for _, part in _parts(value):
                yield from parts_of(part)


def values(component: object) -> NDArray[np.float64]:
    """The tunable numbers as one vector."""
    return np.array(list(_numbers(component)), dtype=np.float64)


def _numbers(component: object) -> Iterator[float]:
    """The values alone, which every evaluation of a gradient asks for."""
    for _, value, declaration in _fields(component):
        if declaration is None:
            for _, part in _parts(value):
                yield from _numbers(part)
        elif isinstance(value, tuple):
            yield from value
        elif not isinstance(value, str):
            yield value


def replaced(component: C, new: NDArray[np.float64]) -> C:
    """The same component with other hyperparameters: the inverse of :func:`values`."""
    queue = iter(np.asarray(new, dtype=np.float64).tolist())
    result = _rebuilt(component, queue)
    if next(queue, None) is not None:
        raise ValueError(f"{type(component).__name__} was given too many hyperparameters")
    return result


def _rebuilt(component: C, queue: Iterator[float]) -> C:
    changes: dict[str, Any] = {}
    for name, value, declaration in _fields(component):
        if declaration is None:
            parts = [_rebuilt(part, queue) for _, part in _parts(value)]
            if parts:
                changes[name] = tuple(parts) if isinstance(value, tuple) else parts[0]
        elif isinstance(value, tuple):
            changes[name] = tuple(next(queue) for _ in value)
        elif not isinstance(value, str):
            changes[name] = next(queue)
    return attrs.evolve(component, **changes) if changes else component  # type: ignore[misc]


def _fields(component: object) -> Iterator[tuple[str, Any, Declaration | None]]:
    cls: Any = type(component)
    for name, declared in _declarations(cls):
        yield name, getattr(component, name), declared


@cache
def _declarations(cls: type) -> tuple[tuple[str, Declaration | None], ...]:
    fields = attrs.fields(cls) if attrs.has(cls) else ()
    return tuple((field.name, declaration(field)) for field in fields)


def _parts(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, tuple):
        for position, part in enumerate(value):
            if attrs.has(type(part)):
                yield f"[{position}]", part
    elif attrs.has(type(value)):
        yield "", value


_FREE: dict[str, Callable[[Any], Any]] = {
    "identity": lambda value: value,
    "log": np.log,
    "logit": lambda value: np.log(value) - np.log1p(-value),
}
_NATURAL: dict[str, Callable[[Any], Any]] = {
    "identity": lambda free: free,
    "log": np.exp,
    "logit": lambda free: 1.0 / (1.0 + np.exp(-free)),
}
_SLOPE: dict[str, Callable[[Any], Any]] = {  # d value / d free, as a function of the value
    "identity": lambda value: 1.0,
    "log": lambda value: value,
    "logit": lambda value: value * (1.0 - value),
}


@attrs.frozen
class FreeVector:
    """The coordinates an optimiser works in: a transform and a finite interval for each number."""

    transforms: tuple[Transform, ...]
    least: NDArray[np.float64]
    most: NDArray[np.float64]

    @classmethod
    def of(cls, component: object) -> FreeVector:
        """The free coordinates of a component's hyperparameters."""
        found = hyperparameters(component)
        bounds = np.array([h.bounds for h in found], dtype=np.float64).reshape(-1, 2)
        return cls(tuple(h.transform for h in found), bounds[:, 0], bounds[:, 1])

    def free(self, natural: NDArray[np.float64]) -> NDArray[np.float64]:
        """Free coordinates of natural values."""
        return self._apply(_FREE, natural)

    def natural(self, free: NDArray[np.float64]) -> NDArray[np.float64]:
        """Natural values of free coordinates, inside the bounds whatever the rounding."""
        return np.clip(self._apply(_NATURAL, free), self.least, self.most)

    def chain(
        self, natural: NDArray[np.float64], gradient: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Gradient with respect to the free coordinates, from the one in natural values."""
        return gradient * self._apply(_SLOPE, natural)

    def _apply(
        self, table: dict[str, Callable[[Any], Any]], vector: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        found = np.empty(len(self.transforms))
        for name in dict.fromkeys(self.transforms):
            alike = [transform == name for transform in self.transforms]
            found[alike] = table[name](vector[alike])
        return found
