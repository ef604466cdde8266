"""Whole fits beside other people's Gaussian processes: ``python -m benchmarks.peers``.

Both have 80 basis vectors or inducing points, start from the median distance and find their own
hyperparameters. Ours is the paper's method with a working set of two and at most 20 outer
iterations, once as it comes (it stops when the loss changes by less than the tolerance) and once
with ``tolerance=0``, so that all 20 are done. The rivals are GPyTorch's SVGP on the same rows, and
scikit-learn's GP classifier on the first 1000 of them, with ours beside it on the same 1000. All
take turns in one run, BLAS and PyTorch on one thread. The ratio is the rival's seconds over ours,
by the clock and by the processor's time; on a busy machine, believe the latter.

NLP is the mean of -log p(true label) over the test rows, where no p counts as less than 1e-12.
``--quick`` tries the command with few rows and steps: its ratios mean nothing.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

import sgpc_framework as sgpc
from benchmarks import rivals
from sgpc_framework import datasets
from sgpc_framework.datasets import Benchmark
from sgpc_framework.lab.timed_fit import TimedFit
from sgpc_framework.metrics.figures_of_merit import Merits

SELECTOR = {"name": "adaptive-sampling", "working_set": 2}
WANTED = 5.0
HEADER = (
    "| set | rows | method | seconds | CPU | iterations | NLP | error "
    "| ratio | CPU ratio | wanted |\n"
    "|---|---|---|---|---|---|---|---|---|---|---|"
)


@attrs.frozen
class Figure:
    """One line of the table: one method on one set, and how much longer the rival took."""

    data: str
    source: str
    rows: int
    method: str
    seconds: float
    cpu_seconds: float
    nlp: float
    error: float
    iterations: int | None
    ratio: float | None = None
    cpu_ratio: float | None = None

    @classmethod
    def of(cls, data: Benchmark, method: str, fits: Sequence[Fit]) -> Figure:
        """The medians of the seconds. Repeated fits differ in nothing else, so the last counts."""
        seconds = median(fit.seconds for fit in fits)
        cpu_seconds = median(fit.cpu_seconds for fit in fits)
        test = merits(fits[-1].probability, data.y_test)
        about = data.name, data.source, len(data.y), method
        return cls(*about, seconds, cpu_seconds, test.nlp, test.error, fits[-1].iterations)

    def beside(self, rival: Figure) -> Figure:
        """The same line with the ratios to a rival's."""
        cpu_ratio = rival.cpu_seconds / self.cpu_seconds
        return attrs.evolve(self, ratio=rival.seconds / self.seconds, cpu_ratio=cpu_ratio)

    def line(self) -> str:
        """The line in Markdown. Rivals have no outer iterations and no ratio."""
        iterations = "" if self.iterations is None else str(self.iterations)
        ratios = "| |"
        if self.ratio is not None:
            ratios = f"{self.ratio:.1f} | {self.cpu_ratio:.1f} | {WANTED:g}"
        return (
            f"| {self.data} | {self.rows} | {self.method} | {self.seconds:.2f} "
            f"| {self.cpu_seconds:.2f} | {iterations} | {self.nlp:.3f} "
            f"| {100 * self.error:.1f} % | {ratios} |"
        )


@attrs.frozen(eq=False)
class Fit:
    """What one fit gave: its seconds, the test probabilities of +1, and ours its iterations."""

    seconds: float
    cpu_seconds: float
    probability: NDArray[np.float64]
    iterations: int | None = None


@attrs.frozen
class Plan:
    """How much is measured."""

    repeats: int
    rival_repeats: int
    rows: int | None = None
    gp_rows: int = 1000
    steps: int = 500


QUICK = Plan(1, 1, rows=500, gp_rows=200, steps=20)


def ours(data: Benchmark, max_basis: int, **overrides: Any) -> Fit:
    """The paper's method."""
    design = sgpc.build(max_basis=max_basis, selector=SELECTOR, max_iterations=20, **overrides)
    fit = TimedFit.of(design, data)
    probability = fit.model.predict_proba(data.X_test)[:, 1]
    return Fit(fit.seconds, fit.cpu_seconds, probability, len(fit.model.trace.iterations))


def theirs(data: Benchmark, rival: str, **options: Any) -> Fit:
    """A rival, in its own environment."""
    outcome = rivals.run(rival, data, **options)[-1]
    taken = outcome.taken
    return Fit(taken.seconds, taken.cpu_seconds, outcome.probability[:, 1])


def in_turns(
    methods: dict[str, Callable[[], Fit]], repeats: dict[str, int]
) -> dict[str, list[Fit]]:
    """Run the methods one after the other, again and again, so that a busy moment meets all."""
    fits: dict[str, list[Fit]] = {title: [] for title in methods}
    for turn in range(max(repeats.values())):
        for title, fit in methods.items():
            if turn < repeats[title]:
                fits[title].append(fit())
    return fits


def compare_in_turns(
    data: Benchmark, basis: int, plan: Plan, rival: str, **options: Any
) -> Iterator[Figure]:
    """Ours, ours with all iterations, and the rival, each a line."""
    early, full = f"ours, {basis}", f"ours, {basis}, all 20"
    other = f"{rival}, {options['inducing']}" if "inducing" in options else rival
    fits = in_turns(
        {
            early: lambda: ours(data, basis),
            full: lambda: ours(data, basis, tolerance=0.0),
            other: lambda: theirs(data, rival, **options),
        },
        {early: plan.repeats, full: plan.repeats, other: plan.rival_repeats},
    )
    rival_line = Figure.of(data, other, fits[other])
    for title in (early, full):
        yield Figure.of(data, title, fits[title]).beside(rival_line)
    yield rival_line


def merits(probability: NDArray[np.float64], y: NDArray[np.float64]) -> Merits:
    """What probabilities of +1 are worth; none counts as less than 1e-12."""
    both = np.stack([1.0 - probability, probability], axis=1)
    return Merits.of(np.log(np.maximum(both, 1e-12)), (y > 0.0).astype(np.intp))


def figures(plan: Plan, names: Sequence[str], basis: Sequence[int]) -> Iterator[Figure]:
    """Every set beside SVGP at each size, then its first rows beside the GP classifier."""
    for name in names:
        data = datasets.benchmark(name).first_rows(plan.rows)
        ours(data.first_rows(200), 5)  # the first fit of a process loads what it needs
        options = {"ard": False, "steps": [plan.steps]}
        for size in basis:
            yield from compare_in_turns(data, size, plan, "svgp", inducing=size, **options)
        yield from compare_in_turns(data.first_rows(plan.gp_rows), max(basis), plan, "gp")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few rows and steps, to try it")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    parser.add_argument("--repeats", type=int, default=3, help="fits of ours (their median)")
    parser.add_argument("--rival-repeats", type=int, default=1, help="fits of each rival")
    parser.add_argument("--basis", type=int, nargs="+", default=[80], help="sizes to compare at")
    parser.add_argument("--sets", nargs="+", default=datasets.available(), help="by their names")
    given = parser.parse_args()
    plan = QUICK if given.quick else Plan(given.repeats, given.rival_repeats)
    rivals.environment()
    fits = f"{plan.repeats} fits of ours and {plan.rival_repeats} of a rival"
    print(f"Medians of {fits}, in turns, one thread\n\n{HEADER}", flush=True)
    measured = []
    for figure in figures(plan, given.sets, given.basis):
        measured.append(attrs.asdict(figure))
        print(figure.line(), flush=True)
        if given.json:
            given.json.write_text(json.dumps(measured, indent=2))


if __name__ == "__main__":
    main()
