"""From the columns of a table to a matrix of features, learned once and kept with the model."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, Literal

import attrs
import numpy as np
from numpy.typing import NDArray

from sgpc_framework.errors import InputError
from sgpc_framework.parts.options import one_of
from sgpc_framework.tables.complaints import Complaints
from sgpc_framework.tables.dates import dates_of
from sgpc_framework.tables.feature_columns import (
    DateColumn,
    FeatureColumn,
    NumberColumn,
    WordColumn,
)
from sgpc_framework.tables.table import Column, Table
from sgpc_framework.tables.word_checks import LARGEST, check_digits, check_words

Floats = NDArray[np.float64]

MAX_WORDS = 100
"""The most different words of a column, unless more are asked for."""


@attrs.frozen
class Encoding:
    """How a table becomes a matrix: one entry for each column that is used, in order."""

    columns: tuple[FeatureColumn, ...]
    unseen: Literal["refuse", "zero"] = one_of("refuse", "zero")
    """Words that training has not seen are refused, or have a zero in every feature."""

    @classmethod
    def learn(
        cls,
        table: Table,
        *,
        standardise: bool = True,
        impute: bool = False,
        unseen: Literal["refuse", "zero"] = "refuse",
        words: Collection[str] = (),
        max_words: int = MAX_WORDS,
    ) -> Encoding:
        """The encoding of a training table, which has no column besides the features.

        Missing values are refused with their row and column, unless ``impute`` has them replaced
        by the median of a column or its most frequent word, and a feature more say where that
        was. ``words`` names columns that are words although they look like numbers or dates.
        """
        if not table.columns:
            raise InputError(f"{table.source}: wanted a column besides the labels, found none")
        as_words = {table.column(name).name for name in words}
        learned: list[FeatureColumn] = []
        complaints = Complaints(table.source)
        for column in table.columns:
            with complaints.collected():
                refuse_empty(table, column)
                asked = column.name in as_words
                if column.is_numeric and not asked:
                    refuse_missing(table, column, impute)
                    learned.append(NumberColumn.learn(table, column, standardise, impute))
                    continue
                if not asked and (dates := dates_of(column)) is not None:
                    refuse_missing(table, column, impute)
                    learned.append(DateColumn.learn(column, dates, standardise, impute))
                    continue
                if column.is_numeric:
                    check_digits(table, column)
                word_column = WordColumn.learn(column, impute)
                check_words(table, column, len(word_column.words), max_words, asked)
                refuse_missing(table, column, impute)
                learned.append(word_column)
        complaints.check()
        return cls(tuple(learned), unseen)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of a table that it reads."""
        return tuple(column.name for column in self.columns)

    @property
    def words(self) -> tuple[str, ...]:
        """Those of them that hold words."""
        return tuple(c.name for c in self.columns if isinstance(c, WordColumn))

    @property
    def dates(self) -> tuple[DateColumn, ...]:
        """The columns that hold dates."""
        return tuple(c for c in self.columns if isinstance(c, DateColumn))

    @property
    def features(self) -> tuple[str, ...]:
        """The columns of the matrix: ``age``, ``colour=blue``, ``colour=red``, ..."""
        return tuple(feature for column in self.columns for feature in column.features)

    @property
    def features_of_columns(self) -> dict[str, range]:
        """Which columns of the matrix each column of the table has become."""
        places, start = {}, 0
        for column in self.columns:
            places[column.name] = range(start, start + len(column.features))
            start += len(column.features)
        return places

    def plain_columns(self) -> Iterator[tuple[NumberColumn | WordColumn, slice]]:
        """Columns of numbers and words, with the parts of dates in their place, and the features of
        each. The flag of a column is the last of them; that of dates is a number of its own."""
        begin = 0
        for column in self.columns:
            parts: list[NumberColumn | WordColumn]
            if isinstance(column, DateColumn):
                parts = [*column.parts]
                parts += [NumberColumn(column.features[-1])] * column.flagged
            else:
                parts = [column]
            for part in parts:
                end = begin + len(part.features)
                yield part, slice(begin, end)
                begin = end

    def encode(self, table: Table) -> Floats:
        """The matrix of a table that has these columns, in whatever order.

        A table without names, and with as many columns as this has, has them in the order of this.
        """
        parts = []
        table = self.align(table)
        present = {column.name: column for column in table.columns}
        self._refuse_absent(table, present)
        zeros = np.zeros(len(table))
        complaints = Complaints(table.source)
        for own in self.columns:
            column = present.get(own.name, Column(own.name, zeros))
            with complaints.collected():
                refuse_missing(table, column, impute=own.fill is not None)
                parts.append(own.encode(table, column, self.unseen))
        complaints.check()
        return np.concatenate(parts, axis=1)

    def encode_row(self, row: Mapping[str, Any]) -> Floats | None:
        """The matrix of one row of plain numbers and known words, as ``encode`` has it, but sooner.

        None if there is anything else, for which ``encode`` has the rules and the words.
        """
        features: list[float] = []
        for own in self.columns:
            value = row.get(own.name)
            if isinstance(own, NumberColumn):
                plain = type(value) is float or type(value) is int
                if not plain or not -LARGEST < value < LARGEST:  # type: ignore[operator]
                    return None
                features.append((value - own.mean) / own.scale)  # type: ignore[operator]
            elif isinstance(own, WordColumn) and type(value) is str and value in own.words:
                features += [float(word == value) for word in own.words]
            else:
                return None
            if own.flagged:
                features.append(0.0)
        return np.array([features])

    def align(self, table: Table) -> Table:
        """The table, with the names of this where it has none and as many columns."""
        if not table.is_nameless or len(table.columns) != len(self.columns):
            return table
        pairs = zip(table.columns, self.names, strict=True)
        return attrs.evolve(table, columns=tuple(attrs.evolve(c, name=n) for c, n in pairs))

    def _refuse_absent(self, table: Table, present: Collection[str]) -> None:
        absent = [name for name in self.names if name not in present]
        if absent and not table.sparse:
            raise InputError(
                f"{table.source}: wanted the {len(self.columns)} columns that the model was fitted "
                f"to, found {len(table.columns)} without {', '.join(map(repr, absent[:5]))}"
                f"{', ...' if len(absent) > 5 else ''}"
            )

    def as_section(self) -> dict[str, Any]:
        """The encoding as plain data, for a model file."""
        return {"unseen": self.unseen, "columns": [*map(_as_entry, self.columns)]}

    @classmethod
    def from_section(cls, section: Mapping[str, Any]) -> Encoding:
        """The encoding again; ``ValueError``, ``TypeError`` or ``KeyError`` if it is none."""
        columns = tuple(map(_from_entry, section["columns"]))
        if not columns:
            raise ValueError("wanted a column or more, found none")
        return cls(columns, section["unseen"])


