"""What a column of a table becomes: learned once, and the same for every row that comes later.

A column of numbers becomes one feature, (x - mean) / scale; a column of words one feature for each
word, 1 where the row has that word and 0 elsewhere; a column of dates what their calendar says, as
numbers and words. Where some values were missing in training, one feature more says that one is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import attrs
import numpy as np
from attrs.validators import deep_iterable, instance_of, min_len, optional
from numpy.typing import NDArray

from sgpc_framework.errors import InputError
from sgpc_framework.tables.dates import CALENDAR, Dates, calendar_columns, moments
from sgpc_framework.tables.exact_sums import ExactSums
from sgpc_framework.tables.table import Column, Table
from sgpc_framework.tables.word_checks import is_number

Floats = NDArray[np.float64]

FEWEST_GAPS = 5
"""From fewer missing values nothing can be learnt about those that are."""


def _finite(_: object, field: attrs.Attribute[Any], value: Any) -> None:
    if type(value) is not float or not np.isfinite(value):
        raise ValueError(f"{field.name} must be a finite number, found {value!r}")


def _positive(_: object, field: attrs.Attribute[Any], value: float) -> None:
    if not value > 0.0:
        raise ValueError(f"{field.name} must be above zero, found {value!r}")


def _distinct(_: object, field: attrs.Attribute[Any], value: tuple[str, ...]) -> None:
    if len(set(value)) < len(value):
        raise ValueError(f"{field.name} must be distinct, found {value!r}")


def _flag() -> Any:
    """Whether a feature more says that a value is missing."""
    return attrs.field(default=False, validator=instance_of(bool))


@attrs.frozen
class NumberColumn:
    """A column of numbers: (x - mean) / scale, with ``fill`` for a missing x if there is one."""

    name: str = attrs.field(validator=instance_of(str))
    mean: float = attrs.field(default=0.0, validator=_finite)
    scale: float = attrs.field(default=1.0, validator=[_finite, _positive])
    fill: float | None = attrs.field(default=None, validator=optional(_finite))
    flagged: bool = _flag()

    @classmethod
    def learn(cls, table: Table, column: Column, standardise: bool, impute: bool) -> NumberColumn:
        """Mean and standard deviation of the values that are there, and their median as fill."""
        values = finite_numbers(table, column)
        gone = np.isnan(values)
        present = values[~gone]
        fill = float(np.median(present)) if impute else None
        learned = cls.of_sums(column.name, ExactSums.of(present) if standardise else None, fill)
        return attrs.evolve(learned, flagged=_are_some(gone))

    @classmethod
    def of_sums(cls, name: str, sums: ExactSums | None, fill: float | None) -> NumberColumn:
        """A column whose values have these sums; without them it is left as it is."""
        if sums is None:
            return cls(name, fill=fill)
        return cls(name, sums.mean, sums.deviation or 1.0, fill)

    @property
    def features(self) -> tuple[str, ...]:
        return (self.name, *_flag_name(self))

    def encode(self, table: Table, column: Column, unseen: str) -> Floats:
        """One feature, of shape (rows, 1), and the flag."""
        values = finite_numbers(table, _as_numbers(table, column))
        if self.fill is not None:
            values = np.where(np.isnan(values), self.fill, values)
        return _with_flag(self, column, ((values - self.mean) / self.scale)[:, None])


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
    flagged: bool = _flag()

    @classmethod
    def learn(cls, column: Column, impute: bool) -> WordColumn:
        """The words that are there in sorted order, and the most frequent of them as fill."""
        learned = cls.of_counts(column.name, word_counts(column), impute)
        return attrs.evolve(learned, flagged=_are_some(column.missing))

    @classmethod
    def of_counts(cls, name: str, counts: Counter[str], impute: bool) -> WordColumn:
        """A column that has these words so many times."""
        words = tuple(sorted(counts))
        return cls(name, words, max(words, key=counts.__getitem__) if impute else None)

    @property
    def features(self) -> tuple[str, ...]:
        return (*(f"{self.name}={word}" for word in self.words), *_flag_name(self))

    def encode(self, table: Table, column: Column, unseen: str) -> Floats:
        """One feature for each word, of shape (rows, words), and the flag."""
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
        return _with_flag(self, column, encoded)


@attrs.frozen
class DateColumn:
    """A column of dates: what their calendar says, as far as it differed in training.

    ``parts`` are columns of numbers and words by the names ``when.year``, ``when.weekday``, ...
    A weekday that training has not seen is none of those that it has.
    """

    name: str = attrs.field(validator=instance_of(str))
    parts: tuple[NumberColumn | WordColumn, ...] = attrs.field(
        validator=deep_iterable(instance_of((NumberColumn, WordColumn)), min_len(1))
    )
    flagged: bool = _flag()

    @parts.validator
    def _of_the_calendar(self, _: object, parts: tuple[NumberColumn | WordColumn, ...]) -> None:
        wanted = {f"{self.name}.{part}": part == "weekday" for part in CALENDAR}
        _distinct(self, attrs.fields(DateColumn).parts, tuple(part.name for part in parts))
        for part in parts:
            if wanted.get(part.name) is not isinstance(part, WordColumn) or part.flagged:
                raise ValueError(f"wanted a part of the calendar, found {part.name!r}")

    @classmethod
    def learn(cls, column: Column, dates: Dates, standardise: bool, impute: bool) -> DateColumn:
        """The parts that differ, with medians and the most frequent weekday as fill."""
        here = dates[~np.isnat(dates)]
        said = calendar_columns(here)
        medians = {n: float(np.median(v)) for n, v in said.items() if n != "weekday"}
        fills = medians if impute else None
        learned = cls.of_facts(column.name, calendar_facts(here), standardise, fills)
        return attrs.evolve(learned, flagged=_are_some(np.isnat(dates)))

    @classmethod
    def of_facts(
        cls,
        name: str,
        facts: Mapping[str, ExactSums | Counter[str]],
        standardise: bool,
        fills: Mapping[str, float] | None,
    ) -> DateColumn:
        """A column of which this is known: see ``calendar_facts``."""
        parts: list[NumberColumn | WordColumn] = []
        differing = [part for part, known in facts.items() if _differs(known)]
        for part in differing or CALENDAR[:1]:
            full, known = f"{name}.{part}", facts[part]
            if isinstance(known, Counter):
                parts.append(WordColumn.of_counts(full, known, impute=fills is not None))
            else:
                fill = None if fills is None else fills[part]
                parts.append(NumberColumn.of_sums(full, known if standardise else None, fill))
        return cls(name, tuple(parts))

    @property
    def fill(self) -> float | str | None:
        """None if a date may not be missing."""
        return self.parts[0].fill

    @property
    def features(self) -> tuple[str, ...]:
        return (*(each for part in self.parts for each in part.features), *_flag_name(self))

    @property
    def calendar(self) -> tuple[str, ...]:
        """The parts by their short names: year, month, ..."""
        return tuple(part.name.rpartition(".")[2] for part in self.parts)

    def encode(self, table: Table, column: Column, unseen: str) -> Floats:
        """The features of all parts, and the flag."""
        dates, strange = moments(column.as_words())
        if strange is not None:
            raise InputError(
                f"{table.where(strange, self.name)}: wanted a date such as 2026-01-31, as in "
                f"training, found {column.as_words()[strange]!r}"
            )
        values = calendar_columns(dates, self.calendar).values()
        encoded = [
            part.encode(table, Column(part.name, each), "zero")
            for part, each in zip(self.parts, values, strict=True)
        ]
        return _with_flag(self, column, np.concatenate(encoded, axis=1))


FeatureColumn = NumberColumn | WordColumn | DateColumn


def calendar_facts(dates: Dates) -> dict[str, ExactSums | Counter[str]]:
    """What is known of dates that are all there: the sums of each number, how often each weekday
    is there. Facts of several pieces of a column add up."""
    return {
        part: Counter(values.tolist()) if part == "weekday" else ExactSums.of(values)
        for part, values in calendar_columns(dates).items()
    }


def _differs(known: ExactSums | Counter[str]) -> bool:
    return len(known) > 1 if isinstance(known, Counter) else known.deviation > 0.0


def _are_some(missing: NDArray[np.bool_]) -> bool:
    return int(np.count_nonzero(missing)) >= FEWEST_GAPS


def _flag_name(column: FeatureColumn) -> tuple[str, ...]:
    return (f"{column.name} is missing",) if column.flagged else ()


def _with_flag(own: FeatureColumn, column: Column, features: Floats) -> Floats:
    if not own.flagged:
        return features
    return np.concatenate([features, column.missing[:, None].astype(np.float64)], axis=1)


def word_counts(column: Column) -> Counter[str]:
    """How often each word is in a column."""
    return Counter(word for word in column.as_words() if word is not None)


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
