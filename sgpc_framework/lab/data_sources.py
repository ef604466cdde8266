"""Where the rows of a cell come from: a benchmark set, a generated one, or a table in a file.

A source is small, can be hashed and goes to other processes; the rows are read there.
"""

from __future__ import annotations

from collections.abc import Hashable
from pathlib import Path
from typing import Protocol

import attrs
import numpy as np
from numpy.typing import NDArray

from sgpc_framework import datasets
from sgpc_framework.datasets import Benchmark
from sgpc_framework.errors import InputError
from sgpc_framework.lab.bayes import KNOWN
from sgpc_framework.tables.encoding import Encoding
from sgpc_framework.tables.labels import training_labels
from sgpc_framework.tables.table import Table
from sgpc_framework.tables.table_files import DEFAULT_TARGET, format_of, read_table

Floats = NDArray[np.float64]

TARGETS = ("target", "label", "labels", "class", "y")
"""What a column with labels is called, in any case; without one of these it is the last."""

TRAINING_SHARE = 0.7


class Source(Hashable, Protocol):
    """A data set that can be divided in many ways."""

    @property
    def name(self) -> str:
        """What tables and figures call it."""

    @property
    def training_rows(self) -> int:
        """About how many rows there are to train with."""

    def partition(self, number: int) -> Benchmark:
        """The rows, divided in the way of that number."""

    def wrong_labels(self, data: Benchmark) -> NDArray[np.bool_] | None:
        """Which training rows have a label that the best classifier would not give, if known."""


@attrs.frozen
class PaperSet:
    """One of the six sets, as ``datasets.benchmark`` has it."""

    name: str = attrs.field()

    @property
    def training_rows(self) -> int:
        return datasets.BENCHMARKS[self.name].train

    def partition(self, number: int) -> Benchmark:
        return datasets.benchmark(self.name, number)

    def wrong_labels(self, data: Benchmark) -> NDArray[np.bool_] | None:
        """Files are standardised, so the log-odds are known of generated rows only."""
        if self.name not in KNOWN or data.source != "generated":
            return None
        return KNOWN[self.name].log_odds(data.X) * data.y < 0.0


@attrs.frozen
class GeneratedSet:
    """Rows of a known distribution, new ones for every partition."""

    name: str
    training_rows: int = 1000
    test_rows: int = 2000

    def partition(self, number: int) -> Benchmark:
        n = self.training_rows
        X, y = KNOWN[self.name].generate(n + self.test_rows, number)
        return Benchmark(self.name, X[:n], y[:n], X[n:], y[n:], "generated")

    def wrong_labels(self, data: Benchmark) -> NDArray[np.bool_] | None:
        return KNOWN[self.name].log_odds(data.X) * data.y < 0.0


@attrs.frozen
class TableFile:
    """A table; partitions are random, with about as many rows of each class in both parts.

    Labels are a column of one of the names in ``TARGETS``, else the last. The encoding is learned
    from the training rows; missing values become medians or the most frequent word.
    """

    path: Path
    target: str | None = None

    @property
    def name(self) -> str:
        return self.path.name.partition(".")[0]

    @property
    def training_rows(self) -> int:
        return 1000  # to know it, one would have to read the file

    def partition(self, number: int) -> Benchmark:
        table = read_table(self.path)
        target, labels = training_labels(table, self._target(table))
        training = _stratified(labels, number)
        train, test = (table.rows(np.flatnonzero(some)) for some in (training, ~training))
        encoding = Encoding.learn(train.without([target]), impute=True, unseen="zero")
        X, X_test = (encoding.encode(some.without([target])) for some in (train, test))
        codes = np.unique(labels, return_inverse=True)[1].astype(np.float64)
        source = f"random partition {number}"
        return Benchmark(self.name, X, codes[training], X_test, codes[~training], source)

    def wrong_labels(self, data: Benchmark) -> NDArray[np.bool_] | None:
        return None

    def _target(self, table: Table) -> str:
        if self.target is not None:
            return self.target
        usual = DEFAULT_TARGET.get(format_of(self.path))
        named = [name for name in table.names if name.lower() in TARGETS]
        return usual or (named[0] if named else table.names[-1])


def _stratified(labels: NDArray[np.generic], seed: int) -> NDArray[np.bool_]:
    """Which rows are trained with: the same share of every class, and at least one of each."""
    rng = np.random.default_rng(seed)
    training = np.zeros(len(labels), dtype=np.bool_)
    classes, counts = np.unique(labels, return_counts=True)
    if counts.min() < 2:
        raise InputError(
            f"wanted two rows of every class or more, found one of {classes[counts.argmin()]!s}"
        )
    for label, count in zip(classes, counts.tolist(), strict=True):
        rows = rng.permutation(np.flatnonzero(labels == label))
        training[rows[: min(max(round(TRAINING_SHARE * count), 1), count - 1)]] = True
    return training
