"""What a row may hold, cell by cell: the schema that is published, and the check that holds it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import attrs
import numpy as np

from sgpc_framework.rows.checking import LARGEST
from sgpc_framework.tables.dates import moment
from sgpc_framework.tables.encoding import Encoding
from sgpc_framework.tables.feature_columns import (
    DateColumn,
    FeatureColumn,
    NumberColumn,
    WordColumn,
)
from sgpc_framework.tables.table import Column, Values

REACH = LARGEST / 10
"""So far from its mean a number may be, in standard deviations: rounding leaves it a number that
the model takes."""

LISTED = 10
"""So many words are named when another was found."""


class Field(Protocol):
    """One cell of a row."""

    @property
    def name(self) -> str:
        """The column; of an array, its position, counted from 0."""

    @property
    def schema(self) -> dict[str, Any]:
        """The values that it takes, as JSON Schema."""

    @property
    def example(self) -> Any:
        """A value that it takes."""

    def wanted(self, value: Any) -> str | None:
        """What was wanted instead of a JSON value; None if the value will do."""

    def values(self, given: Sequence[Any]) -> Values:
        """JSON values that will do, as the values of a table's column."""


def fields_of(encoding: Encoding) -> tuple[Field, ...]:
    """The fields of a table's rows, in the order of its columns."""
    return tuple(_field(column, encoding.unseen == "refuse") for column in encoding.columns)


def _field(column: FeatureColumn, strict: bool) -> Field:
    nullable = column.fill is not None
    match column:
        case NumberColumn():
            return NumberField.of(column)
        case WordColumn(name, words):
            return WordField(name, words, nullable, strict)
        case DateColumn(name):
            return DateField(name, nullable)


@attrs.frozen
class NumberField:
    """A number between two others, or null if the model fills in missing ones."""

    name: str
    example: float = 0.0
    nullable: bool = False
    least: float = -REACH
    greatest: float = REACH

    @classmethod
    def of(cls, column: NumberColumn) -> NumberField:
        """The field of a column, whose numbers become (x - mean) / scale."""
        typical = column.mean if column.fill is None else column.fill
        largest = np.finfo(np.float64).max
        reach = min(REACH * column.scale, largest / 2)
        least, greatest = max(column.mean - reach, -largest), min(column.mean + reach, largest)
        return cls(column.name, short(typical), column.fill is not None, least, greatest)

    @property
    def schema(self) -> dict[str, Any]:
        kind = ["number", "null"] if self.nullable else "number"
        return {"type": kind, "minimum": self.least, "maximum": self.greatest}

    def wanted(self, value: Any) -> str | None:
        if type(value) is float or type(value) is int:  # a bool is an int to isinstance
            if self.least <= value <= self.greatest:
                return None
            return f"a number from {self.least:.3g} to {self.greatest:.3g}"
        if value is None and self.nullable:
            return None
        return "a number or null" if self.nullable else "a number"

    def values(self, given: Sequence[Any]) -> Values:
        return np.array([np.nan if v is None else float(v) for v in given], dtype=np.float64)


def short(number: float) -> float:
    """Three digits of a number, for an example.

    >>> short(31.4159)
    31.4
    """
    return float(f"{number:.3g}")


@attrs.frozen
class WordField:
    """A word: one of those seen in training, unless the model lets others count as none.

    Columns of frames that hold numbers or truth values were words in training if they had to be;
    so a number and a truth value stand for the word that they were read as.
    """

    name: str
    words: tuple[str, ...]
    nullable: bool = False
    strict: bool = True
    _known: frozenset[str] = attrs.field(init=False)

    @_known.default
    def _known_words(self) -> frozenset[str]:
        return frozenset(self.words)

    @property
    def example(self) -> str:
        return self.words[0]

    @property
    def schema(self) -> dict[str, Any]:
        if not self.strict:
            kinds = ["string", "number", "boolean", *(["null"] if self.nullable else [])]
            return {"type": kinds, "examples": list(self.words[:LISTED])}
        others = [other for word in self.words for other in _other_forms(word)]
        return {"enum": [*self.words, *others, *([None] if self.nullable else [])]}

    def wanted(self, value: Any) -> str | None:
        if value is None:
            return None if self.nullable else self._choice()
        if isinstance(value, (str, int, float)):
            return None if not self.strict or _word(value) in self._known else self._choice()
        return self._choice()

    def values(self, given: Sequence[Any]) -> Values:
        return np.array([None if v is None else _word(v) for v in given], dtype=object)

    def _choice(self) -> str:
        listed = ", ".join(f'"{word}"' for word in self.words[:LISTED])
        more = f", ... ({len(self.words)} words)" if len(self.words) > LISTED else ""
        kind = "one of" if self.strict else "a word such as"
        return f"{kind} {listed}{more}{', or null' if self.nullable else ''}"


@attrs.frozen
class DateField:
    """A date, with a time or without, as RFC 3339 writes them."""

    name: str
    nullable: bool = False
    example: str = "2026-01-31"

    @property
    def schema(self) -> dict[str, Any]:
        texts = [{"type": "string", "format": form} for form in ("date", "date-time")]
        return {"anyOf": [*texts, *([{"type": "null"}] if self.nullable else [])]}

    def wanted(self, value: Any) -> str | None:
        if value is None and self.nullable:
            return None
        if isinstance(value, str) and moment(value) is not None:
            return None
        return f'a date such as "{self.example}"{", or null" if self.nullable else ""}'

    def values(self, given: Sequence[Any]) -> Values:
        return np.array(given, dtype=object)


def _word(value: str | float) -> str:
    """The word that a value of a table is read as.

    >>> _word(3), _word(2.5), _word(True), _word("red")
    ('3', '2.5', 'True', 'red')
    """
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(value)
    if abs(value) > LARGEST:
        return "inf"  # no word of training
    return str(Column("", np.array([value], dtype=np.float64)).as_words()[0])


def _other_forms(word: str) -> list[Any]:
    """The number or the truth value that is read as this word."""
    if word in ("True", "False"):
        return [word == "True"]
    try:
        number = float(word)
    except ValueError:
        return []
    if not abs(number) <= LARGEST or _word(number) != word:
        return []
    return [int(number) if number.is_integer() else number]
