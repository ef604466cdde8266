"""Hyperparameters read and replaced as one vector, whatever the component is made of.

They are found in attrs fields (``declarations``), in parts that say them themselves (``Tunable``)
and, however deep, in the parts that a component holds in its fields: the terms of a sum, say.
Optimisers work on *free* values: the transform of the value, so that a step is a ratio for a scale
(``log``), a difference for a location (``identity``) and log odds for a probability (``logit``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from itertools import islice
from typing import Any, TypeVar

import attrs
import numpy as np
from numpy.typing import NDArray

from sgpc_framework.parts.abilities import has
from sgpc_framework.parts.calls import blame
from sgpc_framework.parts.declarations import (
    Declaration,
    Hyperparameter,
    Transform,
    check_hyperparameter,
    declaration,
    hyperparameter,
)
from sgpc_framework.protocols import Kernel, Likelihood, Tunable

__all__ = [
    "Declaration",
    "FreeVector",
    "Hyperparameter",
    "Transform",
    "declaration",
    "hyperparameter",
    "hyperparameters",
    "located_parts",
    "parts_of",
    "replaced",
    "values",
]

C = TypeVar("C")


def hyperparameters(component: object) -> tuple[Hyperparameter, ...]:
    """Every tunable number of a component, in the order that pullbacks return gradients."""
    return tuple(_walk(component, ""))


def _walk(component: object, within: str) -> Iterator[Hyperparameter]:
    if has(component, Tunable):
        for said in _said_by(component):
            yield attrs.evolve(said, within=_join_paths(within, said.within)) if within else said
        return
    for name, value, declared in _fields(component):
        if declared is None:
            for suffix, part in _parts(value):
                yield from _walk(part, _join_paths(within, f"{name}{suffix}"))
            continue
        bounds, transform, each = declared.bounds, declared.transform, declared.each
        if isinstance(value, tuple):
            for position, entry in enumerate(value):
                yield Hyperparameter(name, entry, bounds, transform, position, within, each)
        elif not isinstance(value, str):
            yield Hyperparameter(name, value, bounds, transform, None, within, each)


def parts_of(component: object) -> Iterator[object]:
    """The component and every component inside it."""
    return (part for _, part in located_parts(component))


def located_parts(component: object, within: str = "") -> Iterator[tuple[str, object]]:
    """The same with the path of each, which is empty for the component itself."""
    yield within, component
    for name, value, declared in _fields(component):
        if declared is None:
            for suffix, part in _parts(value):
                yield from located_parts(part, _join_paths(within, f"{name}{suffix}"))


def values(component: object) -> NDArray[np.float64]:
    """The tunable numbers as one vector."""
    return np.array(list(_numbers(component)), dtype=np.float64)


def _numbers(component: object) -> Iterator[float]:
    """The values alone, which every evaluation of a gradient asks for."""
    if has(component, Tunable):
        yield from (said.value for said in _said_by(component))
        return
    for _, value, declared in _fields(component):
        if declared is None:
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
    if has(component, Tunable):
        return _copy(component, queue)  # type: ignore[return-value]  # it is of the same class
    changes: dict[str, Any] = {}
    for name, value, declared in _fields(component):
        if declared is None:
            if isinstance(value, tuple) and any(map(_is_part, value)):
                changes[name] = tuple(
                    _rebuilt(entry, queue) if _is_part(entry) else entry for entry in value
                )
            elif _is_part(value):
                changes[name] = _rebuilt(value, queue)
        elif isinstance(value, tuple):
            changes[name] = tuple(next(queue) for _ in value)
        elif not isinstance(value, str):
            changes[name] = next(queue)
    return attrs.evolve(component, **changes) if changes else component  # type: ignore[misc]


# ---------------------------------------------------------------------------------------------
# Parts that say their hyperparameters themselves


def _said_by(part: Tunable) -> tuple[Hyperparameter, ...]:
    with blame(_kind(part), part, "hyperparameters"):
        said = part.hyperparameters()
        if not isinstance(said, tuple):
            raise TypeError(f"wanted a tuple of Hyperparameter, found {said!r}")
        for each in said:
            check_hyperparameter(each)
    return said


def _copy(part: Tunable, queue: Iterator[float]) -> Tunable:
    count = len(_said_by(part))
    with blame(_kind(part), part, "with_hyperparameters"):
        copy = part.with_hyperparameters(np.array([*islice(queue, count)], dtype=np.float64))
        if type(copy) is not type(part):
            raise TypeError(f"wanted another {type(part).__name__}, found {copy!r}")
    return copy


def _kind(part: object) -> str:
    return "likelihood" if has(part, Likelihood) else "kernel"


# ---------------------------------------------------------------------------------------------
# Fields


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
            if _is_part(part):
                yield f"[{position}]", part
    elif _is_part(value):
        yield "", value


def _is_part(value: object) -> bool:
    """Whether an object in a field is a component itself, an attrs instance or not."""
    cls: Any = type(value)
    return _makes_parts(cls)


@cache
def _makes_parts(cls: type) -> bool:
    return attrs.has(cls) or any(has(cls, what) for what in (Tunable, Kernel, Likelihood))


def _join_paths(within: str, path: str) -> str:
    return f"{within}.{path}" if within and path else within or path


# ---------------------------------------------------------------------------------------------
# Free coordinates


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
        numbers = hyperparameters(component)
        bounds = np.array([h.bounds for h in numbers], dtype=np.float64).reshape(-1, 2)
        return cls(tuple(h.transform for h in numbers), bounds[:, 0], bounds[:, 1])

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
        transformed = np.empty(len(self.transforms))
        for name in dict.fromkeys(self.transforms):
            same = [transform == name for transform in self.transforms]
            transformed[same] = table[name](vector[same])
        return transformed
