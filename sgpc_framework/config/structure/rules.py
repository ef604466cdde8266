"""Strict rules: what is not exactly of the type is refused, never converted.

Left to itself cattrs turns 7.9 into 7, "false" into True and "abc" into ["a", "b", "c"]. The one
liberty taken here is that an integer may stand for a number, because 4 and 4.0 are the same in
everybody's eyes. numpy's numbers and one-dimensional arrays count as numbers and lists.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from difflib import get_close_matches
from enum import Enum
from types import NoneType
from typing import Any, Literal, Union, get_args, get_origin

import attrs
import numpy as np
from cattrs import AttributeValidationNote as OptionNote
from cattrs import ClassValidationError, Converter, IterableValidationError
from cattrs import IterableValidationNote as EntryNote
from cattrs.gen import make_mapping_structure_fn

from sgpc_framework.config.structure import wording
from sgpc_framework.config.structure.wording import plain_type, refusal, shape
from sgpc_framework.errors import suggestion
from sgpc_framework.parts.abilities import has
from sgpc_framework.parts.options import Option, options_of
from sgpc_framework.plugin.kinds import Kind, own_name
from sgpc_framework.plugin.registry import Registry
from sgpc_framework.protocols import PlainOptions


class StrictConverter(Converter):
    """A converter with the rules of this module, which fills slots with parts of a registry."""

    def __init__(self, registry: Registry) -> None:
        super().__init__(structure_fallback_factory=lambda _: _instance)
        self.registry = registry
        self.register_structure_hook_func(lambda type_: shape(type_) in _RULES, self._apply)
        for type_ in (*_SCALARS, Enum):  # for which the rules of cattrs would come first
            self.register_structure_hook(type_, self._apply)

    def _apply(self, value: Any, type_: Any) -> Any:
        return _RULES[shape(type_)](value, type_, self)


@contextmanager
def _collecting(errors: list[Exception], note: str) -> Iterator[None]:
    """Put an error into a list instead of raising it, with a note of where it was."""
    try:
        yield
    except Exception as error:
        error.add_note(note)
        errors.append(error)


# ---------------------------------------------------------------------------------------------
# Values


def _scalar(value: Any, type_: Any, _: object) -> Any:
    scalar = shape(type_)
    if plain_type(value) not in ((int, float) if scalar is float else (scalar,)):
        raise refusal(value, type_)
    with suppress(OverflowError):  # an integer that no float can hold
        if scalar not in (int, float) or math.isfinite(value):
            return None if value is None else scalar(value)
    raise ValueError(f"wanted a finite number, found {wording.short_repr(value)}")


def _choice(value: Any, type_: Any, _: object) -> Any:
    words = wording.choices(type_)
    for word, choice in words:
        if value is choice or (type(value) is type(word) and value == word):  # 1 is not True
            return choice
    if isinstance(value, str) and (near := get_close_matches(value, [str(w) for w, _ in words])):
        raise ValueError(f"{refusal(value, type_)}; did you mean {near[0]!r}?")
    raise refusal(value, type_)


def _list(value: Any, type_: Any, converter: Converter) -> Any:
    entries = value.tolist() if isinstance(value, np.ndarray) else value
    if plain_type(entries) is not list:
        raise refusal(value, type_)
    build, types = get_origin(type_) or type_, get_args(type_) or (Any, ...)
    if build is not tuple or types[1:] == (...,):
        types = types[:1] * len(entries)
    if len(types) != len(entries):
        raise ValueError(f"wanted a list of {len(types)} entries, found {len(entries)}")
    results, errors = [], list[Exception]()
    for index, (entry, each) in enumerate(zip(entries, types, strict=True)):
        with _collecting(errors, EntryNote("", index, each)):
            results.append(converter.structure(entry, each))
    if errors:
        raise IterableValidationError("in a list", errors, type_)
    return (build if build in (list, set, frozenset) else tuple)(results)


def _mapping(value: Any, type_: Any, converter: Converter) -> Any:
    if plain_type(value) is not dict:
        raise refusal(value, type_)
    return make_mapping_structure_fn(type_, converter, dict)(value, type_)


def _union(value: Any, type_: Any, converter: Converter) -> Any:
    """What the first member that takes the value makes of it.

    If none does, the best report is that of a member whose type the value had (a list with one bad
    entry, a number that is not finite); only if there is no such member is the type to blame.
    """
    close: list[Exception] = []
    for member in get_args(type_):
        try:
            return converter.structure(value, member)
        except TypeError:
            continue
        except Exception as error:
            close.append(error)
    raise close[0] if close else refusal(value, type_)


def _instance(value: Any, type_: Any) -> Any:
    """The rule for types without a rule: they cannot be written down, only handed over."""
    try:
        fits = isinstance(value, type_)
    except TypeError:  # not a type that isinstance understands: nothing can be checked
        fits = True
    if not fits:
        raise refusal(value, type_)
    return value


# ---------------------------------------------------------------------------------------------
# Parts and other components


def _part(value: Any, type_: Any, converter: StrictConverter) -> Any:
    """The part in a slot, given as a name, a mapping with ``name`` and options, or an instance."""
    kind, registry = wording.SLOTS[type_], converter.registry
    if isinstance(value, str):
        return _component({}, registry.get(kind.name, value), converter)
    if isinstance(value, Mapping):
        errors: list[Exception] = []
        with _collecting(errors, OptionNote("", "name", str)):
            if "name" not in value:
                raise ValueError(f"wanted the name of {kind.noun}, found none")
            cls = registry.get(kind.name, converter.structure(value["name"], str))
        if errors:
            raise ClassValidationError("in a slot", errors, type_)
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
    raise refusal(value, type_)


def _component(value: Any, cls: Any, converter: Converter) -> Any:
    """An instance of a class: the value itself, or made from a mapping of its options."""
    if isinstance(value, cls):
        return value
    if not isinstance(value, Mapping):
        raise refusal(value, cls)
    name, given = wording.label(cls), dict(value)
    if str(given.get("name")).rpartition(":")[2] == own_name(cls):
        del given["name"]
    if has(cls, PlainOptions):
        try:
            return cls.from_options(given)
        except Exception as error:  # a stranger's, of any kind: the options are what it is about
            reason = f"{type(error).__name__}: {error}"
            raise ValueError(f"{name} cannot be made of {given!r}: {reason}") from error
    options = {option.key: option for option in options_of(cls)}
    arguments: dict[str, Any] = {}
    errors: list[Exception] = []
    for key in {**options, **given}:
        with _collecting(errors, OptionNote("", key, None)):
            if key not in options:
                hint = suggestion(str(key), options) if options else "it has no options"
                raise ValueError(f"wanted an option of {name}, found {key!r}; {hint}")
            if key in given:
                arguments[key] = _argument(given[key], options[key], converter)
            elif options[key].required:
                raise ValueError(f"wanted a value, found none: {name} has no default for it")
    if not errors:
        try:
            return cls(**arguments)
        except Exception as error:  # of one field, or what only __attrs_post_init__ can know
            draft = object.__new__(cls)
            with suppress(Exception):  # every field is set before the first validator is asked
                draft.__init__(**arguments)
            errors = _complaints(draft) or [error]
    else:
        draft = object.__new__(cls)
        for key, argument in arguments.items():
            object.__setattr__(draft, options[key].field.name, argument)
        errors += _complaints(draft)
    raise ClassValidationError(f"in the options of {name}", errors, cls)


def _argument(value: Any, option: Option, converter: Converter) -> Any:
    hook, convert = converter.get_structure_hook(option.type), option.field.converter
    if convert is None or isinstance(convert, attrs.Converter):
        return hook(value, option.type)
    # The class itself knows how to make an array, say. (Evolving converts again, too.)
    return convert(value if hook is _instance else hook(value, option.type))


def _complaints(draft: Any) -> list[Exception]:
    """What the validator of each field says; the constructor itself stops at the first.

    A draft may lack fields that were refused: enough has been said of them.
    """
    errors: list[Exception] = []
    for field in attrs.fields(type(draft)):
        with _collecting(errors, OptionNote("", field.alias, None)), suppress(AttributeError):
            if field.validator is not None:  # who may ask for what the draft lacks
                field.validator(draft, field, getattr(draft, field.name))
    return errors


_SCALARS = (bool, int, float, str, NoneType)
_RULES: dict[Any, Any] = dict.fromkeys(_SCALARS, _scalar)
_RULES |= {Literal: _choice, list: _list, dict: _mapping, Union: _union}
_RULES |= {Kind: _part, attrs: _component}