def _as_entry(column: FeatureColumn) -> dict[str, Any]:
    entry: dict[str, Any] = {"kind": _KINDS[type(column)]}
    for field in attrs.fields(type(column)):
        value = getattr(column, field.name)
        if field.name == "parts":
            value = [*map(_as_entry, value)]
        elif field.name == "words":
            value = list(value)
        if field.name != "flagged" or value:  # files without flags are as they always were
            entry[field.name] = value
    return entry


def _from_entry(entry: Mapping[str, Any]) -> FeatureColumn:
    if entry["kind"] != "dates":
        return _plain_from_entry(entry)
    given = {key: value for key, value in entry.items() if key != "kind"}
    return DateColumn(**{**given, "parts": tuple(map(_plain_from_entry, given["parts"]))})


def _plain_from_entry(entry: Mapping[str, Any]) -> NumberColumn | WordColumn:
    given = {key: value for key, value in entry.items() if key != "kind"}
    if entry["kind"] == "number":
        return NumberColumn(**given)
    if entry["kind"] == "words":
        return WordColumn(**{**given, "words": tuple(given["words"])})
    raise ValueError(f"wanted a column of numbers, words or dates, found {entry['kind']!r}")


_KINDS: dict[type, str] = {NumberColumn: "number", WordColumn: "words", DateColumn: "dates"}


def refuse_empty(table: Table, column: Column) -> None:
    """``InputError`` if a column has no value."""
    if column.missing.all():
        raise InputError(
            f"{table.source}: column {column.name!r} has no value at all; leave it out "
            f"(on the command line: --drop {column.name!r})"
        )


IMPUTE = (
    "fill it in, leave out the row or the column, or fit with impute=True "
    "(on the command line: --impute), which puts medians and most frequent words there"
)


def refuse_missing(table: Table, column: Column, impute: bool, advice: str = IMPUTE) -> None:
    """``InputError`` if a value is missing, unless it will be filled in."""
    missing = column.missing
    if missing.any() and not impute:
        count = int(missing.sum())
        share = f" ({count} of {len(missing)} rows have none)" if count > 1 else ""
        raise InputError(
            f"{table.where(int(missing.argmax()), column.name)}: the value is missing{share}; "
            f"{advice}"
        )
