"""Dask data frames as tables: the encoding learnt from facts about partitions, in the one pass that
looks at them, and applied when the rows are laid."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import reduce
from operator import add
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal

import attrs
import numpy as np
from numpy.typing import NDArray

from sgpc_framework.adapters.dask.collections import (
    laid_rows,
    partitions_of,
    present_client,
    surveyed,
)
from sgpc_framework.adapters.dask.partitions import Part, Survey
from sgpc_framework.adapters.dask.worker_pool import WorkerPool
from sgpc_framework.design import Design
from sgpc_framework.engine.progress import Progress
from sgpc_framework.errors import InputError
from sgpc_framework.model.classes import Classifier
from sgpc_framework.model.costs import Costs
from sgpc_framework.protocols import Inputs
from sgpc_framework.rows.blocks import Contents
from sgpc_framework.tables.data_frames import as_table
from sgpc_framework.tables.dates import dates_of
from sgpc_framework.tables.encoding import Encoding, refuse_missing
from sgpc_framework.tables.exact_sums import ExactSums
from sgpc_framework.tables.feature_columns import (
    DateColumn,
    FeatureColumn,
    NumberColumn,
    WordColumn,
    calendar_facts,
    finite_numbers,
    word_counts,
)
from sgpc_framework.tables.labels import check_label_classes, labels_of
from sgpc_framework.tables.row_weights import weights_of
from sgpc_framework.tables.table import Column, Table
from sgpc_framework.tables.word_checks import Slips, check_word_count, check_words

if TYPE_CHECKING:
    from sgpc_framework.files.checkpoints import Checkpoint

SOURCE = "the data frame"
FILL_IN = "fill it in with frame.fillna(...), or leave out such rows with frame.dropna()"


@attrs.frozen(eq=False)
class Cells:
    """The feature columns of a partition, of which rows can be taken as of an array."""

    table: Table

    def __len__(self) -> int:
        return len(self.table)

    def __getitem__(self, which: Any) -> Cells:
        return Cells(self.table.rows(np.arange(len(self.table))[which]))


@attrs.frozen(eq=False)
class ColumnFacts:
    """What is known of a column in some of the partitions."""

    present: int
    """How many values are there."""
    numbers: ExactSums | None = None
    """Their sums, if they are numbers."""
    words: Counter[str] | None = None
    """How often each is there, if they are words."""
    slips: Slips | None = None
    dates: Mapping[str, ExactSums | Counter[str]] | None = None
    """What the calendar says of them, if they are dates."""

    @property
    def kind(self) -> str:
        """What the values are."""
        return "numbers" if self.numbers else "dates" if self.dates else "words"

    def __add__(self, other: ColumnFacts) -> ColumnFacts:
        if not other.present or not self.present:
            return self if self.present else other
        if self.kind != other.kind:
            one, another = sorted((self.kind, other.kind))
            raise InputError(f"{one} in some partitions and {another} in others: give it one type")
        return ColumnFacts(
            self.present + other.present,
            _together(self.numbers, other.numbers),
            _together(self.words, other.words),
            _together(self.slips, other.slips),
            None if self.dates is None else _calendars_together(self.dates, other.dates or {}),
        )


def _calendars_together(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    return {part: one[part] + other[part] for part in one}


def _together(one: Any, other: Any) -> Any:
    return None if one is None or other is None else one + other


@attrs.frozen(eq=False)
class TableReader:
    """Partitions of a data frame: which columns are what, and how they are encoded, once known."""

    target: str
    weight: str | None
    drop: tuple[str, ...]
    words: frozenset[str]
    max_words: int
    encoding: Encoding | None = None

    def contents(self, X: Any, y: Any, weight: Any) -> Contents | None:
        if not len(X):
            return None
        table = attrs.evolve(as_table(X), source=SOURCE)
        labels = labels_of(table, table.column(self.target))
        weights = weight
        if self.weight is not None:
            _, weights = weights_of(table, self.weight)
        out = [*self.drop, self.target, *([] if self.weight is None else [self.weight])]
        features = table.without(out)
        for column in features.columns:
            refuse_missing(features, column, impute=False, advice=FILL_IN)
            if column.is_numeric:
                finite_numbers(features, column)
        return Contents(Cells(features), labels, weights)

    def facts(self, contents: Contents) -> Mapping[str, ColumnFacts]:
        """The facts of each column."""
        table: Table = contents.X.table
        return {column.name: self._facts(table, column) for column in table.columns}

    def arrays(self, X: Inputs) -> Sequence[NDArray[Any]]:
        return [column.values for column in X.table.columns]

    def inputs(self, X: Inputs) -> Inputs:
        assert self.encoding is not None
        return self.encoding.encode(X.table)

    def _facts(self, table: Table, column: Column) -> ColumnFacts:
        present = int(np.count_nonzero(~column.missing))
        if column.is_numeric and column.name not in self.words:
            return ColumnFacts(present, numbers=ExactSums.of(column.values))
        if column.name not in self.words and (dates := dates_of(column)) is not None:
            return ColumnFacts(present, dates=calendar_facts(dates))
        counts = word_counts(column)
        if len(counts) > self.max_words:  # no partition has to be sent that many
            check_words(table, column, len(counts), self.max_words, column.name in self.words)
        return ColumnFacts(present, words=counts, slips=Slips.of(table, column))


@attrs.frozen(eq=False)
class FrameFit:
    """A Dask data frame that is to be fitted; ``target`` and ``weight`` are names of columns, or
    their positions counted from 1."""

    frame: Any
    target: str | int
    weight: str | int | None
    drop: Collection[str]
    words: Collection[str]
    max_words: int

    def fitted(
        self,
        design: Design,
        progress: Callable[[Progress], object],
        *,
        standardise: bool,
        impute: bool,
        unseen: Literal["refuse", "zero"],
        checkpoint: Checkpoint | str | PathLike[str] | None,
        costs: Any = None,
    ) -> tuple[Encoding, str, Classifier]:
        """The encoding, the name of the target, and the model."""
        if impute:
            raise InputError(
                f"a missing value of a Dask data frame is not filled in by a fit: {FILL_IN}"
            )
        pool, reader = WorkerPool(present_client()), self._reader()
        parts = [Part(part, None, None) for part, _ in partitions_of(self.frame)]
        surveys = surveyed(pool, parts, reader)
        self._check_labels(reader.target, surveys, costs)
        encoding = self._encoding(surveys, reader, standardise, unseen)
        reader = attrs.evolve(reader, encoding=encoding)
        rows, classes = laid_rows(pool, parts, reader, surveys, design.config)
        model = design.fit_rows(rows, classes, progress=progress, checkpoint=checkpoint)
        return encoding, reader.target, model

    def _reader(self) -> TableReader:
        empty = np.empty(0)
        header = Table(tuple(Column(str(name), empty) for name in self.frame.columns), SOURCE)
        target = header.column(self.target).name
        weight = None
        if self.weight is not None:
            if not isinstance(self.weight, (str, int)):
                raise InputError("sample_weight of a Dask data frame must be one of its columns")
            weight = header.column(self.weight).name
            if weight == target:
                raise InputError(
                    f"{SOURCE}: wanted labels and weights in two columns, found both in {target!r}"
                )
        words = frozenset(header.column(word).name for word in self.words)
        drop = tuple(header.column(name).name for name in self.drop)
        if not header.without([*drop, target, *([] if weight is None else [weight])]).columns:
            raise InputError(f"{SOURCE}: wanted a column besides the labels, found none")
        return TableReader(target, weight, drop, words, self.max_words)

    def _check_labels(self, target: str, surveys: Sequence[Survey], costs: Any) -> None:
        found = [each.labels for each in surveys if each.labels is not None and len(each.labels)]
        if len({labels.dtype.kind in "US" for labels in found}) > 1:
            raise InputError(
                f"{SOURCE}: column {target!r} has numbers in some partitions and words in others: "
                "give it one type"
            )
        rows = sum(each.rows for each in surveys)
        if found:
            classes = np.unique(np.concatenate(found))
            check_label_classes(SOURCE, target, classes, rows)
            if costs is not None:
                Costs.of(classes, costs)  # what is wrong is said before the fit

    def _encoding(
        self,
        surveys: Sequence[Survey],
        reader: TableReader,
        standardise: bool,
        unseen: Literal["refuse", "zero"],
    ) -> Encoding:
        known = [each.facts for each in surveys if each.facts is not None]
        rows = sum(each.rows for each in surveys)
        columns: list[FeatureColumn] = []
        for name in known[0]:
            try:
                facts: ColumnFacts = reduce(add, (each[name] for each in known))
            except InputError as error:
                raise InputError(f"{SOURCE}: column {name!r} has {error}") from None
            if facts.dates is not None:
                columns.append(DateColumn.of_facts(name, facts.dates, standardise, None))
                continue
            if facts.words is None:
                sums = facts.numbers if standardise else None
                columns.append(NumberColumn.of_sums(name, sums, None))
                continue
            asked = name in reader.words
            if facts.slips is not None and not asked and len(facts.words) > 2:
                facts.slips.check()
            example = next(iter(facts.words))
            different = len(facts.words)
            check_word_count(SOURCE, name, different, rows, example, reader.max_words, asked)
            columns.append(WordColumn.of_counts(name, facts.words, impute=False))
        return Encoding(tuple(columns), unseen)
