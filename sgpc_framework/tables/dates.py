"""Dates as features of the calendar: a trend, a season, a day of the week, an hour."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sgpc_framework.rows.checking import is_missing
from sgpc_framework.tables.table import Values

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

FEATURES = ("year", "month", "day", "weekday", "hour")
"""What a date says, each as a column of its own: ``ordered.year``, ``ordered.month``, ..."""


def dates_of(values: Any) -> NDArray[np.datetime64] | None:
    """Dates, NaT where one is missing; None if the values are something else.

    >>> dates_of([date(2026, 1, 31), None]).astype("datetime64[D]").astype(str).tolist()
    ['2026-01-31', 'NaT']
    >>> dates_of(["soon"]) is None
    True
    """
    array = np.asarray(values)
    if array.dtype.kind == "M":
        return array.astype("datetime64[s]")
    if array.dtype.kind != "O" or array.ndim != 1:
        return None
    present = [value for value in array if not is_missing(value)]
    if not present or not all(isinstance(value, date) for value in present):
        return None
    return np.array([*map(_moment, array)], dtype="datetime64[s]")


def _moment(value: Any) -> np.datetime64:
    """A date by the clock of its own place."""
    if is_missing(value):  # pandas.NaT is a date that is not itself
        return np.datetime64("NaT")
    naive = value.replace(tzinfo=None) if isinstance(value, datetime) else value
    return np.datetime64(naive.isoformat(), "s")


def calendar_columns(
    dates: NDArray[np.datetime64], wanted: Iterable[str] = FEATURES
) -> dict[str, Values]:
    """What the dates say, by the names of ``FEATURES``; missing where a date is.

    >>> columns = calendar_columns(np.array(["2026-02-01T18:30"], dtype="datetime64[s]"))
    >>> {name: values.tolist() for name, values in columns.items()}
    {'year': [2026.0], 'month': [2.0], 'day': [1.0], 'weekday': ['Sunday'], 'hour': [18.5]}
    """
    missing = np.isnat(dates)
    known = np.where(missing, np.datetime64(0, "s"), dates)
    years, months, days = (known.astype(f"datetime64[{unit}]") for unit in "YMD")
    weekday = (days.astype(np.int64) + 3) % 7  # the first of January 1970 was a Thursday
    numbers = {
        "year": years.astype(np.int64) + 1970,
        "month": (months - years).astype(np.int64) + 1,
        "day": (days - months).astype(np.int64) + 1,
        "hour": (known - days).astype(np.int64) / 3600,
    }
    columns: dict[str, Values] = {
        name: np.where(missing, np.nan, values.astype(np.float64))
        for name, values in numbers.items()
    }
    columns["weekday"] = np.array(
        [None if gone else WEEKDAYS[day] for day, gone in zip(weekday, missing, strict=True)],
        dtype=object,
    )
    return {name: columns[name] for name in wanted}


def telling(dates: NDArray[np.datetime64]) -> tuple[str, ...]:
    """The features that differ between the dates, of which there is one at least."""
    columns = calendar_columns(dates[~np.isnat(dates)])
    varying = tuple(name for name in FEATURES if len(set(columns[name].tolist())) > 1)
    return varying or FEATURES[:1]
