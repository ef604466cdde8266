"""What can be told of a part without using it: its formula, options, abilities and origin."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import attrs

from sgpc_framework.config.structure import plain
from sgpc_framework.config.structure.wording import type_in_words
from sgpc_framework.parts.abilities import answers, has
from sgpc_framework.parts.hyperparameters import declaration, hyperparameters
from sgpc_framework.parts.options import Option, options_of
from sgpc_framework.plugin.records import Part
from sgpc_framework.protocols import PlainOptions


@attrs.frozen
class OptionDescription:
    """One option as a configuration sees it. Bounds and transform belong to hyperparameters."""

    name: str
    type: str
    required: bool
    default: Any = None
    bounds: tuple[float, float] | None = None
    transform: str | None = None
    limits: str | None = None


@attrs.frozen
class Description:
    """A part, described: ``abilities`` maps what one may ask of it to the answer."""

    kind: str
    name: str
    documentation: str
    options: tuple[OptionDescription, ...]
    abilities: dict[str, str]
    implementation: str
    distribution: str
    version: str
    entry_point: str


def describe(part: Part) -> Description:
    """Everything ``sgpc describe`` says of a part."""
    foreign = has(part.cls, PlainOptions)
    options = _own_options(part.cls) if foreign else tuple(map(_option, options_of(part.cls)))
    return Description(
        part.kind,
        part.name,
        inspect.getdoc(part.cls) or "",
        options,
        answers(part.kind, part.cls, tuned=any(option.transform for option in options)),
        f"{part.cls.__module__}.{part.cls.__qualname__}",
        *attrs.astuple(part.origin),
    )


# ---------------------------------------------------------------------------------------------
# Options


def _option(option: Option) -> OptionDescription:
    tunable = declaration(option.field)
    return OptionDescription(
        option.key,
        type_in_words(option.type),
        option.required,
        _default(option.field),
        tunable.bounds if tunable else None,
        tunable.transform if tunable else None,
        _limits(option.field.validator),
    )


def _default(field: attrs.Attribute[Any]) -> Any:
    """The default as plain data; ``None`` if there is none, or if it depends on other options."""
    default: Any = field.default
    if isinstance(default, attrs.Factory):  # type: ignore[arg-type]  # a class at run time
        default = None if default.takes_self else default.factory()
    return None if default is attrs.NOTHING else plain(default)


def _own_options(cls: Any) -> tuple[OptionDescription, ...]:
    """The options that a part with its defaults says itself; none if it cannot be made."""
    try:
        part = cls.from_options({})
        options = dict(part.to_options())
    except Exception:  # a stranger's: a description is no place to complain
        return ()
    tuned = {number.field: number for number in hyperparameters(part)}
    return tuple(
        OptionDescription(
            key,
            type_in_words(list if isinstance(value, tuple) else type(value)),
            False,
            plain(value),
            tuned[key].bounds if key in tuned else None,
            tuned[key].transform if key in tuned else None,
        )
        for key, value in options.items()
    )


_Comparison: Any = type(attrs.validators.ge(0))
_Both: Any = type(attrs.validators.and_())


def _limits(validator: Any) -> str | None:
    """The comparisons among attrs' validators, such as ">= 1"; ``None`` if there are none."""
    return ", ".join(_comparisons(validator)) or None


def _comparisons(validator: Any) -> Iterator[str]:
    if isinstance(validator, _Both):
        for each in validator._validators:
            yield from _comparisons(each)
    elif isinstance(validator, _Comparison):
        yield f"{validator.compare_op} {validator.bound}"
