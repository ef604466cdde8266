"""Dates as features of the calendar: a trend, a season, a day of the week, an hour."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from sgpc_framework.tables.table import Column, Values

Dates = NDArray[np.datetime64]

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

CALENDAR = ("year", "month", "day", "weekday", "hour")
"""What a date says, each as a column of its own: ``ordered.year``, ``ordered.month``, ..."""

_CLOCK = r"(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?"
_YEAR_FIRST = re.compile(r"(\d{4})([-/])(\d\d?)\2(\d\d?)" + _CLOCK)
_YEAR_LAST = re.compile(r"(\d\d?)(\.)(\d\d?)\.(\d{4})" + _CLOCK)
_AMBIGUOUS = re.compile(r"\d\d?([/-])\d\d?\1(\d\d|\d{4})(\s.*)?")


def moment(text: str) -> datetime | None:
    """The date that a text is, by the clock of its own place; None if it is none.

    >>> moment("2026-01-31"), moment("31.1.2026 18:30"), moment("2026-01-31T18:30:00+02:00").hour
    (datetime.datetime(2026, 1, 31, 0, 0), datetime.datetime(2026, 1, 31, 18, 30), 18)
    >>> moment("2026-02-30"), moment("1/2/2026"), moment("soon")
    (None, None, None)
    """
    if found := _YEAR_FIRST.fullmatch(text):
        year, _, month, day, *clock = found.groups()
    elif found := _YEAR_LAST.fullmatch(text):
        day, _, month, year, *clock = found.groups()
    else:
        return None
    try:
        hour, minute, second = (int(part or 0) for part in clock)
        return datetime(int(year), int(month), int(day), hour, minute, second)
    except ValueError:  # the 30th of February
        return None


def is_ambiguous(text: str) -> bool:
    """Whether a text looks like a date of which nobody knows what is the day and what the month.

    >>> is_ambiguous("1/2/2026"), is_ambiguous("2026-01-31"), is_ambiguous("soon")
    (True, False, False)
    """
    return moment(text) is None and _AMBIGUOUS.fullmatch(text) is not None


def moments(words: Values) -> tuple[Dates, int | None]:
    """Texts as dates, NaT where one is missing or none; and the first that is there and is none.

    >>> moments(np.array(["2026-01-31", None, "soon"], dtype=object))[1]
    2
    """
    known = {word: moment(word) for word in set(words.tolist()) if word is not None}
    dates = np.array([known.get(word) for word in words.tolist()], dtype="datetime64[s]")
    strange = {word for word, date in known.items() if date is None}
    first = next((row for row, word in enumerate(words) if word in strange), None)
    return dates, first if strange else None


def dates_of(column: Column) -> Dates | None:
    """The dates of a column in which every value that is there is one; None if it is no such."""
    if column.is_numeric:
        return None
    dates, strange = moments(column.values)
    return None if strange is not None or np.isnat(dates).all() else dates


def calendar_columns(dates: Dates, wanted: Iterable[str] = CALENDAR) -> dict[str, Values]:
    """What the dates say, by the names of ``CALENDAR``; missing where a date is.

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
