"""Strict rules for plain values: what is not exactly of the type is refused, never converted.

Left to itself cattrs turns 7.9 into 7, "false" into True and "abc" into ["a", "b", "c"]. The one
liberty taken here is that an integer may stand for a number, because 4 and 4.0 are the same in
everybody's eyes. numpy's numbers and one-dimensional arrays count as numbers and lists.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from difflib import get_close_matches
from enum import Enum
from types import NoneType
from typing import Any, Literal, Union, get_args, get_origin

import numpy as np
from cattrs import Converter, IterableValidationError, IterableValidationNote
from cattrs.gen import make_mapping_structure_fn

from sgpc_framework.config.structure.problems import attempted
from sgpc_framework.config.structure.wording import choices, plain_type, refusal, shape, wanted

MOST_DIGITS = 100
"""Python's whole numbers have no largest one, and beyond 4300 digits cannot be printed."""

_SCALARS = (bool, int, float, str, NoneType)


def add_value_rules(converter: Converter) -> None:
    """Teach a converter the rules of this module."""
    for scalar in _SCALARS:
        converter.register_structure_hook(scalar, _scalar)
    converter.register_structure_hook(Enum, _choice)  # before cattrs 26 its own came first
    converter.register_structure_hook_func(
        lambda type_: shape(type_) in _RULES,
        lambda value, type_: _RULES[shape(type_)](value, type_, converter),
    )


def _scalar(value: Any, type_: Any) -> Any:
    if issubclass(type_, Enum):  # class Colour(str, Enum) is dispatched as a string
        return _choice(value, type_)
    scalar = next(base for base in type_.__mro__ if base in _SCALARS)
    if plain_type(value) not in ((int, float) if scalar is float else (scalar,)):
        raise refusal(value, type_)
    if scalar is int and abs(value) >= 10**MOST_DIGITS:
        raise ValueError(f"wanted a number of at most {MOST_DIGITS} digits, found a larger one")
    with suppress(OverflowError):
        if scalar is not float or math.isfinite(value):
            return None if value is None else scalar(value)
    raise ValueError(f"wanted a finite number, found {value!r}")


def _choice(value: Any, type_: Any, _: object = None) -> Any:
    for word, choice in choices(type_):
        if value is choice or (type(value) is type(word) and value == word):  # 1 is not True
            return choice
    near = get_close_matches(str(value), [str(word) for word, _ in choices(type_)], n=1)
    if near and isinstance(value, str):
        raise ValueError(f"{refusal(value, type_)}; did you mean {near[0]!r}?")
    raise refusal(value, type_)


def _list(value: Any, type_: Any, converter: Converter) -> Any:
    entries = value.tolist() if isinstance(value, np.ndarray) else value
    if plain_type(entries) is not list:
        raise refusal(value, type_)
    build, types = get_origin(type_) or type_, get_args(type_) or (Any, ...)
    if build is not tuple or types[1:] == (...,):
        types = types[:1] * len(entries)
    if len(types) != len(entries):
        raise ValueError(f"wanted a list of {len(types)} entries, found {len(entries)}")
    typed = zip(range(len(entries)), entries, types, strict=True)
    structured, errors = attempted(typed, converter.structure, IterableValidationNote)
    if errors:
        raise IterableValidationError(f"in {wanted(type_)}", errors, type_)
    return (build if build in (list, set, frozenset) else tuple)(structured.values())


def _mapping(value: Any, type_: Any, converter: Converter) -> Any:
    if plain_type(value) is not dict:
        raise refusal(value, type_)
    return make_mapping_structure_fn(type_, converter, dict)(value, type_)


def _union(value: Any, type_: Any, converter: Converter) -> Any:
    """What the first member that takes the value makes of it.

    If none does, the best report is that of a member whose type the value had (a list with one bad
    entry, a number that is not finite); only if there is no such member is the type to blame.
    """
    close: list[Exception] = []
    for member in get_args(type_):
        try:
            return converter.structure(value, member)
        except TypeError:
            continue
        except Exception as error:
            close.append(error)
    raise close[0] if close else refusal(value, type_)


_RULES: dict[Any, Callable[[Any, Any, Converter], Any]]
_RULES = {Literal: _choice, Enum: _choice, list: _list, dict: _mapping, Union: _union}
