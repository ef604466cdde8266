"""Slots: where a configuration says kernel, likelihood or any other kind of part.

A slot takes a name, a mapping with ``name`` and options, or a ready instance.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs
from cattrs import ClassValidationError, Converter

from sgpc_framework.config.structure.classes import at, structure_fields
from sgpc_framework.config.structure.values import refusal
from sgpc_framework.config.structure.wording import label
from sgpc_framework.errors import PluginError
from sgpc_framework.parts.abilities import has
from sgpc_framework.plugin.kinds import Kind, named
from sgpc_framework.plugin.registry import Registry
from sgpc_framework.protocols import PlainOptions


def structure_part(value: Any, kind: Kind, registry: Registry, converter: Converter) -> Any:
    """The component that a slot asks for."""
    if isinstance(value, str):
        return _made({}, _class(value, kind, registry), converter)
    if isinstance(value, Mapping):
        cls = _named_class(value, kind, registry)
        options = {key: option for key, option in value.items() if key != "name"}
        return _made(options, cls, converter)
    if isinstance(value, type):
        raise TypeError(
            f"wanted {kind.noun}, found the class {value.__qualname__}: "
            f"call it, {value.__qualname__}(...)"
        )
    if kind.has_instance(value):
        return value
    if attrs.has(type(value)):
        lacks = " and no ".join(kind.missing(type(value))) or f"business in the slot {kind.name!r}"
        raise TypeError(
            f"wanted {kind.noun}, found an instance of {type(value).__qualname__}, "
            f"which has no {lacks}"
        )
    raise refusal(value, kind.protocol)


def _made(options: Mapping[Any, Any], cls: Any, converter: Converter) -> Any:
    """An instance of a class with these options; a class may know how to make one itself."""
    name = label(cls)
    if not has(cls, PlainOptions):
        return structure_fields(options, cls, converter)
    try:
        return cls.from_options(options)
    except Exception as error:  # a stranger's, of any kind: the options are what it is about
        text = f"{name} cannot be made of {dict(options)!r}: {type(error).__name__}: {error}"
        raise ValueError(text) from error


def without_name(value: Any, cls: type) -> Any:
    """A mapping without its ``name``, where an option asks for a part of just one class."""
    if isinstance(value, Mapping) and "name" in value and value["name"] == named(cls):
        return {key: option for key, option in value.items() if key != "name"}
    return value


def _named_class(value: Mapping[Any, Any], kind: Kind, registry: Registry) -> type:
    try:
        if "name" not in value:
            raise ValueError(f"wanted the name of {kind.noun}, found none")
        if not isinstance(value["name"], str):
            raise refusal(value["name"], str)
        return _class(value["name"], kind, registry)
    except Exception as error:
        raise ClassValidationError("in a slot", [at("name", error)], kind.protocol) from None


def _class(name: str, kind: Kind, registry: Registry) -> type:
    try:
        return registry.get(kind.name, name)
    except PluginError as error:
        raise ValueError(str(error)) from error
