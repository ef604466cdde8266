"""Components from what a configuration says of them: a name, or a mapping of options."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import suppress
from typing import Any

import attrs
from cattrs import AttributeValidationNote, ClassValidationError, Converter

from sgpc_framework.config.structure.values import collecting
from sgpc_framework.config.structure.wording import label, refusal
from sgpc_framework.errors import suggestion
from sgpc_framework.parts.abilities import has
from sgpc_framework.parts.options import Option, options_of
from sgpc_framework.plugin.kinds import KINDS, Kind, named
from sgpc_framework.plugin.registry import Registry
from sgpc_framework.protocols import PlainOptions


def add_component_rules(converter: Converter, registry: Registry) -> None:
    """Teach a converter to make attrs classes, and to fill slots with parts of a registry."""
    kinds = {kind.protocol: kind for kind in KINDS.values()}
    converter.register_structure_hook_func(
        lambda type_: isinstance(type_, type) and attrs.has(type_),
        lambda value, cls: _component(value, cls, converter),
    )
    converter.register_structure_hook_func(
        lambda type_: type_ in kinds,
        lambda value, type_: _part(value, kinds[type_], registry, converter),
    )


def instance_only(value: Any, type_: Any) -> Any:
    """The rule for types without a rule: they cannot be written down, only handed over."""
    try:
        fits = isinstance(value, type_)
    except TypeError:  # not a type that isinstance understands: nothing can be checked
        fits = True
    if not fits:
        raise refusal(value, type_)
    return value


def _part(value: Any, kind: Kind, registry: Registry, converter: Converter) -> Any:
    """The part in a slot, given as a name, a mapping with ``name`` and options, or an instance."""
    if isinstance(value, str):
        return _component({}, registry.get(kind.name, value), converter)
    if isinstance(value, Mapping):
        errors: list[Exception] = []
        with collecting(errors, AttributeValidationNote("", "name", str)):
            if "name" not in value:
                raise ValueError(f"wanted the name of {kind.noun}, found none")
            cls = registry.get(kind.name, converter.structure(value["name"], str))
        if errors:
            raise ClassValidationError("in a slot", errors, kind.protocol)
        return _component(value, cls, converter)
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


def _component(value: Any, cls: Any, converter: Converter) -> Any:
    """An instance of a class: the value itself, or made from a mapping of its options."""
    if isinstance(value, cls):
        return value
    if not isinstance(value, Mapping):
        raise refusal(value, cls)
    name = label(cls)
    given = {key: entry for key, entry in value.items() if key != "name" or not _names(entry, cls)}
    if has(cls, PlainOptions):
        try:
            return cls.from_options(given)
        except Exception as error:  # a stranger's, of any kind: the options are what it is about
            text = f"{name} cannot be made of {given!r}: {type(error).__name__}: {error}"
            raise ValueError(text) from error
    options = {option.key: option for option in options_of(cls)}
    keys = dict.fromkeys([*given, *(key for key, option in options.items() if option.required)])
    arguments: dict[str, Any] = {}
    errors: list[Exception] = []
    for key in keys:
        with collecting(errors, AttributeValidationNote("", key, None)):
            if key not in options:
                hint = suggestion(str(key), options) if options else "it has no options"
                raise ValueError(f"wanted an option of {name}, found {key!r}; {hint}")
            if key not in given:
                raise ValueError(f"wanted a value, found none: {name} has no default for it")
            arguments[key] = _argument(given[key], options[key], converter)
    if not errors:
        try:
            return cls(**arguments)
        except Exception as error:  # of one field, or what only __attrs_post_init__ can know
            errors = _complaints(cls, arguments, ()) or [error]
    else:
        errors += _complaints(cls, arguments, keys.keys() - arguments.keys())
    raise ClassValidationError(f"in the options of {name}", errors, cls)


def _names(entry: Any, cls: type) -> bool:
    """Whether a word is the name of a class: alone, or after that of a distribution."""
    return isinstance(entry, str) and entry.rpartition(":")[2] == named(cls)


def _argument(value: Any, option: Option, converter: Converter) -> Any:
    hook, convert = converter.get_structure_hook(option.type), option.field.converter
    if convert is None or isinstance(convert, attrs.Converter):
        return hook(value, option.type)
    # The class itself knows how to make an array, say. (Evolving converts again, too.)
    return convert(value if hook is instance_only else hook(value, option.type))


def _complaints(cls: Any, arguments: Any, undecided: Collection[str]) -> list[Exception]:
    """What the validator of each field says; the constructor itself stops at the first.

    They look at a draft: an instance of a subclass without validators, in which the options that
    are undecided, because enough has been said of them, stay unset.
    """

    def unchecked(_: type, fields: list[Any]) -> list[Any]:
        unset: dict[str, Any] = {"init": False, "default": attrs.NOTHING}
        given = {"kw_only": True}
        return [
            f.evolve(validator=None, **(unset if f.alias in undecided else given)) for f in fields
        ]

    errors: list[Exception] = []
    subclass = type(cls.__name__, (cls,), {"__attrs_post_init__": lambda _: None})
    with suppress(Exception):  # a default that is computed from an undecided option, say
        draft = attrs.define(subclass, field_transformer=unchecked)(**arguments)
        for field in attrs.fields(cls):
            if field.validator is not None and field.alias not in undecided:
                with collecting(errors, AttributeValidationNote("", field.alias, None)):
                    field.validator(draft, field, getattr(draft, field.name))
    # A validator may have asked for what is unset.
    return [e for e in errors if not (undecided and isinstance(e, AttributeError))]
