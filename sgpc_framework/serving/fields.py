"""What a row may hold, cell by cell: the schema that is published, and the check that holds it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import attrs
import numpy as np

from sgpc_framework.tables.encoding import Encoding, NumberColumn, WordColumn
from sgpc_framework.tables.table import Column, Values, numbers_or_words

LARGEST = 1e100
"""No number is larger, so that squares and sums of squares stay finite."""

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
    fields: list[Field] = []
    for column in encoding.columns:
        if isinstance(column, NumberColumn):
            example = float(f"{column.mean:.3g}")
            fields.append(NumberField(column.name, example, column.fill is not None))
        elif isinstance(column, WordColumn):
            strict = encoding.unseen == "refuse"
            fields.append(WordField(column.name, column.words, column.fill is not None, strict))
        else:  # a kind of column that speaks for itself when it is encoded
            fields.append(OtherField(column.name))
    return tuple(fields)


@attrs.frozen
class NumberField:
    """A number that is finite, or null if the model fills in missing ones."""

    name: str
    example: float = 0.0
    nullable: bool = False

    @property
    def schema(self) -> dict[str, Any]:
        kind = ["number", "null"] if self.nullable else "number"
        return {"type": kind, "minimum": -LARGEST, "maximum": LARGEST}

    def wanted(self, value: Any) -> str | None:
        if type(value) is float or type(value) is int:  # a bool is an int to isinstance
            return None if -LARGEST <= value <= LARGEST else "a number of at most 1e100 in size"
        if value is None and self.nullable:
            return None
        return "a number or null" if self.nullable else "a number"

    def values(self, given: Sequence[Any]) -> Values:
        return np.array([np.nan if v is None else float(v) for v in given], dtype=np.float64)


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
class OtherField:
    """A number, a word or null: the model's encoding says whether it will do."""

    name: str
    example: Any = None

    @property
    def schema(self) -> dict[str, Any]:
        return {"type": ["string", "number", "boolean", "null"]}

    def wanted(self, value: Any) -> str | None:
        plain = value is None or isinstance(value, (str, int, float))
        return None if plain else "a number, a word or null"

    def values(self, given: Sequence[Any]) -> Values:
        return numbers_or_words(given)


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
        return "inf"  # as a table has it, and no word of training
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
