"""Components from plain data, strictly, with every problem reported at once; and the way back.

``structured(data, cls, registry)`` makes an instance of an attrs class, its slots filled with parts
of the registry, by the rules in ``rules``; ``plain`` is the way back.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from cattrs import transform_error

from sgpc_framework.config.structure.plain import TOP, nothings, plain, unregistered
from sgpc_framework.config.structure.rules import StrictConverter
from sgpc_framework.errors import ConfigError, SgpcError
from sgpc_framework.plugin.registry import Registry

__all__ = ["nothings", "plain", "structured", "unregistered"]

T = TypeVar("T")

MOST_PIECES = 5000
"""A configuration has some dozens of parts and words; each of thousands would be work."""

DEEPEST = 100
"""Parts of parts have lists and mappings in each other; Python cannot follow them for ever."""


def structured(data: Any, type_: type[T], registry: Registry) -> T:
    """An object of that type from plain data; ``ConfigError`` with all problems and their paths.

    ``type_`` may be an attrs class or a protocol: ``structured("probit", Likelihood, registry)``.
    """
    try:
        if _pieces(data) > MOST_PIECES:
            raise ValueError(f"wanted at most {MOST_PIECES} parts and words, found more")
        return StrictConverter(registry).structure(data, type_)
    except Exception as error:
        problems = [text.replace(f"@ {TOP}.", "@ ") for text in transform_error(error, TOP, _text)]
        raise ConfigError(problems) from None  # the list says all the tree would


def _pieces(data: Any, depth: int = 0) -> int:
    """How many mappings and words plain data has: each may be a part."""
    if not isinstance(data, (Mapping, list, tuple)):
        return isinstance(data, str)
    if depth > DEEPEST:
        raise ValueError(f"wanted lists and mappings at most {DEEPEST} deep, found deeper ones")
    if isinstance(data, Mapping):
        return 1 + sum(_pieces(entry, depth + 1) for entry in data.values())
    return sum(_pieces(entry, depth + 1) for entry in data)


def _text(error: BaseException, _: object) -> str:
    """What an exception says. Validators of attrs put more than the text into its arguments."""
    said = str(error.args[0]) if error.args else ""
    explains_itself = isinstance(error, (ValueError, TypeError, SgpcError))
    return said if said and explains_itself else f"{type(error).__name__}: {said}"
