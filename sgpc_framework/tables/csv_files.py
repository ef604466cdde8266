"""CSV text: which character separates the fields, whether there is a header, numbers or words.

The file is read in pieces, and a piece becomes arrays at once, so that memory holds eight bytes a
cell. What a column holds is known at the end only: a column of numbers in which a word turns up
late is read again, as words.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any

import attrs
import numpy as np
from numpy.typing import NDArray

from sgpc_framework.errors import InputError
from sgpc_framework.files.allowance import Allowance
from sgpc_framework.tables.table import Column, Table, Values, written_number
from sgpc_framework.tables.text_files import open_text

Floats = NDArray[np.float64]

DELIMITERS = ",;\t"
MISSING = frozenset({"", "?", "na", "n/a", "#n/a", "nan", "null"})
"""What stands for a value that is not there, in any case."""

PIECE = 20_000
"""Rows that are turned into arrays at a time."""

PIECE_CELLS = 1 << 20
"""Cells that are turned into arrays at a time, if rows are wide."""

WORD = 200
"""About what a word takes that is not like any other, in bytes."""

FEW_WORDS = 100
"""Labels are not more different ones."""

MOST_COLUMNS = 100_000

SAMPLE = 200
"""Rows that decide on delimiter and header."""

SAMPLE_CHARACTERS = 1 << 18
"""So much text is enough, whatever the number of rows."""


@attrs.frozen
class Layout:
    """How the text is to be read."""

    delimiter: str
    names: tuple[str, ...]
    header: bool


def read_csv(
    path: Path,
    allowance: Allowance,
    header: bool | None = None,
    words: Collection[str] = (),
    missing: Collection[str] = (),
) -> Table:
    """A table from CSV text in UTF-8, gzip-compressed if the name ends in ``.gz``.

    ``words`` names columns that are words whatever they look like, if they are there; ``missing``
    has further texts that stand for a missing value.
    """
    nothing = missing_texts(missing)
    try:
        with open_text(path) as file:
            layout = layout_of(str(path), list(first_lines(file)), file, header, nothing)
        as_words = frozenset(i for i, name in enumerate(layout.names) if name in words)
        read = _read(path, allowance, layout, as_words, nothing)
        if read.late:
            read.columns.clear()  # before there are others
            read = _read(path, allowance, layout, as_words | read.late, nothing)
    except UnicodeDecodeError as error:
        raise encoding_error(str(path), error) from None
    named = zip(layout.names, read.columns, strict=True)
    columns = (Column(name, values, i in read.padded) for i, (name, values) in enumerate(named))
    return Table(tuple(columns), str(path), read.first_line)


def missing_texts(more: Collection[str]) -> frozenset[str]:
    """What stands for a missing value: the usual texts, and more."""
    return MISSING | {text.strip().lower() for text in more}


def encoding_error(name: str, error: UnicodeDecodeError) -> InputError:
    """What to say of bytes that are no text."""
    return InputError(
        f"{name}: wanted UTF-8 text, found byte {error.object[error.start]:#04x}; "
        "save the file as UTF-8 (in a spreadsheet: 'CSV UTF-8')"
    )


# -- layout ------------------------------------------------------------------------------------


def layout_of(
    name: str,
    beginning: list[str],
    more: Iterable[str],
    header: bool | None,
    nothing: Collection[str],
) -> Layout:
    """The layout of a text with that beginning; ``more`` is asked where rows have several lines."""
    if not any(line.strip() for line in beginning):
        raise InputError(f"{name}: wanted a table, found an empty file")
    _check_width(name, beginning)
    delimiter = _delimiter(beginning)
    reader = csv.reader(chain(beginning, more), delimiter=delimiter, skipinitialspace=True)
    try:
        first, *others = islice(filter(None, reader), len(beginning))
    except csv.Error as error:
        raise malformed_error(name, reader.line_num, error) from None
    if header is None:
        header = _is_header(first, others, number_parser(delimiter, nothing), nothing)
    given = first if header else [""] * len(first)
    positions = map(str, range(1, len(first) + 1))
    return Layout(
        delimiter, tuple(n.strip() or p for n, p in zip(given, positions, strict=True)), header
    )


def first_lines(file: IO[str]) -> Iterator[str]:
    """The first lines: fewer of them, but two, where they are long."""
    characters = 0
    for number, line in enumerate(islice(file, SAMPLE), start=1):
        yield line
        characters += len(line)
        if number > 1 and characters > SAMPLE_CHARACTERS:
            return


def _check_width(name: str, lines: list[str]) -> None:
    """Refuse a line of millions of fields before it becomes as many objects."""
    fields = 1 + max(line.count(delimiter) for line in lines for delimiter in DELIMITERS)
    if fields > MOST_COLUMNS:
        raise InputError(
            f"{name}: wanted at most {MOST_COLUMNS} columns, found {fields} fields in a line"
        )


def _delimiter(lines: list[str]) -> str:
    """The character that divides most lines into the same number of fields, more than one."""

    def score(delimiter: str) -> tuple[int, int]:
        try:
            rows = filter(None, csv.reader(lines, delimiter=delimiter, skipinitialspace=True))
            widths = [len(row) for row in rows]
        except csv.Error:
            return 0, 0
        usual = max(set(widths), key=widths.count)
        return (widths.count(usual), usual) if usual > 1 else (0, 0)

    return max(DELIMITERS, key=score)


def _is_header(
    first: list[str],
    others: list[list[str]],
    number: Callable[[str], float],
    nothing: Collection[str],
) -> bool:
    """Whether the first row names the columns.

    It does if it has no number and stands above numbers somewhere; where all is words, if none of
    them comes twice in it or again in its own column.
    """
    named = [cell.strip() for cell in first if cell.strip()]
    if not named or any(_is_number(cell, number) for cell in named):
        return False
    columns = [[row[i].strip() for row in others if i < len(row)] for i in range(len(first))]
    present = [[cell for cell in column if cell.lower() not in nothing] for column in columns]
    if any(column and all(_is_number(cell, number) for cell in column) for column in present):
        return True
    again = any(cell.strip() in column for cell, column in zip(first, columns, strict=True))
    return len(set(named)) == len(named) and not again


def _is_number(cell: str, number: Callable[[str], float]) -> bool:
    try:
        number(cell)
    except ValueError:
        return False
    return True


# -- cells -------------------------------------------------------------------------------------


@attrs.frozen
class Cells:
    """What stands below the header."""

    columns: list[Values]
    first_line: int | None
    late: frozenset[int]
    """Columns that turned out to hold words when numbers had been read already."""
    padded: frozenset[int]
    """Columns of numbers with zeros in front."""


def _read(
    path: Path,
    allowance: Allowance,
    layout: Layout,
    words: frozenset[int],
    nothing: Collection[str],
) -> Cells:
    """Read all rows, piece by piece."""
    number = number_parser(layout.delimiter, nothing)
    pieces: list[list[Values]] = [[] for _ in layout.names]
    known: dict[str, str | None] = {}
    late: set[int] = set()
    padded: set[int] = set()
    cells = 0
    with open_text(path) as file:
        reader = csv.reader(file, delimiter=layout.delimiter, skipinitialspace=True)
        for piece in _rows_in_pieces(path, reader, layout):
            cells += len(piece) * len(layout.names)
            allowance.check(8 * cells + WORD * len(known), f"a table of {cells} cells so far")
            for i, column in enumerate(zip(*piece, strict=True)):
                numbers = None if i in words or i in late else numbers_of(column, number)
                if numbers is not None:
                    pieces[i].append(numbers)
                    if i not in padded and _is_padded(column):
                        padded.add(i)
                    continue
                if i not in words and pieces[i]:
                    late.add(i)
                elif i not in words:
                    words |= {i}
                pieces[i].append(words_of(column, known, nothing))
        lines = reader.line_num
    if not pieces[0]:
        raise InputError(f"{path}: wanted rows below the header, found none")
    columns = [np.concatenate(_emptied(piece)) for piece in pieces]
    begins = 1 + layout.header
    in_lines = lines == len(columns[0]) + layout.header
    first_line = begins if in_lines else None
    return Cells(columns, first_line, frozenset(late), frozenset(padded - words - late))


def _emptied(pieces: list[Values]) -> list[Values]:
    """The pieces of a column, which are not kept when they have been joined."""
    taken = pieces.copy()
    pieces.clear()
    return taken


def _rows_in_pieces(path: Path, reader: Any, layout: Layout) -> Iterator[list[list[str]]]:
    """The rows below the header, without blank lines, all as wide as the first, some at a time."""
    width = len(layout.names)
    rows = filter(None, reader)
    count = max(1, min(PIECE, PIECE_CELLS // width))
    try:
        if layout.header:
            next(rows)
        while piece := list(islice(rows, count)):
            if {*map(len, piece)} != {width}:
                raise _ragged_error(path, layout)
            yield piece
    except csv.Error as error:
        raise malformed_error(str(path), reader.line_num, error) from None


def _ragged_error(path: Path, layout: Layout) -> InputError:
    """Which line has too many or too few fields: looked for when it is known that there is one."""
    width = len(layout.names)
    with open_text(path) as file:
        reader = csv.reader(file, delimiter=layout.delimiter, skipinitialspace=True)
        found = next(len(row) for row in reader if row and len(row) != width)
        return InputError(ragged(str(path), width, found, reader.line_num))


def ragged(name: str, width: int, found: int, line: int) -> str:
    """What is wrong with a row that has too many or too few fields."""
    return f"{name}: wanted {width} fields, as in the first row, found {found} in line {line}"


def malformed_error(name: str, line: int, error: csv.Error) -> InputError:
    """What to say of text that is no CSV."""
    return InputError(f"{name}: line {line} cannot be read ({error}); is a quote never closed?")


def numbers_of(cells: tuple[str, ...], number: Callable[[str], float]) -> Floats | None:
    """The cells as numbers, NaN where one is missing; None if one of them is a word."""
    if not _repeats_itself(cells):
        try:
            numbers = np.fromiter(map(float, cells), dtype=np.float64, count=len(cells))
        except ValueError:
            pass  # a missing one, or a word
        else:
            return None if "_" in "".join(cells) else numbers  # Python would read 1_2 as 12
    try:
        read = {cell: number(cell) for cell in {*cells}}
    except ValueError:
        return None
    return np.fromiter(map(read.__getitem__, cells), dtype=np.float64, count=len(cells))


def _repeats_itself(cells: tuple[str, ...]) -> bool:
    """Whether most cells, by the first of them, are like another one: missing, or a few codes."""
    some = cells[:SAMPLE]
    return 2 * len({*some}) <= len(some)


def _is_padded(cells: tuple[str, ...]) -> bool:
    """Whether a number has zeros in front. It matters to labels, of which there are few."""
    if len({*cells[:SAMPLE]}) > FEW_WORDS:
        return False
    return any(cell[:1] == "0" and cell[1:2].isdigit() for cell in {*cells})


def number_parser(delimiter: str, nothing: Collection[str]) -> Callable[[str], float]:
    """Text to number, with NaN for what is missing; with semicolons, commas may be decimal."""

    def number(cell: str) -> float:
        text = cell.strip()
        if text.lower() in nothing:
            return np.nan
        if delimiter == ";" and text.count(",") == 1 and "." not in text:
            text = text.replace(",", ".")
        return written_number(text)

    return number


def words_of(
    cells: tuple[str, ...], known: dict[str, str | None], nothing: Collection[str]
) -> Values:
    """The cells as words, each different one kept once."""
    for cell in set(cells) - known.keys():
        text = cell.strip()
        known[cell] = None if text.lower() in nothing else text
    return np.array([known[cell] for cell in cells], dtype=object)
