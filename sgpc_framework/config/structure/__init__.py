"""Components from plain data, strictly, with every problem reported at once.

``structured(data, cls, registry)`` makes an instance of an attrs class, its slots filled with parts
of the registry; ``plain`` is the way back. The work is done by a cattrs converter whose rules are
in ``values`` (numbers, words, lists) and ``components`` (attrs classes and slots).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import attrs
from cattrs import Converter

from sgpc_framework.config.structure.components import (
    instance_only,
    structure_component,
    structure_part,
)
from sgpc_framework.config.structure.plain import nothings, plain, unregistered
from sgpc_framework.config.structure.problems import problems
from sgpc_framework.config.structure.values import add_value_rules
from sgpc_framework.errors import ConfigError
from sgpc_framework.plugin.kinds import KINDS
from sgpc_framework.plugin.registry import Registry

__all__ = ["converter_for", "nothings", "plain", "structured", "unregistered"]

T = TypeVar("T")

MOST_PIECES = 5000
"""A configuration has some dozens of parts and words; each of thousands would be work."""


def structured(data: Any, type_: type[T], registry: Registry) -> T:
    """An object of that type from plain data; ``ConfigError`` with all problems and their paths.

    ``type_`` may be an attrs class or a protocol: ``structured("probit", Likelihood, registry)``.
    """
    if _pieces(data) > MOST_PIECES:
        raise ConfigError([f"wanted at most {MOST_PIECES} parts and words, found more"])
    try:
        return converter_for(registry).structure(data, type_)
    except Exception as error:
        raise ConfigError(problems(error)) from None  # the list says all the tree would


def _pieces(data: Any) -> int:
    """How many mappings and words plain data has: each may be a part. Stops when there are many."""
    count, rest = 0, [data]
    while rest and count <= MOST_PIECES:
        each = rest.pop()
        if isinstance(each, Mapping):
            count += 1
            rest.extend(each.values())
        elif isinstance(each, (list, tuple)):
            rest.extend(entry for entry in each if isinstance(entry, (str, Mapping, list, tuple)))
        else:
            count += isinstance(each, str)
    return count


def converter_for(registry: Registry) -> Converter:
    """A strict cattrs converter that takes parts from a registry."""
    converter = Converter(structure_fallback_factory=lambda _: instance_only)
    add_value_rules(converter)
    converter.register_structure_hook_func(
        lambda type_: isinstance(type_, type) and attrs.has(type_),
        lambda value, cls: structure_component(value, cls, converter),
    )
    kinds = {kind.protocol: kind for kind in KINDS.values()}
    converter.register_structure_hook_func(
        lambda type_: type_ in kinds,
        lambda value, type_: structure_part(value, kinds[type_], registry, converter),
    )
    return converter
