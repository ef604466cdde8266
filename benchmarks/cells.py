"""The cells of the quality benchmark: one method, fitted once to one partition of one set."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

import sgpc_framework as sgpc
from benchmarks import rivals
from benchmarks.peers import merits
from sgpc_framework import datasets
from sgpc_framework.datasets import Benchmark
from sgpc_framework.lab.timed_fit import TimedFit
from sgpc_framework.metrics.merits import reliability_of_labels

Floats = NDArray[np.float64]


@attrs.frozen
class Ours:
    """A design of ours: what ``sgpc.build`` is given, besides ``max_basis``."""

    design: str | Mapping[str, Any]
    sized: bool = True

    def settings(self, size: int | None, steps: int) -> dict[str, Any]:
        return sgpc.build(self.design, max_basis=size).config.to_mapping()

    def fit(self, data: Benchmark, settings: dict[str, Any]) -> Scores:
        few = data.first_rows(200)
        sgpc.build({**settings, "max_basis": 5}).fit(few.X, few.y)  # loads what a fit needs
        fit = TimedFit.of(sgpc.build(settings), data)
        with TemporaryDirectory() as folder:
            path = Path(folder, "model.sgpc")
            fit.model.save(path)
            size = path.stat().st_size
        probability = fit.model.predict_proba(data.X_test)[:, 1]
        return Scores.of(probability, data, fit.seconds, fit.cpu_seconds, size)


@attrs.frozen
class Rival:
    """One of ``rivals/worker.py``; ``sized`` if it has inducing points."""

    name: str
    sized: bool

    def settings(self, size: int | None, steps: int) -> dict[str, Any]:
        options = {"inducing": size, "steps": steps} if self.sized else {}
        return {"rival": self.name, **options}

    def fit(self, data: Benchmark, settings: dict[str, Any]) -> Scores:
        options = {name: value for name, value in settings.items() if name != "rival"}
        outcome = rivals.run(self.name, data, **options)
        return Scores.of(
            outcome.probability, data, outcome.seconds, outcome.cpu_seconds, outcome.size
        )


METHODS: Mapping[str, Ours | Rival] = {
    "paper": Ours("paper"),
    "paper + ep": Ours({"preset": "paper", "refiner": "ep"}),
    "paper + corrective": Ours(
        {"preset": "paper", "refiner": {"name": "corrective", "move_basis": False}}
    ),
    "corrective, moving": Ours({"preset": "paper", "refiner": "corrective"}),
    "fast": Ours("fast"),
    "accurate": Ours("accurate"),
    "svgp": Rival("svgp", sized=True),
    "svgp-pll": Rival("svgp-pll", sized=True),
    "svgp-ard": Rival("svgp-ard", sized=True),
    "gp": Rival("gp", sized=False),
    "svm": Rival("svm", sized=False),
    "boosting": Rival("boosting", sized=False),
}
JUDGED = ("accurate", "fast")
"""Whom the verdict is about,"""
AGAINST = ("svgp", "svgp-pll", "svgp-ard")
"""and beside whom."""


def expected_calibration_error(probability: Floats, y: Floats, bins: int = 15) -> float:
    """How far confidence is from accuracy, on average over the rows.

        ∑_b |rows in b| / n · |accuracy in b - mean confidence in b|

    where confidence is max(p, 1 - p), which is 0.5 to 1, and the bins b divide that equally.
    """
    both = np.stack([1.0 - probability, probability], axis=1)
    truth = (y > 0.0).astype(np.intp)
    return reliability_of_labels(both, truth, 2 * bins).expected_calibration_error


@attrs.frozen
class Scores:
    """What one fit is judged by, all of it on the test rows, and what it took."""

    nlp: float
    error: float
    ece: float
    seconds: float
    cpu_seconds: float
    bytes: int

    @classmethod
    def of(
        cls, probability: Floats, data: Benchmark, seconds: float, cpu_seconds: float, size: int
    ) -> Scores:
        if not np.all(np.isfinite(probability)):
            raise ArithmeticError("wanted a probability for each test row, found some not finite")
        test = merits(probability, data.y_test)
        ece = expected_calibration_error(probability, data.y_test)
        return cls(test.nlp, test.error, ece, seconds, cpu_seconds, size)


@attrs.frozen
class Task:
    """One fit to be made. Settings and source are in it, so that changed ones are another task."""

    data: str
    source: str
    rows: int
    partition: int
    method: str
    size: int | None
    settings: dict[str, Any]

    def __str__(self) -> str:
        size = "" if self.size is None else f", {self.size}"
        return f"{self.data}, partition {self.partition}: {self.method}{size}"


@attrs.frozen
class Cell:
    """A task that was done: its scores, or the text of what went wrong."""

    task: Task
    scores: Scores | None
    problem: str | None
    took: float
    """Seconds for everything: a subprocess, imports and prediction are not in the scores."""
    commit: str

    @property
    def final(self) -> bool:
        """Whether doing it again is pointless."""
        return self.scores is not None or self.too_large

    @property
    def too_large(self) -> bool:
        return "does not fit" in (self.problem or "")

    @classmethod
    def from_json(cls, line: str) -> Cell:
        fields = json.loads(line)
        scores = fields.pop("scores")
        task = Task(**fields.pop("task"))
        return cls(task=task, scores=Scores(**scores) if scores else None, **fields)


def tasks(
    partitions: Iterable[int], sets: Sequence[str], sizes: Sequence[int], plan: Plan
) -> Iterator[Task]:
    """All fits, those that take turns next to each other."""
    for partition in partitions:
        for name in sets:
            data = plan.data(name, partition)
            for size in (None, *sizes):
                for title in plan.methods:
                    method = METHODS[title]
                    if method.sized == (size is not None):
                        # To JSON and back, so that it equals what a file gives
                        settings = json.loads(json.dumps(method.settings(size, plan.steps)))
                        about = data.source, len(data.y), partition, title, size
                        yield Task(name, *about, settings)


@attrs.frozen
class Plan:
    """How much is done."""

    methods: Sequence[str]
    rows: int | None = None
    steps: int = 500

    def data(self, name: str, partition: int) -> Benchmark:
        return datasets.benchmark(name, partition).first_rows(self.rows)


def carry_out(task: Task, data: Benchmark, commit: str) -> Cell:
    """Do it. Whatever goes wrong is written down, so that the others get their turn."""
    began, scores, problem = perf_counter(), None, None
    try:
        scores = METHODS[task.method].fit(data, task.settings)
    except (ArithmeticError, rivals.RivalError, sgpc.SgpcError) as error:
        problem = str(error)
    return Cell(task, scores, problem, perf_counter() - began, commit)
