"""A cell of the experiments: one method, fitted once to one partition of one set."""

from __future__ import annotations

import hashlib
import json
from functools import cached_property, lru_cache
from typing import Any

import attrs
import numpy as np

from sgpc_framework import datasets
from sgpc_framework.datasets import Benchmark
from sgpc_framework.design import Design, build
from sgpc_framework.lab.methods import method
from sgpc_framework.lab.timed_fit import TimedFit
from sgpc_framework.metrics.predictions import Predictions


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

    def __str__(self) -> str:
        return f"{self.data}, partition {self.partition}: {self.method}, {self.size}"

    @property
    def design(self) -> Design:
        """The seed is the number of the partition."""
        chosen = {**method(self.method).settings, "max_basis": self.size}
        return build(chosen, max_iterations=self.iterations, seed=self.partition)

    @property
    def benchmark(self) -> Benchmark:
        return data_of(self.data, self.partition, self.rows)

    @cached_property
    def identity(self) -> dict[str, Any]:
        """All that the outcome depends on, as JSON has it: the whole configuration, the rows.

        The same rows from another file are the same computation; another default of the framework
        makes it another one.
        """
        rows = digest_of(self.data, self.partition, self.rows)
        return {"design": self.design.config.to_mapping(), "rows": rows}

    @property
    def cost(self) -> float:
        rows = self.rows or datasets.BENCHMARKS[self.data].train
        tried = 14 + method(self.method).candidates  # fitted to what fits took
        return self.iterations * rows * self.size * tried * (1 + self.size / 100)

    def fit(self) -> TimedFit:
        return TimedFit.of(self.design, self.benchmark)

    def compute(self) -> dict[str, Any]:
        """Fit and judge; the fields of an ``Outcome``."""
        data, fit = self.benchmark, self.fit()
        model = fit.model
        test = Predictions.of(model, data.X_test, data.y_test).merits
        training = Predictions.of(model, data.X, data.y).merits
        outcome = Outcome(
            test.error,
            test.nlp,
            training.error,
            training.nlp,
            basis=len(model),
            iterations=len(model.trace.iterations),
            best=model.trace.best + 1,
            seconds=fit.seconds,
            cpu_seconds=fit.cpu_seconds,
            source=data.source,
            notes="; ".join(model.trace.notes),
        )
        return attrs.asdict(outcome)


@lru_cache(maxsize=2)
def data_of(name: str, partition: int, rows: int | None) -> Benchmark:
    """The partition with its first training rows, remembered for the next cell of it."""
    return datasets.benchmark(name, partition).first_rows(rows)


@lru_cache(maxsize=1000)
def digest_of(name: str, partition: int, rows: int | None) -> str:
    """A name for the rows and labels of a partition."""
    data, digest = data_of(name, partition, rows), hashlib.sha256()
    for array in (data.X, data.y, data.X_test, data.y_test):
        digest.update(json.dumps(array.shape).encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()[:24]
