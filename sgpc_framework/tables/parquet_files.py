"""Parquet, batch by batch, after a look at what it claims; equal words are one object."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, Literal

import numpy as np

from sgpc_framework.errors import InputError
from sgpc_framework.files.allowance import BESIDES, Allowance
from sgpc_framework.tables.parquet_claims import CELL, check_claims
from sgpc_framework.tables.table import Column, Table, Values, numbers_or_words

ROWS = 1 << 16
"""How many rows are read together, unless their words may be very long."""

WORD = 60
"""About what a word takes in bytes, besides its letters."""


def read_parquet(path: Path, allowance: Allowance) -> Table:
    """A table from a Parquet file; what is neither a number nor a text becomes its text."""
    pieces = [*parquet_columns(path, allowance, ROWS)]
    if not pieces:
        raise InputError(f"{path}: wanted a table with rows, found none")
    first = pieces[0]
    parts = [[piece[i].values for piece in pieces] for i in range(len(first))]
    del pieces
    columns = (Column(each.name, _joined(parts.pop(0)), typed=each.typed) for each in first)
    return Table(tuple(columns), str(path))


def parquet_columns(path: Path, allowance: Allowance, rows: int) -> Iterator[tuple[Column, ...]]:
    """The columns of some rows after the other."""
    try:
        from pyarrow import ArrowException, types
        from pyarrow.parquet import ParquetFile
    except ImportError as error:
        raise InputError(
            f"{path}: reading Parquet needs pyarrow: pip install 'sgpc-framework[parquet]'"
        ) from error
    size = max(1, path.stat().st_size)  # no list and no text of the footer is longer than the file
    limits = {"thrift_string_size_limit": size, "thrift_container_size_limit": size}
    try:
        with path.open("rb") as content:
            claims = check_claims(content, allowance)
        with ParquetFile(path, **limits) as file:
            schema = file.schema_arrow
        if claims.longest and allowance.size is not None:
            rows = min(rows, max(1, BESIDES // 4 // claims.longest))
        texts = [each.name for each in schema if types.is_string(each.type)]
        texts += [each.name for each in schema if types.is_large_string(each.type)]
        words = [name for name in texts if name not in claims.differences]
        known: dict[str, str] = {}
        taken = 0
        with ParquetFile(path, **limits, read_dictionary=words) as file:
            for batch in file.iter_batches(rows, use_threads=False):
                before = len(known)
                columns = _columns_of(batch, known)
                taken += CELL * batch.num_rows * batch.num_columns
                taken += sum(WORD + len(word) for word in islice(known, before, None))
                allowance.check(taken, "a table of its words")
                if batch.num_rows:
                    yield columns
    except (ArrowException, RuntimeError, ValueError, OSError) as error:  # of pyarrow, or of names
        if isinstance(error, InputError | FileNotFoundError):
            raise
        raise InputError(f"{path}: wanted a Parquet file: {error}") from error


_TYPES: dict[tuple[bool, bool], Literal["integer", "real"] | None] = {
    (True, False): "integer",
    (False, True): "real",
    (False, False): None,
}


def _columns_of(content: Any, known: dict[str, str]) -> tuple[Column, ...]:
    """The columns of an Arrow batch; words that are ``known`` are not made again."""
    from pyarrow import types

    columns = []
    for name, data in zip(content.schema.names, content.columns, strict=True):
        integer, real = types.is_integer(data.type), types.is_floating(data.type)
        if integer or real:
            values = data.to_numpy(zero_copy_only=False).astype(np.float64)
        else:
            values = _shared(data, known)
        columns.append(Column(name, values, typed=_TYPES[integer, real]))
    return tuple(columns)


def _shared(data: Any, known: dict[str, str]) -> Values:
    """Values of another type: numbers, or words, of which equal ones are one object."""
    import pyarrow
    from pyarrow import ArrowNotImplementedError, types

    if not types.is_dictionary(data.type):
        try:
            data = data.dictionary_encode()
        except ArrowNotImplementedError:  # lists and the like
            return numbers_or_words(_plain(data, value) for value in data.to_pylist())
    places = data.indices.to_numpy(zero_copy_only=False)
    there = np.asarray(data.is_valid())
    used, places = np.unique(places[there].astype(np.intp), return_inverse=True)
    different = data.dictionary.take(pyarrow.array(used)).to_pylist()
    words = numbers_or_words(_plain(data.dictionary, value) for value in different)
    if words.dtype == object:
        words[:] = [None if word is None else known.setdefault(word, word) for word in words]
    values: Values = np.full(len(data), None if words.dtype == object else np.nan, words.dtype)
    values[there] = words[places]
    return values


def _plain(data: Any, value: Any) -> Any:
    """A decimal number as a number."""
    from pyarrow import types

    return float(value) if value is not None and types.is_decimal(data.type) else value


def _joined(parts: list[Values]) -> Values:
    """The values of a column, of whose parts some may be missing altogether: these are no numbers
    among words."""
    if len({part.dtype for part in parts}) > 1:
        parts = [p if p.dtype == object else np.full(len(p), None, object) for p in parts]
    return np.concatenate(parts) if len(parts) > 1 else parts[0]
