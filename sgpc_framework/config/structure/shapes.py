"""Which annotations are unions, sequences and mappings."""

from __future__ import annotations

import collections.abc
from types import UnionType
from typing import Any, Union, get_origin

SEQUENCES: dict[Any, type] = {
    tuple: tuple,
    list: list,
    collections.abc.Sequence: tuple,
    set: set,
    frozenset: frozenset,
}
"""The types that are written as a list, and what becomes of the list."""


def is_union(type_: Any) -> bool:
    """``A | B``, ``Union[A, B]`` and ``Optional[A]``."""
    return get_origin(type_) in (Union, UnionType)


def is_sequence(type_: Any) -> bool:
    """Tuples, lists and sets, with or without the type of their entries."""
    return (get_origin(type_) or type_) in SEQUENCES


def is_mapping(type_: Any) -> bool:
    """Dictionaries, with or without the types of their keys and values."""
    return (get_origin(type_) or type_) in (dict, collections.abc.Mapping)
