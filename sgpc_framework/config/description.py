"""What can be told of a part without using it: its formula, options, abilities and origin."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import attrs

from sgpc_framework.config.structure import plain
from sgpc_framework.config.structure.wording import wanted
from sgpc_framework.parts.hyperparameters import declaration
from sgpc_framework.parts.options import Option, options_of
from sgpc_framework.plugin.records import Part
from sgpc_framework.protocols import (
    KernelInputPullback,
    KernelPullback,
    LikelihoodPullback,
    LogEvidence,
    ScoresCandidates,
    SelectsWithMemory,
    StartsFromData,
    Subsampled,
)


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


def described(part: Part) -> Description:
    """Everything ``sgpc describe`` says of a part."""
    options = options_of(part.cls)
    return Description(
        part.kind,
        part.name,
        inspect.getdoc(part.cls) or "",
        tuple(map(_option, options)),
        dict(_abilities(part, any(declaration(option.field) for option in options))),
        f"{part.cls.__module__}.{part.cls.__qualname__}",
        *attrs.astuple(part.origin),
    )


# ---------------------------------------------------------------------------------------------
# Options


def _option(option: Option) -> OptionDescription:
    tunable = declaration(option.field)
    return OptionDescription(
        option.key,
        wanted(option.type),
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


# ---------------------------------------------------------------------------------------------
# Abilities


def _abilities(part: Part, tunable: bool) -> Iterator[tuple[str, str]]:
    """What the engine would find by ``isinstance``, asked of the class."""
    cls = part.cls
    if part.kind == "kernel":
        yield "gradients", _gradients(tunable, has_ability(cls, KernelPullback))
        yield "input gradients", _yes(has_ability(cls, KernelInputPullback))
        yield "starts from data", _yes(has_ability(cls, StartsFromData))
    elif part.kind == "likelihood":
        yield "gradients", _gradients(tunable, has_ability(cls, LikelihoodPullback))
        yield "log Z alone", "computed faster" if has_ability(cls, LogEvidence) else "as a moment"
        yield "starts from data", _yes(has_ability(cls, StartsFromData))
    elif part.kind == "selector":
        own = has_ability(cls, ScoresCandidates)
        yield "ranks candidates by", "its own score" if own else "NLP over all rows (eq. 5)"
        yield "remembers", _yes(has_ability(cls, SelectsWithMemory))
    elif part.kind == "objective":
        yield "judges by some rows", _yes(has_ability(cls, Subsampled))


def _gradients(tunable: bool, exact: bool) -> str:
    if exact:
        return "exact (pullback)"
    return "numerical (central differences)" if tunable else "not needed (no hyperparameters)"


def _yes(answer: bool) -> str:
    return "yes" if answer else "no"


def has_ability(cls: type, ability: Any) -> bool:
    """Whether instances of a class have an ability. (``issubclass`` refuses properties.)"""
    present = {name for base in cls.__mro__ for name in vars(base)}
    fields = {field.name for field in attrs.fields(cls)} if attrs.has(cls) else set()
    return all(name in present | fields for name in vars(ability) if not name.startswith("_"))
