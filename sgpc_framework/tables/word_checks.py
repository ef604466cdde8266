"""Columns of words that should not be: identifiers, and numbers with a slip among them."""

from __future__ import annotations

from sgpc_framework.errors import InputError
from sgpc_framework.tables.table import Column, Table

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
        _refuse_slips(table, column, words.tolist())
    if different > most or (different > FEW and 2 * different > len(words) and not asked):
        raise InputError(
            f"{table.source}: column {column.name!r} has {different} different words in "
            f"{len(words)} rows, such as {words[0]!r}, and each would become a feature. If it is "
            f"a name, a date or a number of the row, leave it out (on the command line: "
            f"--drop {column.name!r}); otherwise allow so many with max_words (--max-words)"
        )


def _refuse_slips(table: Table, column: Column, words: list[str | None]) -> None:
    slips = [row for row, word in enumerate(words) if word is not None and not is_number(word)]
    present = sum(word is not None for word in words)
    if slips and len(slips) <= (1.0 - MOSTLY) * present:
        others = len({words[row] for row in slips}) - 1
        more = f" (and {others} other such words)" if others else ""
        if slips == [0] and table.is_nameless:
            more += ", which may be the name of the column (header=True; --header)"
        raise InputError(
            f"{table.where(slips[0], column.name)}: wanted a number, as in most rows, found "
            f"{words[slips[0]]!r}{more}; correct it, or say that it stands for a missing value "
            f"(missing=; on the command line: --missing), or that the column holds words (words=; "
            f"--words {column.name!r})"
        )


def is_number(word: str) -> bool:
    """Whether a word reads like a number."""
    try:
        float(word)
    except ValueError:
        return False
    return True
