"""Tables from what is in memory: data frames, mappings of columns, lists of rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Sized
from typing import Any

import numpy as np

from sgpc_framework.errors import InputError
from sgpc_framework.rows.checking import is_missing
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
        return Table(tuple(Column(str(key), _values(data[key], str(key))) for key in data))
    if type(data).__module__.partition(".")[0] in ("pandas", "polars"):
        if not hasattr(data, "columns"):
            raise InputError(
                f"wanted a table, a data frame or rows of one length, found a "
                f"{type(data).__name__}; a frame of one column is series.to_frame(), one of a "
                "single row frame.iloc[[0]]"
            )
        columns = (Column(str(name), _values(data[name], str(name))) for name in data.columns)
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
    columns = (Column(name, _values(v, name)) for name, v in zip(names, matrix.T, strict=True))
    return Table(tuple(columns), "the rows")


def _values(given: Any, name: str) -> Values:
    """One column. Missing values of data frames (None, NaN, NA, NaT) stay missing."""
    try:
        array = np.asarray(given)
    except ValueError:  # lists of several lengths
        array = np.fromiter(given, dtype=object)
    if array.ndim != 1:
        found = f"a {type(given).__name__}" if array.ndim == 0 else f"an array of {array.shape}"
        raise InputError(f"column {name!r}: wanted a number or a word for each row, found {found}")
    if array.dtype.kind in "fiu":
        return array.astype(np.float64)
    several = next((row for row, value in enumerate(array) if _is_several(value)), None)
    if several is not None:
        raise InputError(
            f"row {several + 1}, column {name!r}: wanted a number or a word, found a "
            f"{type(array[several]).__name__}"
        )
    missing = [is_missing(value) for value in array]
    return numbers_or_words(None if gone else v for v, gone in zip(array, missing, strict=True))


def _is_several(value: Any) -> bool:
    """Whether a cell holds many: a list, a series, a mapping."""
    return not isinstance(value, (str, bytes)) and isinstance(value, Sized)
