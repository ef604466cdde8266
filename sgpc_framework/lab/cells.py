"""A cell of the experiments: one method, fitted once to one partition of one set."""

from __future__ import annotations

import hashlib
import json
from functools import cached_property, lru_cache
from typing import Any

import attrs
import numpy as np

from sgpc_framework.datasets import Benchmark
from sgpc_framework.design import Design, build
from sgpc_framework.lab.data_sources import PaperSet, Source
from sgpc_framework.lab.identities import identity_of
from sgpc_framework.lab.methods import Method, method
from sgpc_framework.lab.picks import Picks
from sgpc_framework.lab.timed_fit import TimedFit
from sgpc_framework.metrics.predictions import Predictions
from sgpc_framework.model.model import Model


def _picks(given: Picks | dict[str, Any] | None) -> Picks | None:
    return Picks(**given) if isinstance(given, dict) else given


@attrs.frozen
class Outcome:
    """What a fit came to. Losses are NLP in nats, errors are shares of the rows."""

    test_error: float
    test_nlp: float
    training_error: float
    training_nlp: float
    basis: int
    iterations: int
    """Rounds of the outer loop that were made,"""
    best: int
    """and the one that the model is of."""
    seconds: float
    cpu_seconds: float
    source: str
    """Where the rows came from, and how they were divided."""
    notes: str
    """What the trace notes, above all what rounding did."""
    fingerprint: str = ""
    """A name for the rows, training and test."""
    test_share: float = 0.0
    """Test rows by training rows, if all partitions divide the same rows; 0 if each has its own."""
    picks: Picks | None = attrs.field(default=None, converter=_picks)
    """What the selector chose, where that is known."""


@attrs.frozen(slots=False)  # without slots the identity is computed once
class Cell:
    """What is to be computed, a ``running.Job``."""

    data: str
    partition: int
    method: str
    size: int
    """d_max, the number of basis vectors."""

    iterations: int
    """iter_max, the most rounds of the outer loop."""

    rows: int | None = None
    """With how many of the training rows; all by default."""

    recipe: Method | None = attrs.field(default=None, eq=False, repr=False, kw_only=True)
    """What the method is; by default the one that the paper's experiments call so."""

    origin: Source | None = attrs.field(default=None, eq=False, repr=False, kw_only=True)
    """Where the data come from; by default the benchmark set of that name."""

    def __str__(self) -> str:
        return f"{self.data}, partition {self.partition}: {self.method}, {self.size}"

    @property
    def _method(self) -> Method:
        return self.recipe or method(self.method)

    @property
    def _source(self) -> Source:
        return self.origin or PaperSet(self.data)

    @property
    def design(self) -> Design:
        """The seed is the number of the partition; a method may say its own iterations."""
        chosen = {"max_iterations": self.iterations, **self._method.ready}
        return build(chosen, max_basis=self.size, seed=self.partition)

    @property
    def benchmark(self) -> Benchmark:
        return data_of(self._source, self.partition, self.rows)

    @cached_property
    def identity(self) -> dict[str, Any]:
        """All that the outcome depends on, as JSON has it.

        That is the whole configuration, the software and the rows. The same rows from another file
        are the same computation; another default of the framework makes it another one.
        """
        return {**identity_of(self.design.config), "rows": self.fingerprint}

    @property
    def fingerprint(self) -> str:
        """A name for the rows."""
        return digest_of(self._source, self.partition, self.rows)

    @property
    def cost(self) -> float:
        rows = min(self.rows or self._source.training_rows, self._source.training_rows)
        tried = 14 + self._method.candidates  # fitted to what fits took
        return self.iterations * rows * self.size * tried * (1 + self.size / 100)

    def fit(self) -> TimedFit:
        return TimedFit.of(self.design, self.benchmark)

    def compute(self) -> dict[str, Any]:
        """Fit and judge; the fields of an ``Outcome``."""
        data, fit = self.benchmark, self.fit()
        model = fit.model
        test = Predictions.of(model, data.X_test, data.y_test).merits
        training = Predictions.of(model, data.X, data.y).merits
        trace = model.trace if isinstance(model, Model) else None
        outcome = Outcome(
            test.error,
            test.nlp,
            training.error,
            training.nlp,
            basis=len(model),
            iterations=len(trace.iterations) if trace else 0,
            best=trace.best + 1 if trace else 0,
            seconds=fit.seconds,
            cpu_seconds=fit.cpu_seconds,
            source=data.source,
            notes="; ".join(trace.notes) if trace else "",
            fingerprint=self.fingerprint,
            test_share=0.0 if data.source == "generated" else len(data.y_test) / len(data.y),
            picks=Picks.of(trace, data, self._source.wrong_labels(data)) if trace else None,
        )
        return attrs.asdict(outcome)


@lru_cache(maxsize=2)
def data_of(source: Source, partition: int, rows: int | None) -> Benchmark:
    """The partition with its first training rows, remembered for the next cell of it."""
    return source.partition(partition).first_rows(rows)


@lru_cache(maxsize=1000)
def digest_of(source: Source, partition: int, rows: int | None) -> str:
    """A name for the rows and labels of a partition."""
    data, digest = data_of(source, partition, rows), hashlib.sha256()
    for array in (data.X, data.y, data.X_test, data.y_test):
        digest.update(json.dumps(array.shape).encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()[:24]
