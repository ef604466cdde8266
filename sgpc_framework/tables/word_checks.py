"""Columns of words that should not be: identifiers, and numbers with a slip among them."""

from __future__ import annotations

import attrs
import numpy as np

from sgpc_framework.errors import InputError
from sgpc_framework.tables.dates import is_ambiguous, moments
from sgpc_framework.tables.table import Column, Table, written_number

LARGEST = 2**53
"""Whole numbers up to this are the same as floats."""

MOSTLY = 0.8
"""From this share of numbers on, the words of a column are taken for slips."""

FEW = 20
"""So many different words are never too many."""


def check_words(table: Table, column: Column, different: int, most: int, asked: bool) -> None:
    """``InputError`` with advice if a column of words would make features of no use.

    Who ``asked`` for words gets them, as long as they are not more than ``most``.
    """
    words = column.as_words()
    if not asked and different > 2:
        Slips.of(table, column).check()
    if not asked:
        _check_dates(table, column)
    check_word_count(table.source, column.name, different, len(words), str(words[0]), most, asked)


def check_digits(table: Table, column: Column) -> None:
    """``InputError`` if numbers that stand for names have more digits than floats can hold."""
    large = np.abs(column.values) >= LARGEST
    if large.any():
        row = int(large.argmax())
        raise InputError(
            f"{table.where(row, column.name)}: wanted a name, found a number that is infinite or "
            "has too many digits to be told from the next; give the column as text, such as "
            f"frame.astype({{{column.name!r}: str}}), or have a file's read as words "
            f"(words=; --words {column.name!r})"
        )


def _check_dates(table: Table, column: Column) -> None:
    """``InputError`` if most words are dates and some are not, or nobody knows which they are."""
    words = column.as_words()
    present = [word for word in words if word is not None]
    name = column.name
    way = f"words (words=; on the command line: --words {name!r})"
    if all(map(is_ambiguous, present)):
        raise InputError(
            f"{table.source}: column {name!r} seems to hold dates, such as {present[0]!r}, but "
            "which is the day, and which the month? Write them as 2026-01-31, or say that the "
            f"column holds {way}"
        )
    dates, strange = moments(words)
    slips = len(present) - np.count_nonzero(~np.isnat(dates))
    if strange is not None and slips <= (1.0 - MOSTLY) * len(present):
        raise InputError(
            f"{table.where(strange, name)}: wanted a date, as in most rows, found "
            f"{words[strange]!r}; correct it, or say that it stands for a missing value (missing=; "
            f"--missing), or that the column holds {way}"
        )


def check_word_count(
    source: str, name: str, different: int, rows: int, example: str, most: int, asked: bool
) -> None:
    """``InputError`` if a column has too many different words."""
    if different > most or (different > FEW and 2 * different > rows and not asked):
        raise InputError(
            f"{source}: column {name!r} has {different} different words in "
            f"{rows} rows, such as {example!r}, and each would become a feature. If it is "
            f"a name or a number of the row, leave it out (on the command line: "
            f"--drop {name!r}); otherwise allow so many with max_words (--max-words)"
        )


@attrs.frozen
class Slips:
    """Words of a column that are no numbers: how many of those present, which, and the first."""

    present: int
    count: int
    words: frozenset[str]
    first: str
    """Where the first is."""
    word: str
    name: str

    @classmethod
    def of(cls, table: Table, column: Column) -> Slips:
        """Those of a column of words."""
        words = column.as_words().tolist()
        slips = [row for row, word in enumerate(words) if word is not None and not is_number(word)]
        present = sum(word is not None for word in words)
        different = frozenset(words[row] for row in slips)
        where = table.where(slips[0], column.name) if slips else ""
        word = repr(words[slips[0]]) if slips else ""
        if slips == [0] and table.is_nameless:
            word += ", which may be the name of the column (header=True; --header)"
        return cls(present, len(slips), different, where, word, column.name)

    def __add__(self, other: Slips) -> Slips:
        """Of two pieces of a column."""
        first = self if self.count else other
        return attrs.evolve(
            first,
            present=self.present + other.present,
            count=self.count + other.count,
            words=self.words | other.words,
        )

    def check(self) -> None:
        """Raise if most of the words are numbers."""
        if not 0 < self.count <= (1.0 - MOSTLY) * self.present:
            return
        others = len(self.words) - 1
        more = f" (and {others} other such words)" if others else ""
        raise InputError(
            f"{self.first}: wanted a number, as in most rows, found "
            f"{self.word}{more}; correct it, or say that it stands for a missing value "
            f"(missing=; on the command line: --missing), or that the column holds words (words=; "
            f"--words {self.name!r})"
        )


def is_number(word: str) -> bool:
    """Whether a word reads like a number."""
    try:
        written_number(word)
    except ValueError:
        return False
    return True
