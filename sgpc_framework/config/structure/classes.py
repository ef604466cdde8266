"""Attrs classes from mappings: every option is checked, and every problem is found.

attrs stops at the first validator that complains. A configuration is better served by hearing all
complaints at once, so the validators are first run one by one on a *draft*: an object of the class
whose fields have been set without running its constructor.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

import attrs
from cattrs import AttributeValidationNote, ClassValidationError, Converter

from sgpc_framework.config.structure.values import refusal
from sgpc_framework.config.structure.wording import label
from sgpc_framework.errors import suggestion
from sgpc_framework.parts.options import Option, options_of


def at(key: object, error: Exception) -> Exception:
    """The error, marked with the option it is about."""
    error.add_note(AttributeValidationNote("", str(key), None))
    return error


def structure_fields(value: Any, cls: type, converter: Converter) -> Any:
    """An instance of an attrs class: the value itself, or made from a mapping of its options."""
    if isinstance(value, cls):
        return value
    if not isinstance(value, Mapping):
        raise refusal(value, cls)
    options = options_of(cls)
    arguments: dict[str, Any] = {}
    errors = list(_unknown(value, cls, options))
    for option in options:
        try:
            if option.key in value:
                arguments[option.key] = _structured(value[option.key], option, converter)
            elif option.required:
                raise ValueError(f"wanted a value, found none: {label(cls)} has no default for it")
        except Exception as error:
            errors.append(at(option.key, error))
    errors += _complaints(cls, arguments, undecided={*value} - {*arguments})
    if not errors:
        try:
            return cls(**arguments)
        except Exception as error:  # what no single field could know: __attrs_post_init__
            errors.append(error)
    raise ClassValidationError(f"in the options of {label(cls)}", errors, cls)


def _unknown(
    value: Mapping[Any, Any], cls: type, options: tuple[Option, ...]
) -> Iterator[Exception]:
    known = [option.key for option in options]
    for key in value:
        if key not in known:
            hint = suggestion(str(key), known) if known else "it has no options"
            yield at(key, ValueError(f"wanted an option of {label(cls)}, found {key!r}; {hint}"))


def _structured(value: Any, option: Option, converter: Converter) -> Any:
    hook = converter.get_structure_hook(option.type)
    if hook is instance_only and option.field.converter is not None:
        return value  # an array, say: the class itself knows how to make one
    return hook(value, option.type)


def instance_only(value: Any, type_: Any) -> Any:
    """The rule for types without a rule: they cannot be written down, only handed over."""
    try:
        if isinstance(value, type_):
            return value
    except TypeError:  # not a type that isinstance understands: nothing can be checked
        return value
    raise refusal(value, type_)


def _complaints(
    cls: type, arguments: Mapping[str, Any], undecided: Collection[str]
) -> Iterator[Exception]:
    """What converters and validators say of each field by itself."""
    draft: object = object.__new__(cls)
    assigned = []
    complaints = []
    for field in attrs.fields(cls):
        try:
            if _key(field) not in undecided and _assign(draft, field, arguments):
                assigned.append(field)
        except Exception as error:
            complaints.append((field, error))
    for field in assigned:
        try:
            if field.validator is not None:
                field.validator(draft, field, getattr(draft, field.name))
        except Exception as error:
            complaints.append((field, error))
    complete = len(assigned) == len(attrs.fields(cls))
    for field, complaint in complaints:
        # It may have looked at another field that is missing for reasons already reported.
        if complete or not isinstance(complaint, AttributeError):
            yield at(_key(field), complaint)


def _key(field: attrs.Attribute[Any]) -> str:
    return field.alias or field.name


def _assign(draft: object, field: attrs.Attribute[Any], arguments: Mapping[str, Any]) -> bool:
    """Set a field as the constructor would; False if it has no value yet."""
    default: Any = field.default
    if field.init and _key(field) in arguments:
        value = arguments[_key(field)]
    elif default is attrs.NOTHING:
        return False
    elif isinstance(default, attrs.Factory):  # type: ignore[arg-type]
        value = default.factory(draft) if default.takes_self else default.factory()
    else:
        value = default
    convert: Any = field.converter
    if convert is not None:
        wants_more = isinstance(convert, attrs.Converter)
        value = convert(value, draft, field) if wants_more else convert(value)
    object.__setattr__(draft, field.name, value)
    return True
