"""The way back: from components to dictionaries, lists, strings and numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum
from functools import cache
from pathlib import PurePath
from typing import Any

import attrs
import numpy as np

from sgpc_framework.config.structure.wording import value_in_words
from sgpc_framework.errors import ConfigError, PluginError
from sgpc_framework.parts.abilities import has
from sgpc_framework.parts.calls import registry_in_use
from sgpc_framework.plugin.kinds import own_name
from sgpc_framework.plugin.registry import Registry
from sgpc_framework.protocols import PlainOptions

TOP = "the top level"
_WORDS = (type(None), float, int, bool, str)


def plain(value: Any, path: str = "") -> Any:
    """A value as a configuration writes it; a component as a mapping with its name and options.

    An option that is ``None`` by default and still is does not appear: TOML has no word for it.
    """
    if type(value) in _WORDS:
        return value
    if attrs.has(type(value)) or has(value, PlainOptions):
        entries = {key: plain(entry, where) for key, entry, where in _options(value, path)}
        if not _is_part(value):
            return entries
        # One that nobody provides goes by what it calls itself.
        return {"name": registry_in_use().name_of(type(value)) or own_name(type(value))} | entries
    if isinstance(value, Enum):
        return plain(value.value, path)
    if isinstance(value, (np.generic, np.ndarray)):
        return plain(value.tolist(), path)
    if isinstance(value, _WORDS):
        return value
    if isinstance(value, PurePath):
        return str(value)
    if isinstance(value, (set, frozenset)):
        return sorted(plain(entry, path) for entry in value)
    if isinstance(value, (list, tuple)):
        if all(type(entry) is float for entry in value):  # a kernel may have thousands
            return list(value)
        return [plain(entry, where) for _, entry, where in _contents(value, path)]
    if isinstance(value, Mapping):
        return {key: plain(entry, where) for key, entry, where in _contents(value, path)}
    wanted = "wanted plain data or an attrs instance"
    raise ConfigError([f"{wanted}, found {value_in_words(value)} @ {path or TOP}"])


def unregistered(component: Any, registry: Registry, path: str = "") -> Iterator[str]:
    """The parts in a component that a file could not name: ``"problem @ path"`` each."""
    for part, where in _everything(component, path):
        if not _is_part(part):  # or a number would be looked for in every stranger's package
            continue
        provided = registry.provider(type(part))
        if provided is not None:
            try:
                registry.get(provided.kind, registry.name_of(type(part)) or provided.name)
            except PluginError as error:
                yield f"{error} @ {where}"
        else:
            name = type(part).__qualname__
            yield (
                f"wanted a part that a file can name, found {name}, which no plugin provides; "
                f"announce it by an entry point, or pass registry.extended({name}) @ {where}"
            )


def nothings(component: Any) -> Iterator[str]:
    """Where a component says ``None``, which TOML has no word for: ``"problem @ path"`` each."""
    for value, where in _everything(component):
        if value is None:
            yield f"wanted what TOML can write, found None @ {where}"


def _is_part(value: object) -> bool:
    return isinstance(own_name(type(value)), str)


def _everything(value: Any, path: str = "") -> Iterator[tuple[Any, str]]:
    """(value, path) of a value and of all that is in it, however deep."""
    yield value, path or TOP
    for _, entry, where in _contents(value, path):
        yield from _everything(entry, where)


def _contents(value: Any, path: str) -> Iterator[tuple[Any, Any, str]]:
    """(key, entry, path) of what a list or a mapping holds, or a component has to say."""
    if isinstance(value, (list, tuple)):
        value = dict(enumerate(value))
    if isinstance(value, Mapping):
        yield from ((key, entry, f"{path}[{key!r}]") for key, entry in value.items())
    else:
        yield from _options(value, path)


def _options(value: Any, path: str) -> Iterator[tuple[Any, Any, str]]:
    """(key, entry, path) of what a component has to say; nothing of all else."""
    if has(value, PlainOptions):
        options = value.to_options().items()
        yield from ((key, entry, f"{path}.{key}" if path else key) for key, entry in options)
    elif attrs.has(type(value)):
        cls: Any = type(value)
        for name, key, default in _fields(cls):
            entry = getattr(value, name)
            if not (entry is None and default is None):
                yield key, entry, f"{path}.{key}" if path else key


@cache
def _fields(cls: type) -> tuple[tuple[str, str, Any], ...]:
    """(name, key, default) of each field of an attrs class that can be given."""
    fields: tuple[attrs.Attribute[Any], ...] = attrs.fields(cls)
    return tuple((each.name, each.alias or each.name, each.default) for each in fields if each.init)
