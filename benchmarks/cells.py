"""The cells of the quality benchmark: one run of one method, on one partition of one set."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import lru_cache
from time import perf_counter
from typing import Any

import attrs

import sgpc_framework as sgpc
from benchmarks import rivals
from benchmarks.methods import METHODS, OURS, Scores
from benchmarks.problems import PRODUCTS, Problem, development, problem
from sgpc_framework import datasets


@attrs.frozen
class Task:
    """One run to be made. Settings and source are in it, so that changed ones are another task."""

    data: str
    source: str
    rows: int
    partition: int
    method: str
    size: int | None
    settings: dict[str, Any]

    @property
    def key(self) -> str:
        """The same for tasks that are alike."""
        return json.dumps(attrs.astuple(self), sort_keys=True)

    def __str__(self) -> str:
        size = "" if self.size is None else f", {self.size}"
        rate = f", rate {self.settings['rate']}" if "rate" in self.settings else ""
        return f"{self.data}, partition {self.partition}: {self.method}{size}{rate}"


@attrs.frozen
class Cell:
    """A task that was done: its scores at one or more budgets, or the text of what went wrong."""

    task: Task
    scores: tuple[Scores, ...]
    problem: str | None
    took: float
    """Seconds for everything: a subprocess, imports and prediction are not in the scores."""
    commit: str
    bayes: float = 0.0
    """The NLP of the true probabilities on the test rows, where they are known."""

    @property
    def final(self) -> bool:
        """Whether doing it again is pointless."""
        return bool(self.scores) or self.too_large

    @property
    def too_large(self) -> bool:
        return "does not fit" in (self.problem or "")

    def single_looks(self) -> Iterator[Cell]:
        """What a run was worth after each of its numbers of steps, as if it had ended there."""
        if self.task.settings.get("decay"):  # the rate depends on the last step
            return
        for one in self.scores if "steps" in self.task.settings else ():
            settings = {**self.task.settings, "steps": [one.budget]}
            task = attrs.evolve(self.task, settings=settings)
            yield attrs.evolve(self, task=task, scores=(one,))

    @classmethod
    def from_json(cls, line: str) -> Cell:
        fields = json.loads(line)
        scores = tuple(Scores(**one) for one in fields.pop("scores"))
        return cls(task=Task(**fields.pop("task")), scores=scores, **fields)


@attrs.frozen
class Part:
    """One question of the benchmark: which sets, which methods, in which sizes, how often."""

    title: str
    sets: Sequence[str]
    methods: Sequence[str]
    sizes: Sequence[int]
    partitions: int

    def only(
        self,
        sets: Sequence[str] | None = None,
        methods: Sequence[str] | None = None,
        sizes: Sequence[int] | None = None,
    ) -> Part:
        """The same for some sets, by their own names or the part's, some methods, other sizes."""
        if sets is None or self.title in sets:
            sets = self.sets
        return attrs.evolve(
            self,
            sets=[one for one in self.sets if one in sets],
            methods=[one for one in self.methods if methods is None or one in methods],
            sizes=sizes or self.sizes,
        )


def parts() -> tuple[Part, ...]:
    """What can be asked with the data that are on this machine."""
    own, there = tuple(OURS), development()
    two = *datasets.available(), *(name for name in there if not name.startswith("mc_"))
    many = tuple(name for name in there if name.startswith("mc_"))
    full, trees = ("svgp", "svgp-pll"), ("catboost", "lightgbm")
    batches = "svgp-batches", "svgp-batches-pll"
    return (
        Part("two-classes", two, (*own, *full, *trees, "boosting", "svm"), (20, 80), 3),
        Part("many-classes", many, (*own, *full, *trees, "logistic"), (20, 80), 3),
        Part("friedman", ("friedman",), (*own, *full), (20,), 10),
        Part("many-rows", tuple(PRODUCTS), (*own, *batches, *trees, "lightgbm-long"), (100,), 1),
    )


def tasks(
    part: Part,
    partitions: Sequence[int],
    quick: bool = False,
    steps: Sequence[int] | None = None,
) -> Iterator[Task]:
    """All runs, those that take turns next to each other; of rivals that take steps, only those
    with some of these numbers of steps, if any are given."""
    for partition in partitions:
        for name in part.sets:
            data = rows_of(name, partition, quick)
            for size in (None, *part.sizes):
                for title in part.methods:
                    method = METHODS[title]
                    if method.sized != (size is not None):
                        continue
                    for settings in method.runs(size, quick, steps):
                        # To JSON and back, so that it equals what a file gives
                        plain = json.loads(json.dumps(settings))
                        about = data.source, len(data.y), partition, title, size
                        yield Task(name, *about, plain)


@lru_cache(maxsize=1)  # those who take turns are given the same
def rows_of(name: str, partition: int, quick: bool) -> Problem:
    """The problem, or a little of it."""
    return problem(name, partition).first_rows(300 if quick else None)


def carry_out(task: Task, data: Problem, commit: str) -> Cell:
    """Do it. Whatever goes wrong is written down, so that the others get their turn."""
    began, scores, went_wrong = perf_counter(), (), None
    try:
        scores = tuple(METHODS[task.method].fit(data, task.settings))
    except (ArithmeticError, rivals.RivalError, sgpc.SgpcError) as error:
        went_wrong = str(error)
    return Cell(task, scores, went_wrong, perf_counter() - began, commit, data.bayes)
