"""Tables from what is in memory: data frames, mappings of columns, lists of rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sgpc_framework.errors import InputError
from sgpc_framework.tables.table import Column, Table, Values, numbers_or_words


def as_table(data: Any, names: Sequence[str] | None = None) -> Table:
    """A table from a ``Table``, a pandas or polars frame, a mapping of columns, or rows.

    The columns of plain rows (a matrix, a list of lists) get the ``names``, or their positions.

    >>> as_table({"age": [31, 45], "colour": ["red", None]}).column("colour").values
    array(['red', None], dtype=object)
    """
    if isinstance(data, Table):
        return data
    if isinstance(data, Mapping):
        return Table(tuple(Column(str(key), _values(data[key])) for key in data))
    if type(data).__module__.partition(".")[0] in ("pandas", "polars"):
        columns = (Column(str(name), _values(data[name])) for name in data.columns)
        return Table(tuple(columns), "the data frame")
    return _from_rows(data, names)


def _from_rows(data: Any, names: Sequence[str] | None) -> Table:
    matrix = np.asarray(data, dtype=None if isinstance(data, np.ndarray) else object)
    if matrix.ndim != 2:
        raise InputError(
            f"wanted a table, a data frame or rows of one length, found shape {matrix.shape}"
        )
    if names is None:
        names = [str(position) for position in range(1, matrix.shape[1] + 1)]
    if len(names) != matrix.shape[1]:
        raise InputError(
            f"wanted {len(names)} columns ({', '.join(names[:5])}"
            f"{', ...' if len(names) > 5 else ''}), found {matrix.shape[1]}"
        )
    columns = (Column(name, _values(v)) for name, v in zip(names, matrix.T, strict=True))
    return Table(tuple(columns), "the rows")


def _values(given: Any) -> Values:
    """One column. Missing values of data frames (None, NaN, NA, NaT) stay missing."""
    array = np.asarray(given)
    if array.dtype.kind in "fiu":
        return array.astype(np.float64)
    missing = [_is_missing(value) for value in array]
    return numbers_or_words(None if gone else v for v, gone in zip(array, missing, strict=True))


def _is_missing(value: Any) -> bool:
    try:
        return value is None or bool(value != value)
    except TypeError:  # pandas.NA does not say whether it differs from itself
        return True
