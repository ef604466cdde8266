"""The way back: from components to dictionaries, lists, strings and numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum
from pathlib import PurePath
from typing import Any

import attrs
import numpy as np

from sgpc_framework.config.structure.problems import TOP
from sgpc_framework.config.structure.wording import found
from sgpc_framework.errors import ConfigError, PluginError
from sgpc_framework.parts.abilities import has
from sgpc_framework.plugin.kinds import named
from sgpc_framework.plugin.registry import Registry
from sgpc_framework.protocols import PlainOptions


def plain(value: Any, path: str = "") -> Any:
    """A value as a configuration writes it; a component as a mapping with its name and options.

    An option that is ``None`` by default and still is does not appear: TOML has no word for it.
    """
    if isinstance(value, Enum):
        return plain(value.value, path)
    if isinstance(value, (np.generic, np.ndarray)):
        return plain(value.tolist(), path)
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, PurePath):
        return str(value)
    if isinstance(value, (set, frozenset)):
        return sorted(plain(entry, path) for entry in value)
    if isinstance(value, (list, tuple)):
        return [plain(entry, f"{path}[{position}]") for position, entry in enumerate(value)]
    if isinstance(value, Mapping):
        return {key: plain(entry, f"{path}[{key!r}]") for key, entry in value.items()}
    if attrs.has(type(value)) or has(value, PlainOptions):
        name = named(type(value))
        head = {"name": name} if isinstance(name, str) else {}
        return head | {key: plain(entry, where) for key, entry, where in _options(value, path)}
    raise ConfigError(
        [f"wanted plain data or an attrs instance, found {found(value)} @ {path or TOP}"]
    )


def _options(component: Any, path: str) -> Iterator[tuple[str, Any, str]]:
    """(key, value, path) of every option of a component that has something to say."""
    if has(component, PlainOptions):
        for key, value in component.to_options().items():
            yield key, value, f"{path}.{key}" if path else key
        return
    cls: Any = type(component)
    for field in attrs.fields(cls) if attrs.has(cls) else ():
        value = getattr(component, field.name)
        if field.init and not (value is None and field.default is None):
            key = field.alias or field.name
            yield key, value, f"{path}.{key}" if path else key


def unregistered(value: Any, registry: Registry, path: str = "") -> Iterator[str]:
    """The components, however deep, that a file could not name: ``"problem @ path"`` each."""
    if isinstance(value, (list, tuple)):
        for position, entry in enumerate(value):
            yield from unregistered(entry, registry, f"{path}[{position}]")
    elif attrs.has(type(value)) or isinstance(named(type(value)), str):
        for _, option, where in _options(value, path):
            yield from unregistered(option, registry, where)
        if isinstance(named(type(value)), str):
            yield from _unregistered_class(type(value), registry, path)


def _unregistered_class(cls: type, registry: Registry, path: str) -> Iterator[str]:
    part = registry.provider(cls)
    if part is None:
        yield (
            f"wanted a part that a file can name, found {cls.__qualname__}, which no plugin "
            "provides; announce it by an entry point, or pass registry.extended"
            f"({cls.__qualname__}) @ {path or TOP}"
        )
        return
    try:
        registry.get(part.kind, part.name)
    except PluginError as error:
        yield f"{error} @ {path or TOP}"


def nothings(data: Any, path: str = "") -> Iterator[str]:
    """Where plain data says ``None``, which TOML has no word for: ``"problem @ path"`` each."""
    if data is None:
        yield f"wanted what TOML can write, found None @ {path}"
    elif isinstance(data, Mapping):
        for key, entry in data.items():
            yield from nothings(entry, f"{path}.{key}" if path else str(key))
    elif isinstance(data, list):
        for position, entry in enumerate(data):
            yield from nothings(entry, f"{path}[{position}]")
