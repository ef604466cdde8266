"""Types and values in the words of error texts: "wanted an integer, found 7.9 (a number)"."""

from __future__ import annotations

import reprlib
from collections.abc import Mapping, Sequence
from enum import Enum
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

import attrs
import numpy as np

from sgpc_framework.plugin.kinds import KINDS, Kind, own_name

_NOUNS: dict[Any, tuple[Any, str]] = {  # the first that fits: a bool is also an int
    NoneType: (NoneType, "nothing"),
    bool: ((bool, np.bool_), "a boolean"),
    int: (Integral, "an integer"),
    float: (Real, "a number"),
    str: (str, "a string"),
    list: ((list, tuple, np.ndarray), "a list"),
    dict: (Mapping, "a mapping"),
    type: (type, "a class"),
}
_SHAPES = {type_: type_ for type_ in _NOUNS} | {Mapping: dict, UnionType: Union}
_SHAPES |= dict.fromkeys((tuple, set, frozenset, Sequence), list)
SLOTS = {kind.protocol: kind for kind in KINDS.values()}


def shape(type_: Any) -> Any:
    """What is written for a type: ``list`` for every tuple, ``Literal`` for every choice, ``Kind``
    for what fills a slot, ``attrs`` for a class of options."""
    origin = get_origin(type_) or type_
    bases = getattr(origin, "__mro__", (origin,))
    if origin in SLOTS:
        return Kind
    if Enum in bases:  # one of strings is a choice, not a string
        return Literal
    return attrs if attrs.has(origin) else next((_SHAPES[b] for b in bases if b in _SHAPES), origin)


def plain_type(value: object) -> Any:
    """What a value is written as, whatever numpy calls it; its own type if it cannot be."""
    fitting = (plain for plain, (types, _) in _NOUNS.items() if isinstance(value, types))
    return next(fitting, type(value))


def choices(type_: Any) -> list[tuple[Any, Any]]:
    """(what is written, what it stands for) of each choice of a ``Literal`` or an ``Enum``."""
    return [(getattr(entry, "value", entry), entry) for entry in get_args(type_) or type_]


def type_in_words(type_: Any) -> str:
    """What a type asks for.

    >>> type_in_words(float | tuple[float, ...] | str)
    'a number, a list of numbers or a string'
    """
    form = shape(type_)
    if form is bool:
        return "true or false"
    if form is list:
        nouns = {_noun(shape(entry)) for entry in get_args(type_) if entry is not ...}
        common = nouns.pop() if len(nouns) == 1 else ""
        return f"a list of {common.split()[-1]}s" if common else "a list"
    if form is Union:
        *most, last = map(type_in_words, get_args(type_))
        return f"{', '.join(most)} or {last}"
    if form is Literal:
        return " or ".join(repr(word) for word, _ in choices(type_))
    if form is Kind:
        return f"{SLOTS[type_].noun} (a name, a mapping with 'name' and options, or an instance)"
    if form is attrs:
        return f"a mapping with the options of {label(type_)}"
    return _noun(form) or f"an instance of {getattr(type_, '__name__', type_)}"


def label(cls: type) -> str:
    """The name of a part, else that of its class."""
    name = own_name(cls)
    return name if isinstance(name, str) else cls.__name__


def value_in_words(value: object) -> str:
    """A value with its type.

    >>> value_in_words("false")
    "'false' (a string)"
    """
    noun = _noun(plain_type(value)) or f"an object of type {type(value).__name__}"
    return f"{short_repr(value)} ({noun})"


def short_repr(value: object) -> str:
    """A value, shortened."""
    try:
        return reprlib.repr(value)
    except ValueError:  # Python prints no number of more than 4300 digits
        return "a number of too many digits"


def refusal(value: object, type_: Any) -> TypeError:
    """The error for a value of the wrong type; of the right type but unfit is a ``ValueError``."""
    return TypeError(f"wanted {type_in_words(type_)}, found {value_in_words(value)}")


def _noun(plain: Any) -> str:
    return _NOUNS[plain][1] if plain in _NOUNS else ""
