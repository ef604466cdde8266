"""From the columns of a table to a matrix of features, learned once and kept with the model.

A column of numbers becomes one feature, (x - mean) / scale; a column of words becomes one feature
for each word, 1 where the row has that word and 0 elsewhere.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from typing import Any, Literal

import attrs
import numpy as np
from attrs.validators import deep_iterable, instance_of, min_len, optional
from numpy.typing import NDArray

from sgpc_framework.errors import InputError
from sgpc_framework.parts.options import one_of
from sgpc_framework.tables.complaints import Complaints
from sgpc_framework.tables.exact_sums import ExactSums
from sgpc_framework.tables.table import Column, Table
from sgpc_framework.tables.word_checks import check_words, is_number

Floats = NDArray[np.float64]

LARGEST = 2**53
"""Whole numbers up to this are the same as floats."""

MAX_WORDS = 100
"""The most different words of a column, unless more are asked for."""


def _finite(_: object, field: attrs.Attribute[Any], value: Any) -> None:
    if type(value) is not float or not np.isfinite(value):
        raise ValueError(f"{field.name} must be a finite number, found {value!r}")


def _positive(_: object, field: attrs.Attribute[Any], value: float) -> None:
    if not value > 0.0:
        raise ValueError(f"{field.name} must be above zero, found {value!r}")


def _distinct(_: object, field: attrs.Attribute[Any], value: tuple[str, ...]) -> None:
    if len(set(value)) < len(value):
        raise ValueError(f"{field.name} must be distinct, found {value!r}")


@attrs.frozen
class NumberColumn:
    """A column of numbers: (x - mean) / scale, with ``fill`` for a missing x if there is one."""

    name: str = attrs.field(validator=instance_of(str))
    mean: float = attrs.field(default=0.0, validator=_finite)
    scale: float = attrs.field(default=1.0, validator=[_finite, _positive])
    fill: float | None = attrs.field(default=None, validator=optional(_finite))

    @classmethod
    def learn(cls, table: Table, column: Column, standardise: bool, impute: bool) -> NumberColumn:
        """Mean and standard deviation of the values that are there, and their median as fill."""
        values = finite_numbers(table, column)
        present = values[~np.isnan(values)]
        fill = float(np.median(present)) if impute else None
        return cls.of_sums(column.name, ExactSums.of(present) if standardise else None, fill)

    @classmethod
    def of_sums(cls, name: str, sums: ExactSums | None, fill: float | None) -> NumberColumn:
        """A column whose values have these sums; without them it is left as it is."""
        if sums is None:
            return cls(name, fill=fill)
        return cls(name, sums.mean, sums.deviation or 1.0, fill)

    @property
    def features(self) -> tuple[str, ...]:
        return (self.name,)

    def encode(self, table: Table, column: Column, unseen: str) -> Floats:
        """One feature, of shape (rows, 1)."""
        values = finite_numbers(table, _as_numbers(table, column))
        if self.fill is not None:
            values = np.where(np.isnan(values), self.fill, values)
        return ((values - self.mean) / self.scale)[:, None]


@attrs.frozen
class WordColumn:
    """A column of words: a feature for each, and ``fill`` for a missing word if there is one."""

    name: str = attrs.field(validator=instance_of(str))
    words: tuple[str, ...] = attrs.field(
        validator=[
            deep_iterable(instance_of(str), instance_of(tuple)),
            min_len(1),
            _distinct,
        ]
    )
    fill: str | None = attrs.field(default=None, validator=optional(instance_of(str)))

    @classmethod
    def learn(cls, column: Column, impute: bool) -> WordColumn:
        """The words that are there in sorted order, and the most frequent of them as fill."""
        return cls.of_counts(column.name, word_counts(column), impute)

    @classmethod
    def of_counts(cls, name: str, counts: Counter[str], impute: bool) -> WordColumn:
        """A column that has these words so many times."""
        words = tuple(sorted(counts))
        return cls(name, words, max(words, key=counts.__getitem__) if impute else None)

    @property
    def features(self) -> tuple[str, ...]:
        return tuple(f"{self.name}={word}" for word in self.words)

    def encode(self, table: Table, column: Column, unseen: str) -> Floats:
        """One feature for each word, of shape (rows, words)."""
        place: dict[str | None, int] = {word: i for i, word in enumerate(self.words)}
        if self.fill is not None:
            place[None] = place.get(self.fill, -1)
        values = column.as_words()
        codes = np.array([place.get(word, -1) for word in values], dtype=np.intp)
        strange = np.flatnonzero(codes < 0)
        if strange.size and unseen == "refuse":
            words = {values[row] for row in strange}
            more = f" (and {len(words) - 1} other such words)" if len(words) > 1 else ""
            raise InputError(
                f"{table.where(strange[0], self.name)}: wanted one of the {len(self.words)} words "
                f"seen in training, found {values[strange[0]]!r}{more}; correct it, or have unseen "
                "words count as none of these: unseen='zero' (on the command line: --unseen zero)"
            )
        encoded = np.zeros((len(values), len(self.words)))
        known = np.flatnonzero(codes >= 0)
        encoded[known, codes[known]] = 1.0
        return encoded


@attrs.frozen
class Encoding:
    """How a table becomes a matrix: one entry for each column that is used, in order."""

    columns: tuple[NumberColumn | WordColumn, ...]
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
        by the median of a column or its most frequent word. ``words`` names columns that are
        words although they look like numbers.
        """
        if not table.columns:
            raise InputError(f"{table.source}: wanted a column besides the labels, found none")
        as_words = {table.column(name).name for name in words}
        learned: list[NumberColumn | WordColumn] = []
        complaints = Complaints(table.source)
        for column in table.columns:
            with complaints.collected():
                refuse_empty(table, column)
                asked = column.name in as_words
                if column.is_numeric and not asked:
                    refuse_missing(table, column, impute)
                    learned.append(NumberColumn.learn(table, column, standardise, impute))
                    continue
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
                continue
            if type(value) is not str or value not in own.words:
                return None
            features += [float(word == value) for word in own.words]
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
        kinds = {NumberColumn: "number", WordColumn: "words"}
        columns = [{"kind": kinds[type(column)], **attrs.asdict(column)} for column in self.columns]
        for column in columns:
            if "words" in column:
                column["words"] = list(column["words"])
        return {"unseen": self.unseen, "columns": columns}

    @classmethod
    def from_section(cls, section: Mapping[str, Any]) -> Encoding:
        """The encoding again; ``ValueError``, ``TypeError`` or ``KeyError`` if it is none."""
        columns: list[NumberColumn | WordColumn] = []
        for entry in section["columns"]:
            given = {key: value for key, value in entry.items() if key != "kind"}
            if entry["kind"] == "number":
                columns.append(NumberColumn(**given))
            elif entry["kind"] == "words":
                columns.append(WordColumn(**{**given, "words": tuple(given["words"])}))
            else:
                raise ValueError(f"wanted a column of numbers or words, found {entry['kind']!r}")
        if not columns:
            raise ValueError("wanted a column or more, found none")
        return cls(tuple(columns), section["unseen"])


def word_counts(column: Column) -> Counter[str]:
    """How often each word is in a column."""
    return Counter(word for word in column.as_words() if word is not None)


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


def _as_numbers(table: Table, column: Column) -> Column:
    if column.is_numeric:
        return column
    words = column.values.tolist()
    for row, word in enumerate(words):
        if word is not None and not is_number(word):
            raise InputError(
                f"{table.where(row, column.name)}: wanted a number, as in training, found {word!r}"
            )
    numbers = [np.nan if word is None else float(word) for word in words]
    return attrs.evolve(column, values=np.array(numbers))


def finite_numbers(table: Table, column: Column) -> Floats:
    """The values of a column of numbers, if none is infinite."""
    infinite = np.isinf(column.values)
    if infinite.any():
        row = int(infinite.argmax())
        raise InputError(
            f"{table.where(row, column.name)}: wanted a finite number, found {column.values[row]}"
        )
    return column.values
