"""Options: what a configuration may say about a component, declared as fields and read back.

They are the arguments of its constructor, so they follow from the attrs fields: a private field
``_depth`` is the option ``depth``, and a field with ``init=False`` is no option at all. The fields
declared here are checked wherever the component is made: a configuration is structured strictly,
but an instance made by hand only meets its validators.
"""

from __future__ import annotations

import math
import sys
from inspect import get_annotations
from types import SimpleNamespace
from typing import Any, get_type_hints

import attrs
from attrs.validators import ge, gt, le, lt

from sgpc_framework import protocols
from sgpc_framework.parts.abilities import has


def whole_number(default: int, at_least: int = 1) -> Any:
    """An attrs field for a count."""
    return attrs.field(default=default, validator=[_whole, ge(at_least)])


def positive_number(default: float) -> Any:
    """An attrs field for a finite number above zero."""
    return attrs.field(default=default, validator=[_real, gt(0.0), lt(math.inf)])


def share(default: float, all_of_it: bool = False) -> Any:
    """An attrs field for a number from zero to one; one itself only if ``all_of_it``."""
    return attrs.field(default=default, validator=[_real, ge(0.0), (le if all_of_it else lt)(1.0)])


def one_of(default: str, *others: str) -> Any:
    """An attrs field for one of a few words."""
    choices = (default, *others)

    def validate(_: Any, field: attrs.Attribute[Any], value: Any) -> None:
        if value not in choices:
            raise ValueError(f"{field.name} must be {' or '.join(choices)}, found {value!r}")

    return attrs.field(default=default, validator=validate)


def _whole(_: Any, field: attrs.Attribute[Any], value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{field.name} must be a whole number, found {value!r}")


def _real(_: Any, field: attrs.Attribute[Any], value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{field.name} must be a number, found {value!r}")


@attrs.frozen
class Option:
    """One option: the key in a configuration, its type and the attrs field behind it."""

    key: str
    type: Any
    field: attrs.Attribute[Any]

    @property
    def required(self) -> bool:
        """Whether there is no default."""
        return self.field.default is attrs.NOTHING


def options_of(cls: type) -> tuple[Option, ...]:
    """The options of an attrs class in the order of its fields, with string annotations resolved.

    A class that says its options itself (``PlainOptions``) has none that could be listed here.
    Raises ``TypeError`` if an annotation cannot be resolved.
    """
    if has(cls, protocols.PlainOptions):
        return ()
    return tuple(
        Option(field.alias or field.name, _resolve_type(cls, field), field)
        for field in attrs.fields(cls)
        if field.init
    )


def _resolve_type(cls: type, field: attrs.Attribute[Any]) -> Any:
    """The type of one field. Other annotations of the class are nobody's business here."""
    if field.type is None:
        return Any
    owner = next((base for base in cls.__mro__ if field.name in get_annotations(base)), cls)
    known = vars(sys.modules[owner.__module__])
    annotated: Any = SimpleNamespace(__annotations__={field.name: field.type})
    # Second try: linters like to move the imports of protocols under ``if TYPE_CHECKING``.
    for names in (known, {**vars(protocols), **known}):
        try:
            return get_type_hints(annotated, names, dict(vars(owner)), include_extras=True)[
                field.name
            ]
        except NameError as error:
            failure: Exception = error
        except Exception as error:
            failure = error
            break
    raise TypeError(
        f"the type {field.type!r} of {cls.__name__}.{field.name} cannot be resolved ({failure}): "
        "import what it names at the top of the module, not under TYPE_CHECKING"
    )
