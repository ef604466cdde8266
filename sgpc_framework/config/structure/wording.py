"""How error texts speak of types and of values: "wanted an integer, found 7.9 (a number)"."""

from __future__ import annotations

import reprlib
from collections.abc import Mapping
from enum import Enum
from numbers import Integral, Real
from typing import Any, Literal, get_args, get_origin

import attrs
import numpy as np

from sgpc_framework.config.structure.shapes import is_mapping, is_sequence, is_union
from sgpc_framework.plugin.kinds import KINDS, named

_SCALARS: dict[Any, tuple[str, str]] = {
    bool: ("true or false", "booleans"),
    int: ("an integer", "integers"),
    float: ("a number", "numbers"),
    str: ("a string", "strings"),
    type(None): ("nothing", "nothings"),
}


def wanted(type_: Any) -> str:
    """What a type asks for, in words.

    >>> wanted(float | tuple[float, ...] | str)
    'a number, a list of numbers or a string'
    """
    if type_ in _SCALARS:
        return _SCALARS[type_][0]
    if is_union(type_):
        *most, last = map(wanted, get_args(type_))
        return f"{', '.join(most)} or {last}"
    if get_origin(type_) is Literal:
        return " or ".join(map(repr, get_args(type_)))
    if isinstance(type_, type) and issubclass(type_, Enum):
        return " or ".join(repr(member.value) for member in type_)
    if is_sequence(type_):
        entries = {entry for entry in get_args(type_) if entry is not ...}
        plurals = [_SCALARS[entry][1] for entry in entries if entry in _SCALARS]
        return f"a list of {plurals[0]}" if len(plurals) == len(entries) == 1 else "a list"
    if is_mapping(type_):
        return "a mapping"
    for kind in KINDS.values():
        if type_ is kind.protocol:
            return f"{kind.noun} (a name, a mapping with 'name' and options, or an instance)"
    if attrs.has(type_):
        return f"a mapping with the options of {label(type_)}"
    return f"an instance of {getattr(type_, '__name__', None) or type_}"


def label(cls: type) -> str:
    """What a class is called in an error text: the name of a part, else that of the class."""
    name = named(cls)
    return name if isinstance(name, str) else cls.__name__


def found(value: object) -> str:
    """A value that was found, with its type where that helps.

    >>> found("false")
    "'false' (a string)"
    """
    shown = reprlib.repr(value)
    for types, word in _FOUND:
        if isinstance(value, types):
            return f"{shown} ({word})"
    return f"{shown} (an object of type {type(value).__name__})"


_FOUND: tuple[tuple[Any, str], ...] = (  # the first that fits: a bool is also an int
    (type(None), "nothing"),
    ((bool, np.bool_), "a boolean"),
    (Integral, "an integer"),
    (Real, "a number"),
    (str, "a string"),
    ((list, tuple, np.ndarray), "a list"),
    (Mapping, "a mapping"),
    (type, "a class"),
)
