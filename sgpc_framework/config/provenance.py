"""How a model was made: the configuration of its fit as plain data, and who provided the parts.

A model predicts without any of it. It is kept for people, who want to know, and to fit again. So it
never stands in the way: a part that no plugin provides, a notebook's own selector say, is known by
its name and its class only.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from sgpc_framework.config.config import Config
from sgpc_framework.config.structure import plain, unregistered
from sgpc_framework.errors import ConfigError
from sgpc_framework.parts.calls import registry_in_use
from sgpc_framework.parts.hyperparameters import parts_of
from sgpc_framework.plugin.kinds import KINDS
from sgpc_framework.plugin.registry import Registry, default_registry


@attrs.frozen
class Source:
    """A part that was used, and the distribution that it came with."""

    slot: str
    name: str
    distribution: str
    version: str


@attrs.frozen
class Provenance:
    """``config`` has every setting and every slot; ``build(config)`` makes the design again.

    A slot whose part cannot be named in a file is ``{"name": ..., "class": ...}``, from which
    nothing can be built. ``registry`` is where the parts were looked up, None for the plugins that
    are installed: a model is saved with it, and its errors name providers from it, but no file has
    it.
    """

    config: Mapping[str, Any]
    parts: tuple[Source, ...]
    registry: Registry | None = attrs.field(default=None, eq=False, repr=False)

    @classmethod
    def of(cls, config: Config, registry: Registry | None = None) -> Provenance:
        """What there is to say about a configuration; by default from the registry in use."""
        registry = registry or registry_in_use()
        settings = {field.name: getattr(config, field.name) for field in attrs.fields(Config)}
        described = {
            key: _describe(value, registry) if key in KINDS else plain(value)
            for key, value in settings.items()
        }
        own = None if registry is default_registry() else registry
        return cls(described, tuple(_sources(config, registry)), own)


def _describe(part: Any, registry: Registry) -> dict[str, Any]:
    known: dict[str, Any]
    try:
        known = plain(part)
        json.dumps(known, allow_nan=False)
        nameless = any(unregistered(part, registry))
    except (ConfigError, TypeError, ValueError):
        nameless = True
    cls = type(part)
    named = {"name": part.name, "class": f"{cls.__module__}.{cls.__qualname__}"}
    return named if nameless else known


def _sources(config: Config, registry: Registry) -> Iterator[Source]:
    for slot in KINDS:
        providers = map(registry.provider, map(type, parts_of(getattr(config, slot))))
        yield from dict.fromkeys(
            Source(slot, part.name, part.distribution, part.version) for part in providers if part
        )
