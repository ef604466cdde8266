"""A table piece by piece, for files that are larger than memory, and for standard input.

    for piece in read_pieces("new.csv", words=["colour"]):
        classifier.predict_proba(piece.table)

CSV and Parquet are read so; npz and libsvm files are read whole, and cut. What a column holds is
decided for each piece by itself, so that columns of words should be named.
"""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Callable, Collection, Iterator
from itertools import chain, islice
from pathlib import Path
from shutil import copyfileobj
from tempfile import NamedTemporaryFile
from typing import IO, Any

import attrs
import numpy as np

from sgpc_framework.errors import InputError
from sgpc_framework.tables.csv_files import (
    PIECE,
    PIECE_CELLS,
    Layout,
    encoding_error,
    first_lines,
    layout_of,
    malformed_error,
    missing_texts,
    number_parser,
    numbers_of,
    ragged,
    words_of,
)
from sgpc_framework.tables.parquet_files import parquet_columns
from sgpc_framework.tables.table import Column, Table, Values
from sgpc_framework.tables.table_files import allowance_of, format_of, naming, read_table
from sgpc_framework.tables.text_files import check_unpacked, open_text

STANDARD_INPUT = Path("-")


@attrs.frozen
class Reject:
    """A row that is no good: its number from 1 on, its line if that is known, why, its cells."""

    row: int
    line: int | None
    reason: str
    cells: tuple[str, ...] = ()


@attrs.frozen(eq=False)
class Piece:
    """Some consecutive rows, which know their numbers, and those that have no place in a table."""

    table: Table
    rejects: tuple[Reject, ...] = ()


def read_pieces(
    path: Path,
    *,
    format: str | None = None,
    header: bool | None = None,
    words: Collection[str] = (),
    missing: Collection[str] = (),
    trust: bool = False,
    skip: bool = False,
    rows: int = PIECE,
) -> Iterator[Piece]:
    """The pieces of a table, each of so many ``rows`` at most; the arguments of ``read_table``.

    ``-`` is standard input, CSV unless ``format`` says otherwise. Rows with too many or too few
    fields are an error, or rejects if the reader is to ``skip`` them.
    """
    standard = path == STANDARD_INPUT
    kind = format or ("csv" if standard else format_of(path))
    reader = _CsvReader(header, frozenset(words), missing_texts(missing), skip, rows)
    if standard and kind == "csv":
        text = io.TextIOWrapper(sys.stdin.buffer, "utf-8-sig", newline="")
        yield from reader.pieces(text, "standard input")
        text.detach()
        return
    if standard:
        with NamedTemporaryFile(suffix=f".{kind}") as file:  # these cannot be read from the front
            copyfileobj(sys.stdin.buffer, file)
            file.flush()
            for piece in read_pieces(Path(file.name), format=kind, trust=trust, rows=rows):
                yield attrs.evolve(piece, table=attrs.evolve(piece.table, source="standard input"))
        return
    with naming(path):
        if kind == "csv":
            check_unpacked(path, allowance_of(path, trust))
            with open_text(path) as file:
                yield from reader.pieces(file, str(path))
        elif kind == "parquet":
            yield from _parquet_pieces(path, trust, rows)
        else:
            yield from _cut(read_table(path, format=kind, trust=trust), rows)


def _cut(table: Table, rows: int) -> Iterator[Piece]:
    for start in range(0, len(table), rows):
        yield Piece(table.rows(np.arange(start, min(start + rows, len(table)))))


def _parquet_pieces(path: Path, trust: bool, rows: int) -> Iterator[Piece]:
    start = 0
    for columns in parquet_columns(path, allowance_of(path, trust), rows):
        origin = np.arange(start, start + len(columns[0].values))
        start += len(origin)
        yield Piece(Table(columns, str(path), origin=origin))
    if not start:
        raise InputError(f"{path}: wanted a table with rows, found none")


@attrs.frozen
class _CsvReader:
    """How CSV text is read."""

    header: bool | None
    words: frozenset[str]
    missing: frozenset[str]
    skip: bool
    rows: int

    def pieces(self, file: IO[str], name: str) -> Iterator[Piece]:
        """The pieces of a text, read once from the front."""
        try:
            beginning = list(first_lines(file))
            layout = layout_of(name, beginning, (), self.header, self.missing)
            reader = csv.reader(
                chain(beginning, file), delimiter=layout.delimiter, skipinitialspace=True
            )
            try:
                yield from self._pieces(reader, layout, name)
            except csv.Error as error:
                raise malformed_error(name, reader.line_num, error) from None
        except UnicodeDecodeError as error:
            raise encoding_error(name, error) from None

    def _pieces(self, reader: Any, layout: Layout, name: str) -> Iterator[Piece]:
        number = number_parser(layout.delimiter, self.missing)
        numbered = ((reader.line_num, row) for row in reader if row)
        if layout.header:
            next(numbered)
        width = len(layout.names)
        count = max(1, min(self.rows, PIECE_CELLS // width))
        start = 0
        while piece := list(islice(numbered, count)):
            places = enumerate(piece, start=start)
            good = [(at, row) for at, (_, row) in places if len(row) == width]
            if len(good) < len(piece) and not self.skip:
                line, row = next(pair for pair in piece if len(pair[1]) != width)
                raise InputError(ragged(name, width, len(row), line))
            columns = []
            for column, cells in zip(layout.names, _columns(good, width), strict=True):
                columns.append(Column(column, self._values(column, cells, number)))
            origin = np.array([at for at, _ in good], dtype=np.intp)
            begins = 1 + layout.header  # the line of the first row, where each row has one line
            in_lines = piece[-1][0] == begins + start + len(piece) - 1
            table = Table(tuple(columns), name, begins if in_lines else None, origin=origin)
            yield Piece(table, tuple(_rejects(piece, start, width)))
            start += len(piece)
        if not start:
            raise InputError(f"{name}: wanted rows below the header, found none")

    def _values(self, name: str, cells: tuple[str, ...], number: Callable[[str], float]) -> Values:
        """Numbers if all cells are, or else words, in which numbers are written as usual."""
        if name in self.words:
            return words_of(cells, {}, self.missing)
        numbers = numbers_of(cells, number)
        if numbers is not None:
            return numbers
        return words_of(tuple(_usual(cell, number) for cell in cells), {}, self.missing)


def _columns(rows: list[tuple[int, list[str]]], width: int) -> list[tuple[str, ...]]:
    return list(zip(*(row for _, row in rows), strict=True)) if rows else [()] * width


def _rejects(piece: list[tuple[int, list[str]]], start: int, width: int) -> Iterator[Reject]:
    for at, (line, row) in enumerate(piece, start=start + 1):
        if len(row) != width:
            reason = f"wanted {width} fields, as in the first row, found {len(row)}"
            yield Reject(at, line, reason, tuple(row))


def _usual(cell: str, number: Callable[[str], float]) -> str:
    """A number with a decimal comma as one with a point; other cells as they are."""
    try:
        return repr(number(cell)) if "," in cell else cell
    except ValueError:
        return cell
