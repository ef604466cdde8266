"""npz files and libsvm text."""

from __future__ import annotations

import math
from array import array as Numbers
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any
from zipfile import BadZipFile, ZipFile
from zlib import error as CorruptError

import numpy as np
from numpy.typing import NDArray

from sgpc_framework.errors import InputError
from sgpc_framework.files.allowance import Allowance
from sgpc_framework.tables.table import Column, Table, Values, numbers_or_words, written_number
from sgpc_framework.tables.text_files import open_text

COLUMN = 500
"""About what a column takes besides its values, in bytes."""

WORD = 80
"""About what a word of an array takes, in bytes."""

MOST_DIGITS = 12
"""An index with more of them is none."""

MOST_CELLS = 2**28
"""A sparse file may describe a matrix that no memory holds: this many cells are two gigabytes."""


def read_npz(path: Path, allowance: Allowance) -> Table:
    """A table from arrays: ``X`` and ``y``, or one array for each column. Nothing is unpickled.

    The columns of ``X`` are named by an array ``columns``, if there is one, or X1, X2, ...
    """
    try:
        with ZipFile(path) as archive:
            arrays = dict(_arrays(archive, allowance))
    except InputError:
        raise
    except _NO_ARRAYS as error:
        raise InputError(f"{path}: wanted an npz file of plain arrays: {error}") from error
    if "X" in arrays:
        names = arrays.pop("columns", None)
        arrays = {key: arrays[key] for key in ("X", "y") if key in arrays}
    else:
        names = None
    columns: list[Column] = []
    for key, values in arrays.items():
        columns += _columns_of(path, key, values, names)
    return _with_rows(Table(tuple(columns), str(path)))


_NO_ARRAYS = (
    BadZipFile,
    CorruptError,
    EOFError,
    NotImplementedError,
    RuntimeError,
    TypeError,
    ValueError,
    AttributeError,
)


def _arrays(archive: ZipFile, allowance: Allowance) -> Iterator[tuple[str, NDArray[Any]]]:
    """The arrays by name. What a member claims is compared with what is there before it is read."""
    total = 0
    for entry in archive.infolist():
        name = entry.filename.removesuffix(".npy")
        with archive.open(entry) as file:
            shape, dtype = _header(file)
            there = entry.file_size - file.tell()
            count = math.prod(shape)
            if dtype.hasobject or count * dtype.itemsize != there:
                raise ValueError(f"{name} claims {shape} of {dtype}, which {there} bytes are not")
            total += there + count * (8 if dtype.kind in "fiu" else WORD)
            total += COLUMN * (shape[1] if len(shape) == 2 else 1)
            allowance.check(total, f"a table of the array {name!r} of {shape}")
        with archive.open(entry) as file:
            yield name, np.lib.format.read_array(file, allow_pickle=False)


def _header(file: IO[bytes]) -> tuple[tuple[int, ...], np.dtype[Any]]:
    version = np.lib.format.read_magic(file)
    if version not in ((1, 0), (2, 0)):
        raise ValueError(f"wanted version 1 or 2 of an array's format, found {version}")
    read = (np.lib.format.read_array_header_1_0, np.lib.format.read_array_header_2_0)
    try:
        shape, _, dtype = read[version[0] - 1](file)
    except Exception as error:  # NumPy reads it as Python, and stumbles in as many ways
        raise ValueError(f"wanted the header of an array: {error}") from error
    return shape, dtype


def _columns_of(
    path: Path, key: str, array: NDArray[Any], names: NDArray[Any] | None
) -> list[Column]:
    if array.dtype.kind not in "fiubUS" or array.ndim not in (1, 2):
        raise InputError(
            f"{path}: wanted numbers or words in one or two dimensions in array {key!r}, found "
            f"{array.dtype} of shape {array.shape}"
        )
    array = _as_text(path, key, array)
    parts = [array] if array.ndim == 1 else list(array.T)
    called = [key] if array.ndim == 1 else [f"{key}{i}" for i in range(1, len(parts) + 1)]
    if names is not None and array.ndim == 2:
        if names.dtype.kind not in "iuUS" or names.shape != (len(parts),):
            raise InputError(
                f"{path}: wanted {len(parts)} names in 'columns', found {names.dtype} of shape "
                f"{names.shape}"
            )
        called = [str(name) for name in _as_text(path, "columns", names).tolist()]
    return [
        Column(
            name,
            part.astype(np.float64)
            if part.dtype.kind in "fiu"
            else numbers_or_words(part.tolist()),
        )
        for name, part in zip(called, parts, strict=True)
    ]


def _as_text(path: Path, key: str, array: NDArray[Any]) -> NDArray[Any]:
    """The array, with texts that are texts: UTF-8 if they are bytes, and of characters that are."""
    try:
        if array.dtype.kind == "S":
            return np.char.decode(array, "utf-8")
        if array.dtype.kind == "U":
            np.ascontiguousarray(array, array.dtype.newbyteorder("<")).tobytes().decode("utf-32-le")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path}: wanted UTF-8 texts in array {key!r}, found what is none: {error}"
        ) from None
    return array


def read_libsvm(path: Path, allowance: Allowance) -> Table:
    """A table from lines ``label index:value index:value ...``; what is not mentioned is zero.

    The labels are the column "label", the others are named by their index.
    """
    labels: list[str] = []
    known: dict[str, str] = {}
    rows, indices, values = Numbers("q"), Numbers("q"), Numbers("d")
    lines = 0
    with open_text(path, errors="replace") as file:
        for lines, line in enumerate(file, start=1):
            label, *pairs = line.partition("#")[0].split() or [""]
            if not label:
                continue
            for pair in pairs:
                index, colon, value = pair.partition(":")
                try:
                    if not colon or not index.isdecimal() or len(index) > MOST_DIGITS:
                        raise ValueError
                    values.append(written_number(value))
                except ValueError:
                    raise InputError(
                        f"{path}: wanted index:value after the label in line {lines}, "
                        f"found {pair[:50]!r}"
                    ) from None
                indices.append(int(index))
                rows.append(len(labels))
            labels.append(known.setdefault(label, label))
    if not indices:
        raise InputError(f"{path}: wanted lines 'label index:value ...', found none with a value")
    first = min(1, *indices)
    width = max(indices) + 1 - first
    if width * len(labels) > MOST_CELLS:
        raise InputError(
            f"{path}: {len(labels)} rows of {width} features are too many cells for a dense "
            "matrix, which this method needs; choose fewer features first"
        )
    wanted = (8 * len(labels) + COLUMN) * width
    allowance.check(wanted, f"a dense matrix of {len(labels)} x {width}")
    X = np.zeros((width, len(labels)))
    X[np.array(indices) - first, np.array(rows)] = values
    features = [Column(str(i), column) for i, column in enumerate(X, start=first)]
    columns = (Column("label", _labels(labels)), *features)
    return Table(columns, str(path), 1 if lines == len(labels) else None, sparse=True)


def _labels(labels: list[str]) -> Values:
    try:
        return np.array([*map(written_number, labels)])
    except ValueError:
        return np.array(labels, dtype=object)


def _with_rows(table: Table) -> Table:
    if not len(table):
        raise InputError(f"{table.source}: wanted a table with rows, found none")
    return table
