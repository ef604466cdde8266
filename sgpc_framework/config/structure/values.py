"""Strict rules for plain values: what is not exactly of the type is refused, never converted.

Left to itself cattrs turns 7.9 into 7, "false" into True and "abc" into ["a", "b", "c"]. The one
liberty taken here is that an integer may stand for a number, because 4 and 4.0 are the same in
everybody's eyes. numpy's numbers and one-dimensional arrays count as numbers and lists.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches
from enum import Enum
from numbers import Integral, Real
from types import NoneType
from typing import Any, Literal, get_args, get_origin

import numpy as np
from cattrs import Converter, IterableValidationError, IterableValidationNote

from sgpc_framework.config.structure.shapes import SEQUENCES, is_mapping, is_sequence, is_union
from sgpc_framework.config.structure.wording import found, wanted


def add_value_rules(converter: Converter) -> None:
    """Teach a converter the rules of this module."""
    for scalar in (bool, int, float, str, NoneType):
        converter.register_structure_hook(scalar, _scalar)
    rules: list[tuple[Callable[[Any], bool], Callable[[Any, Any], Any]]] = [
        (
            lambda t: get_origin(t) is Literal,
            lambda v, t: _choice(v, dict.fromkeys(get_args(t)), t),
        ),
        (lambda t: isinstance(t, type) and issubclass(t, Enum), _enum),
        (is_sequence, lambda v, t: _sequence(v, t, converter)),
        (is_mapping, lambda v, t: _mapping(v, t, converter)),
        (is_union, lambda v, t: _union(v, t, converter)),
    ]
    for applies, rule in rules:
        converter.register_structure_hook_func(applies, rule)


def refusal(value: object, type_: Any) -> TypeError:
    """The error for a value of the wrong type; of the right type but unfit is a ``ValueError``."""
    return TypeError(f"wanted {wanted(type_)}, found {found(value)}")


def _scalar(value: Any, type_: type) -> Any:
    if issubclass(type_, Enum):  # class Colour(str, Enum) is dispatched as a string
        return _enum(value, type_)
    if issubclass(type_, bool):
        if isinstance(value, (bool, np.bool_)):
            return bool(value)
    elif issubclass(type_, int):
        if isinstance(value, Integral) and not isinstance(value, bool):
            return int(value)
    elif issubclass(type_, float):
        if isinstance(value, Real) and not isinstance(value, bool):
            return _finite(value)
    elif type_ is NoneType:
        if value is None:
            return None
    elif isinstance(value, str):
        return str(value)
    raise refusal(value, type_)


def _finite(value: Real) -> float:
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise ValueError(f"wanted a finite number, found {value!r}")
    return number


def _enum(value: Any, type_: Any) -> Any:
    if isinstance(value, type_):
        return value
    return type_(_choice(value, {member.value: None for member in type_}, type_))


def _choice(value: Any, choices: dict[Any, None], type_: Any) -> Any:
    for choice in choices:
        if type(choice) is type(value) and choice == value:  # 1 is not True
            return choice
    if not isinstance(value, tuple(map(type, choices))):
        raise refusal(value, type_)
    near = get_close_matches(value, map(str, choices), n=1) if isinstance(value, str) else []
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise ValueError(f"{refusal(value, type_)}{hint}")


def _sequence(value: Any, type_: Any, converter: Converter) -> Any:
    if isinstance(value, np.ndarray) and value.ndim:
        value = value.tolist()
    if not isinstance(value, (list, tuple)):
        raise refusal(value, type_)
    entries = list(value)
    build = SEQUENCES[get_origin(type_) or type_]
    return build(_collected(_typed_entries(entries, type_), type_, converter))


def _typed_entries(entries: list[Any], type_: Any) -> Iterator[tuple[int, Any, Any]]:
    """(position, entry, type) of each entry; a tuple of fixed length has a type for each."""
    types = get_args(type_)
    if get_origin(type_) is tuple and not (len(types) == 2 and types[1] is ...):
        if len(types) != len(entries):
            raise ValueError(f"wanted a list of {len(types)} entries, found {len(entries)}")
        return zip(range(len(entries)), entries, types, strict=True)
    entry_type = types[0] if types else Any
    return ((position, entry, entry_type) for position, entry in enumerate(entries))


def _mapping(value: Any, type_: Any, converter: Converter) -> dict[Any, Any]:
    if not isinstance(value, Mapping):
        raise refusal(value, type_)
    key_type, value_type = get_args(type_) or (Any, Any)
    keys = _collected(((key, key, key_type) for key in value), type_, converter)
    typed = ((key, entry, value_type) for key, entry in value.items())
    return dict(zip(keys, _collected(typed, type_, converter), strict=True))


def _collected(
    typed_entries: Iterator[tuple[Any, Any, Any]], type_: Any, converter: Converter
) -> list[Any]:
    """All entries structured, or all their problems, each with its position or key."""
    results = []
    errors: list[Exception] = []
    for position, entry, entry_type in typed_entries:
        try:
            results.append(converter.structure(entry, entry_type))
        except Exception as error:
            error.add_note(IterableValidationNote("", position, entry_type))
            errors.append(error)
    if errors:
        raise IterableValidationError(f"in {wanted(type_)}", errors, type_)
    return results


def _union(value: Any, type_: Any, converter: Converter) -> Any:
    """The first member that takes the value.

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
