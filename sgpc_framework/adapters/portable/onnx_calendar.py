"""What the calendar says of seconds since 1970, in the operations that ONNX has."""

from __future__ import annotations

from typing import Any

import numpy as np

from sgpc_framework.adapters.portable.onnx_nodes import Nodes

MISSING_DATE = np.iinfo(np.int64).min
"""A date that is missing, as NumPy has NaT."""

DAY = 86400


def calendar(g: Nodes, seconds: str) -> dict[str, str]:
    """The names of year, month, day and weekday (from Monday, 0) as whole numbers, and of the hour.

    Years are counted from the first of March, so that a leap day is the last of its year; 400 of
    them, an era, have 146097 days.
    """
    from onnx import TensorProto

    days = _floor(g, seconds, DAY)
    since = g("Add", days, _whole(719468))  # the first of March of the year 0
    era = _floor(g, since, 146097)
    day = g("Sub", since, g("Mul", era, _whole(146097)))
    leaps = g("Sub", g("Div", day, _whole(36524)), g("Div", day, _whole(1460)))
    leaps = g("Sub", leaps, g("Div", day, _whole(146096)))
    year = g("Div", g("Add", day, leaps), _whole(365))
    gone = g("Add", g("Mul", year, _whole(365)), g("Div", year, _whole(4)))
    day = g("Sub", day, g("Sub", gone, g("Div", year, _whole(100))))  # of the year
    month = g("Div", g("Add", g("Mul", day, _whole(5)), _whole(2)), _whole(153))  # March is 0
    gone = g("Div", g("Add", g("Mul", month, _whole(153)), _whole(2)), _whole(5))
    late = g("Greater", month, _whole(9))  # January and February
    year = g("Add", year, g("Mul", era, _whole(400)))
    clock = g("Cast", g("Mod", seconds, _whole(DAY)), to=TensorProto.DOUBLE)
    return {
        "year": g("Where", late, g("Add", year, _whole(1)), year),
        "month": g("Where", late, g("Sub", month, _whole(9)), g("Add", month, _whole(3))),
        "day": g("Add", g("Sub", day, gone), _whole(1)),
        "weekday": g("Mod", g("Add", days, _whole(3)), _whole(7)),
        "hour": g("Div", clock, 3600.0),
    }


def _whole(number: int) -> Any:
    return np.int64(number)


def _floor(g: Nodes, x: str, by: int) -> str:
    """x / by, rounded down: ONNX divides whole numbers towards zero."""
    return str(g("Div", g("Sub", x, g("Mod", x, _whole(by))), _whole(by)))
