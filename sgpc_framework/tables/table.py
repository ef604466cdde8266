"""A table: named columns of numbers or words, and where each row came from."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable
from datetime import timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal

import attrs
import numpy as np
from numpy.typing import NDArray

from sgpc_framework.errors import InputError, suggestion

Values = NDArray[Any]
"""float64 with NaN where a number is missing, or objects: texts, with None where one is."""


@attrs.frozen(eq=False)
class Column:
    """A named column of numbers or words."""

    name: str
    values: Values
    padded: bool = False
    """Whether some of the numbers were written as ``01`` is, which a number does not remember."""
    typed: Literal["integer", "real"] | None = None
    """What kind of numbers it has, by the word of a file that knows types."""

    @property
    def is_numeric(self) -> bool:
        """Whether the column holds numbers."""
        return self.values.dtype.kind == "f"

    @property
    def missing(self) -> NDArray[np.bool_]:
        """True where there is no value."""
        if self.is_numeric:
            return np.isnan(self.values)
        return np.array([value is None for value in self.values], dtype=np.bool_)

    def as_words(self) -> Values:
        """The values as words: a whole number without its decimal point.

        >>> Column("x", np.array([1.0, 2.5, np.nan])).as_words().tolist()
        ['1', '2.5', None]
        """
        if not self.is_numeric:
            return self.values
        numbers: list[float] = self.values.tolist()
        words = [f"{x:.0f}" if x.is_integer() else repr(x) for x in numbers]
        return np.array([None if w == "nan" else w for w in words], dtype=object)


@attrs.frozen(eq=False)
class Table:
    """Columns of one length, in order.

    ``source`` is the file, for error texts, and ``first_line`` the line of its first row where
    every row has a line of its own. In a ``sparse`` table columns that are not there are zero. Some
    ``rows`` of a table remember their numbers in the whole, in ``origin``.
    """

    columns: tuple[Column, ...] = attrs.field()
    source: str = "the table"
    first_line: int | None = None
    sparse: bool = False
    origin: NDArray[np.intp] | None = None

    @columns.validator
    def _check(self, _: object, columns: tuple[Column, ...]) -> None:
        check_names([column.name for column in columns], self.source)
        lengths = {len(column.values) for column in columns}
        if len(lengths) > 1:
            raise InputError(f"{self.source}: wanted columns of one length, found {lengths}")

    def __len__(self) -> int:
        """The number of rows."""
        return len(self.columns[0].values) if self.columns else 0

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns in order."""
        return tuple(column.name for column in self.columns)

    @property
    def is_nameless(self) -> bool:
        """Whether the columns have no names but their positions."""
        return self.names == tuple(map(str, range(1, len(self.columns) + 1)))

    def column(self, which: str | int) -> Column:
        """The column of that name; or else at that position, counted from 1, or from the end: -1.

        ``InputError`` with the nearest name if there is none.
        """
        by_name = {column.name: column for column in self.columns}
        if str(which) in by_name:
            return by_name[str(which)]
        if re.fullmatch(r"-?\d{1,9}", str(which)):
            position = int(which)
            if 1 <= abs(position) <= len(self.columns):
                return self.columns[position - 1 if position > 0 else position]
        raise InputError(f"{self.source}: there is no column {str(which)!r}; {self._offer(which)}")

    def _offer(self, which: str | int) -> str:
        if self.is_nameless:
            return (
                f"the columns have no names, but numbers from 1 to {len(self.columns)}. If the "
                "first row has the names, say header=True (on the command line: --header)"
            )
        close = suggestion(str(which), self.names)
        if close.startswith("did"):
            return close
        return f"choose from {', '.join(self.names[:20])}{', ...' * (len(self.names) > 20)}"

    def without(self, names: Collection[str]) -> Table:
        """The same rows without some columns, all of which must be there."""
        gone = {self.column(name).name for name in names}
        return attrs.evolve(self, columns=tuple(c for c in self.columns if c.name not in gone))

    def rows(self, numbers: NDArray[np.intp]) -> Table:
        """Some of the rows, in that order."""
        columns = tuple(attrs.evolve(c, values=c.values[numbers]) for c in self.columns)
        origin = numbers if self.origin is None else self.origin[numbers]
        return attrs.evolve(self, columns=columns, origin=origin)

    def where(self, row: int, column: str) -> str:
        """The place of a cell for an error text; rows are counted from 1, without the header."""
        row = row if self.origin is None else int(self.origin[row])
        line = f" (line {self.first_line + row})" if self.first_line is not None else ""
        return f"{self.source}: row {row + 1}{line}, column {column!r}"


def check_names(names: Iterable[str], source: str) -> None:
    """``InputError`` if two columns have the same name."""
    twice = sorted(name for name, count in Counter(names).items() if count > 1)
    if twice:
        raise InputError(
            f"{source}: wanted every column name once, found {', '.join(map(repr, twice))} more "
            "than once; rename one of them"
        )


def numbers_or_words(values: Iterable[object]) -> Values:
    """Values of any type as a column: numbers if all are, with None and NaN as missing. A length of
    time is a number of seconds.

    >>> numbers_or_words([1, None, Decimal("2.5"), timedelta(minutes=1)])
    array([ 1. ,  nan,  2.5, 60. ])
    >>> numbers_or_words(["a", None, True])
    array(['a', None, 'True'], dtype=object)
    """
    given: list[Any] = list(values)
    if all(v is None or (isinstance(v, _NUMBERS) and not isinstance(v, _TRUTHS)) for v in given):
        return np.array([np.nan if v is None else _float(v) for v in given], dtype=np.float64)
    words = [None if v is None or v != v else _word(v) for v in given]
    return np.array(words, dtype=object)


def written_number(text: str) -> float:
    """The number that a text is; ``ValueError`` if it is none. 1_2, which Python reads as 12, is a
    name."""
    if "_" in text:
        raise ValueError(text)
    return float(text)


def _float(number: Any) -> float:
    """A number as it is read from text: infinite if it is too large for a float."""
    if isinstance(number, timedelta):
        return number.total_seconds()
    if isinstance(number, np.timedelta64):
        return float(number / np.timedelta64(1, "s"))
    try:
        return float(number)
    except OverflowError:
        return np.inf if number > 0 else -np.inf


def _word(value: object) -> str:
    try:
        return str(value)
    except ValueError:  # a whole number of more digits than Python prints
        return str(_float(value))


_NUMBERS = (int, float, np.integer, np.floating, Decimal, Fraction, timedelta)
_TRUTHS = (bool, np.bool_)
