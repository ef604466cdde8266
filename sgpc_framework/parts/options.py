"""The options of a component: what a configuration may say about it.

They are the arguments of its constructor, so they follow from the attrs fields: a private field
``_depth`` is the option ``depth``, and a field with ``init=False`` is no option at all.
"""

from __future__ import annotations

import sys
from inspect import get_annotations
from types import SimpleNamespace
from typing import Any, get_type_hints

import attrs

from sgpc_framework import protocols


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

    Raises ``TypeError`` if an annotation cannot be resolved.
    """
    return tuple(
        Option(field.alias or field.name, _resolved(cls, field), field)
        for field in attrs.fields(cls)
        if field.init
    )


def _resolved(cls: type, field: attrs.Attribute[Any]) -> Any:
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
