"""Fields for the options of components: checked wherever the component is made.

A configuration is structured strictly, but an instance made by hand only meets its validators.
"""

from __future__ import annotations

import math
from typing import Any

import attrs
from attrs.validators import ge, gt, le, lt


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
