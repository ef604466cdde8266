"""Problems: every one is collected, and told with its path as ``"problem @ path"``."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

import attrs
from cattrs import AttributeValidationNote, transform_error

from sgpc_framework.errors import SgpcError

TOP = "the top level"


def problems(error: Exception) -> list[str]:
    """Every problem in the tree of errors that cattrs makes."""
    return [text.replace(f" @ {TOP}.", " @ ") for text in transform_error(error, TOP, _text)]


def _text(error: BaseException, _: object) -> str:
    """What an exception says. Validators of attrs put more than the text into its arguments."""
    said = str(error.args[0]) if error.args else ""
    explains_itself = isinstance(error, (ValueError, TypeError, SgpcError))
    return said if said and explains_itself else f"{type(error).__name__}: {said}"


def attempted(
    entries: Iterable[tuple[Any, Any, Any]],
    structure: Callable[[Any, Any], Any],
    note: Callable[[str, Any, Any], str],
) -> tuple[dict[Any, Any], list[Exception]]:
    """What is made of each (key, value, type), and all errors, each with a note of its key."""
    results, errors = {}, []
    for key, value, type_ in entries:
        try:
            results[key] = structure(value, type_)
        except Exception as error:
            error.add_note(note("", key, type_))
            errors.append(error)
    return results, errors


def complaints(
    cls: type, arguments: Mapping[str, Any], undecided: Collection[str]
) -> list[Exception]:
    """What the validator of each field says; the constructor itself stops at the first.

    They look at a draft: an instance of a subclass without validators, in which the options that
    are undecided, because enough has been said of them, stay unset.
    """

    def unchecked(_: type, fields: list[attrs.Attribute[Any]]) -> list[attrs.Attribute[Any]]:
        unset = {"init": False, "default": attrs.NOTHING}
        given = {"kw_only": True}
        return [
            f.evolve(validator=None, **(unset if f.alias in undecided else given)) for f in fields
        ]

    def validate(field: Any, _: object) -> None:
        try:
            field.validator(draft, field, getattr(draft, field.name))
        except AttributeError:
            if not undecided:  # otherwise it may have asked for what is unset
                raise

    subclass = type(cls.__name__, (cls,), {"__attrs_post_init__": lambda _: None})
    try:
        draft = attrs.define(subclass, field_transformer=unchecked)(**arguments)
    except Exception:  # a default that is computed from an undecided option, say
        return []
    fields = [field for field in attrs.fields(cls) if field.validator is not None]
    decided = ((f.alias, f, None) for f in fields if f.alias not in undecided)
    return attempted(decided, validate, AttributeValidationNote)[1]
