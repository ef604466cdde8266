"""Components from what a configuration says of them: a name, or a mapping of options."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs
from cattrs import AttributeValidationNote, ClassValidationError, Converter

from sgpc_framework.config.structure.problems import attempted, complaints
from sgpc_framework.config.structure.wording import label, refusal
from sgpc_framework.errors import suggestion
from sgpc_framework.parts.abilities import has
from sgpc_framework.parts.options import Option, options_of
from sgpc_framework.plugin.kinds import Kind, named
from sgpc_framework.plugin.registry import Registry
from sgpc_framework.protocols import PlainOptions


def structure_part(value: Any, kind: Kind, registry: Registry, converter: Converter) -> Any:
    """The part in a slot, given as a name, a mapping with ``name`` and options, or an instance."""
    if isinstance(value, str):
        return structure_component({}, registry.get(kind.name, value), converter)
    if isinstance(value, Mapping):
        return structure_component(value, _named_class(value, kind, registry), converter)
    if isinstance(value, type):
        name = value.__qualname__
        raise TypeError(f"wanted {kind.noun}, found the class {name}: call it, {name}(...)")
    if kind.has_instance(value):
        return value
    if attrs.has(type(value)):
        lacks = " and no ".join(kind.missing(type(value))) or f"business in the slot {kind.name!r}"
        name = type(value).__qualname__
        raise TypeError(f"wanted {kind.noun}, found an instance of {name}, which has no {lacks}")
    raise refusal(value, kind.protocol)


def _named_class(value: Mapping[Any, Any], kind: Kind, registry: Registry) -> type:
    try:
        if "name" not in value:
            raise ValueError(f"wanted the name of {kind.noun}, found none")
        if not isinstance(value["name"], str):
            raise refusal(value["name"], str)
        return registry.get(kind.name, value["name"])
    except Exception as error:
        error.add_note(AttributeValidationNote("", "name", str))
        raise ClassValidationError("in a slot", [error], kind.protocol) from None


def _names(entry: Any, cls: type) -> bool:
    """Whether a word is the name of a class: alone, or after that of a distribution."""
    return isinstance(entry, str) and entry.rpartition(":")[2] == named(cls)


def structure_component(value: Any, cls: type, converter: Converter) -> Any:
    """An instance of a class: the value itself, or made from a mapping of its options."""
    if isinstance(value, cls):
        return value
    if not isinstance(value, Mapping):
        raise refusal(value, cls)
    given = {key: entry for key, entry in value.items() if key != "name" or not _names(entry, cls)}
    if has(cls, PlainOptions):
        return _self_made(cls, given)
    options = {option.key: option for option in options_of(cls)}

    def structure(key: Any, option: Option | None) -> Any:
        if option is None:
            hint = suggestion(str(key), options) if options else "it has no options"
            raise ValueError(f"wanted an option of {label(cls)}, found {key!r}; {hint}")
        if key not in given:
            raise ValueError(f"wanted a value, found none: {label(cls)} has no default for it")
        hook, convert = converter.get_structure_hook(option.type), option.field.converter
        if convert is None or isinstance(convert, attrs.Converter):
            return hook(given[key], option.type)
        # The class itself knows how to make an array, say. (Evolving converts again, too.)
        return convert(given[key] if hook is instance_only else hook(given[key], option.type))

    required = [key for key, option in options.items() if option.required]
    keys = ((key, key, options.get(key)) for key in dict.fromkeys([*given, *required]))
    arguments, errors = attempted(keys, structure, AttributeValidationNote)
    refusals: list[Exception] = []
    if not errors:
        try:
            return cls(**arguments)
        except Exception as error:  # of one field, or what only __attrs_post_init__ can know
            refusals.append(error)
    errors += complaints(cls, arguments, undecided={*given, *required} - {*arguments})
    raise ClassValidationError(f"in the options of {label(cls)}", errors or refusals, cls)


def _self_made(cls: Any, options: Mapping[Any, Any]) -> Any:
    """An instance of a class that makes one of options itself."""
    try:
        return cls.from_options(options)
    except Exception as error:  # a stranger's, of any kind: the options are what it is about
        text = f"{label(cls)} cannot be made of {dict(options)!r}: {type(error).__name__}: {error}"
        raise ValueError(text) from error


def instance_only(value: Any, type_: Any) -> Any:
    """The rule for types without a rule: they cannot be written down, only handed over."""
    try:
        if isinstance(value, type_):
            return value
    except TypeError:  # not a type that isinstance understands: nothing can be checked
        return value
    raise refusal(value, type_)
