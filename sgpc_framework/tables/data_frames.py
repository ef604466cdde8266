"""Tables from what is in memory: data frames, mappings of columns, rows as lists or mappings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Sized
from typing import Any

import numpy as np

from sgpc_framework.errors import InputError
from sgpc_framework.rows.checking import is_missing
from sgpc_framework.tables.table import Column, Table, Values, check_names, numbers_or_words


def as_table(data: Any, names: Sequence[str] | None = None) -> Table:
    """A table from a ``Table``, a pandas or polars frame, a mapping of columns, or rows.

    A row is a mapping from names to values, or a list of values; one mapping may stand alone. What
    a mapping among others lacks is missing. The columns of plain rows (a matrix, a list of lists)
    get the ``names``, or their positions.

    >>> as_table({"age": [31, 45], "colour": ["red", None]}).column("colour").values
    array(['red', None], dtype=object)
    >>> as_table({"age": 31, "colour": "red"}).names
    ('age', 'colour')
    >>> as_table([{"age": 31}, {"age": 45, "colour": "red"}]).column("colour").values
    array([None, 'red'], dtype=object)
    """
    if isinstance(data, Table):
        return data
    if isinstance(data, Mapping):
        if data and not any(map(_is_several, data.values())):
            return _from_mappings([data])
        return Table(tuple(Column(str(key), _values(data[key], str(key))) for key in data))
    if type(data).__module__.partition(".")[0] in ("pandas", "polars"):
        if not hasattr(data, "columns"):
            raise InputError(
                f"wanted a table, a data frame or rows of one length, found a "
                f"{type(data).__name__}; a frame of one column is series.to_frame(), one of a "
                "single row frame.iloc[[0]]"
            )
        check_names(map(str, data.columns), "the data frame")
        columns = (Column(str(name), _values(data[name], str(name))) for name in data.columns)
        return Table(tuple(columns), "the data frame")
    return _from_rows(data, names)


def _from_mappings(rows: Sequence[Any]) -> Table:
    """A table of rows that name their values."""
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, Mapping):
            raise InputError(
                f"row {number}: wanted a mapping from names of columns to values, as row 1 is, "
                f"found a {type(row).__name__}"
            )
    columns = []
    for key in dict.fromkeys(key for row in rows for key in row):
        values = np.fromiter((row.get(key) for row in rows), dtype=object, count=len(rows))
        columns.append(Column(str(key), _values(values, str(key))))
    return Table(tuple(columns), "the rows")


def _from_rows(data: Any, names: Sequence[str] | None) -> Table:
    if isinstance(data, (list, tuple)) and data and isinstance(data[0], Mapping):
        return _from_mappings(data)
    if isinstance(data, np.ma.MaskedArray):
        matrix: Values = data  # its columns are, too
    else:
        matrix = np.asarray(data, dtype=None if isinstance(data, np.ndarray) else object)
    if matrix.ndim != 2:
        raise InputError(
            f"wanted a table, a data frame or rows of one length, found shape {matrix.shape}; one "
            "row is [[1.5, 'red']], or {'wing': 1.5, 'colour': 'red'}"
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
    """One column. Missing values of data frames (None, NaN, NA, NaT) stay missing, and what is
    masked is."""
    if isinstance(given, np.ma.MaskedArray):
        masked = np.ma.getmaskarray(given)
        given = np.ma.getdata(given).astype(object)
        given[masked] = None
    try:
        array = np.asarray(given)
    except ValueError:  # lists of several lengths
        array = np.fromiter(given, dtype=object)
    if array.ndim != 1:
        found = f"a {type(given).__name__}" if array.ndim == 0 else f"an array of {array.shape}"
        advice = "; a row has single values, a table lists" if array.ndim == 0 else ""
        raise InputError(
            f"column {name!r}: wanted a number or a word for each row, found {found}{advice}"
        )
    if array.dtype.kind in "fiu":
        return array.astype(np.float64)
    if array.dtype.kind == "M":  # dates are texts here, as they are in files
        texts = np.datetime_as_string(array.astype("datetime64[s]")).astype(object)
        texts[np.isnat(array)] = None
        return texts
    several = next((row for row, value in enumerate(array) if _is_several(value)), None)
    if several is not None:
        raise InputError(
            f"row {several + 1}, column {name!r}: wanted a number or a word, found a "
            f"{type(array[several]).__name__}"
        )
    if array.dtype.kind == "c":
        raise InputError(f"column {name!r}: wanted real numbers or words, found {array.dtype}")
    missing = [is_missing(value) for value in array]
    return numbers_or_words(None if gone else v for v, gone in zip(array, missing, strict=True))


def _is_several(value: Any) -> bool:
    """Whether a cell holds many: a list, a series, a mapping."""
    if isinstance(value, np.ndarray):
        return value.ndim > 0
    return not isinstance(value, (str, bytes)) and isinstance(value, Sized)
