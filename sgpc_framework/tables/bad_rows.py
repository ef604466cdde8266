"""Rows that cannot be encoded, each with its reason, so that the others can be used."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from sgpc_framework.rows.checking import LARGEST
from sgpc_framework.tables.dates import moment
from sgpc_framework.tables.encoding import Encoding
from sgpc_framework.tables.feature_columns import DateColumn, FeatureColumn, WordColumn
from sgpc_framework.tables.table import Column, Table
from sgpc_framework.tables.word_checks import is_number


def row_faults(encoding: Encoding, table: Table) -> dict[int, str]:
    """The rows of a table, by their places in it, that ``encode`` would refuse, and why.

    Columns that are not there are no fault of a row: ``encode`` says so.
    """
    table = encoding.align(table)
    present = {column.name: column for column in table.columns}
    reasons: dict[int, list[str]] = {}
    for own in encoding.columns:
        column = present.get(own.name)
        if column is None:
            continue
        for row, reason in _faults(own, column, encoding.unseen):
            reasons.setdefault(row, []).append(f"column {own.name!r}: {reason}")
    return {row: "; ".join(reasons[row]) for row in sorted(reasons)}


def _faults(own: FeatureColumn, column: Column, unseen: str) -> Iterator[tuple[int, str]]:
    if own.fill is None:
        for row in np.flatnonzero(column.missing).tolist():
            yield row, "the value is missing"
    if isinstance(own, WordColumn):
        if unseen == "refuse":
            known = {None, *own.words}
            wanted = f"wanted one of the {len(own.words)} words seen in training"
            for row, word in enumerate(column.as_words()):
                if word not in known:
                    yield row, f"{wanted}, found {word!r}"
        return
    if isinstance(own, DateColumn):
        for row, word in enumerate(column.as_words()):
            if word is not None and moment(word) is None:
                yield row, f"wanted a date such as 2026-01-31, as in training, found {word!r}"
        return
    numbers = _numbers(column)
    for row in np.flatnonzero(np.isnan(numbers) & ~column.missing).tolist():
        yield row, f"wanted a number, as in training, found {column.values[row]!r}"
    for row in np.flatnonzero(np.isinf(numbers)).tolist():
        yield row, f"wanted a finite number, found {numbers[row]}"
    with np.errstate(invalid="ignore", over="ignore"):
        far = np.isfinite(numbers) & (np.abs((numbers - own.mean) / own.scale) > LARGEST)
    for row in np.flatnonzero(far).tolist():
        yield row, f"wanted a number like those of training, found {numbers[row]:g}"


def _numbers(column: Column) -> NDArray[np.float64]:
    """The values as numbers, NaN where one is missing or none."""
    if column.is_numeric:
        return column.values
    words = column.values.tolist()
    each = (float(w) if w is not None and is_number(w) else np.nan for w in words)
    return np.fromiter(each, dtype=np.float64, count=len(words))
