"""Hyperparameters that nobody could tune, because nobody says what they are.

A kernel of another library has its numbers somewhere: in attributes, in ``theta``, in parameters of
its own kind. Left alone it would be used with the numbers it came with, and nobody would notice.
"""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Real
from typing import Any

import attrs
import numpy as np

from sgpc_framework.parts.abilities import has
from sgpc_framework.parts.hyperparameters import located_parts
from sgpc_framework.protocols import Kernel, Likelihood, Tunable

MARKS = ("theta", "hyperparameters", "parameters", "trainable_parameters")
"""What kernels of other libraries call their hyperparameters."""


def untunable_parts(component: object) -> tuple[str, ...]:
    """What is wrong with a kernel or likelihood, or with parts of it: a text for each such part.

    A part is fine if it is an attrs class, whose fields say what is tuned, or ``Tunable``.
    """
    problems = []
    for path, part in located_parts(component):
        if has(part, Tunable) or not (has(part, Kernel) or has(part, Likelihood)):
            continue
        numbers = ", ".join(_foreign_fields(part) if attrs.has(type(part)) else _numbers(part))
        if numbers:
            what = "likelihood" if has(part, Likelihood) else "kernel"
            where = f" at {path}" if path else ""
            problems.append(
                f"wanted a {what} that says its hyperparameters, found {part.name!r}, a "
                f"{type(part).__qualname__}{where}, with {numbers}, which nobody could tune: "
                "declare them as fields of an @attrs.frozen class with hyperparameter(...), or add "
                "the methods hyperparameters() and with_hyperparameters(values) "
                "(sgpc_framework.protocols.Tunable); a part with nothing to tune returns () from "
                "the first"
            )
    return tuple(problems)


def _numbers(part: object) -> Iterator[str]:
    """The attributes of an object that look like hyperparameters."""
    yield from (mark for mark in MARKS if _is_there(part, mark))
    for name, value in _attributes(part):
        if _is_number(value) or _is_list_of_numbers(value) or _foreign(value):
            yield name
    for base in type(part).__mro__[:-1]:
        yield from (
            name
            for name, value in vars(base).items()
            if not name.startswith("_") and isinstance(value, float)
        )


def _foreign_fields(part: Any) -> Iterator[str]:
    """The fields of an attrs class that hold another library's kernel."""
    for name, value in _attributes(part):
        if not attrs.has(type(value)) and not has(value, Kernel) and _foreign(value):
            yield name


def _foreign(value: object) -> bool:
    """Whether an attribute is an object with hyperparameters of its own."""
    return not has(value, Tunable) and any(_is_there(value, mark) for mark in MARKS)


def _is_there(value: object, name: str) -> bool:
    """Whether an object has an attribute, without running any code of its class."""
    return any(name in vars(base) for base in type(value).__mro__) or name in getattr(
        value, "__dict__", {}
    )


def _attributes(part: object) -> Iterator[tuple[str, object]]:
    """What an object keeps, in its dictionary and in its slots."""
    yield from getattr(part, "__dict__", {}).items()
    for base in type(part).__mro__:
        slots = vars(base).get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if not name.startswith("__"):
                value = getattr(part, name, None)
                if value is not None:
                    yield name, value


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, (bool, np.bool_))


def _is_list_of_numbers(value: object) -> bool:
    if isinstance(value, np.ndarray):
        return value.ndim < 2 and value.dtype.kind == "f"
    return isinstance(value, (list, tuple)) and bool(value) and all(map(_is_number, value))
