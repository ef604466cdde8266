"""The column with the labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sgpc_framework.errors import InputError
from sgpc_framework.tables.table import Column, Table
from sgpc_framework.tables.word_checks import check_digits

MOST_CLASSES = 100
"""More different labels than this are measurements, not classes."""


def labels_of(table: Table, column: Column) -> NDArray[Any]:
    """The labels: whole numbers, other numbers, or words; none may be missing."""
    missing = column.missing
    if missing.any():
        raise InputError(
            f"{table.where(int(missing.argmax()), column.name)}: the label is missing "
            f"({int(missing.sum())} of {len(missing)} rows have none); leave out such rows"
        )
    values = column.values
    if not column.is_numeric:
        return values.astype(np.str_)
    check_digits(table, column)
    return values.astype(np.int64) if np.all(values == np.round(values)) else values


def training_labels(table: Table, target: str | int) -> tuple[str, NDArray[Any]]:
    """The name of the target column and its labels, of two classes or more, but not too many."""
    column = table.column(target)
    if column.padded:
        raise InputError(
            f"{table.source}: column {column.name!r} has labels with zeros in front, such as 01, "
            f"which as numbers would come back as 1; read them as words: words=[{column.name!r}]"
        )
    labels = labels_of(table, column)
    check_label_classes(table.source, column.name, np.unique(labels), len(labels))
    return column.name, labels


def check_label_classes(source: str, name: str, classes: NDArray[Any], rows: int) -> None:
    """``InputError`` if a column has too many different labels, or too few."""
    if len(classes) > MOST_CLASSES:
        raise InputError(
            f"{source}: column {name!r} has {len(classes)} different values, such as "
            f"{', '.join(str(c) for c in classes[:3].tolist())}: wanted labels of at most "
            f"{MOST_CLASSES} classes. This is a classifier; put the values into a few classes first"
        )
    if len(classes) < 2:
        found = f"{classes[0]!s} in all {rows} rows" if len(classes) else "no row"
        raise InputError(f"{source}: wanted two classes or more in column {name!r}, found {found}")
