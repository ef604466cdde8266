"""Where the time of a fit goes: ``python -m benchmarks.profile``.

The first table takes a stage apart, by hand, in the order in which the engine does things; the
second a whole fit of the paper's method. Waveform, 4000 rows, 80 basis vectors, BLAS on one thread.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from collections import defaultdict
from collections.abc import Callable
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

import sgpc_framework as sgpc
from sgpc_framework import datasets
from sgpc_framework.engine import algorithm1, stages
from sgpc_framework.rows.threads import one_blas_thread
from sgpc_framework.rows.training_rows import TrainingRows

STAGES, REPEATS = 80, 15


class Clock:
    """Adds up the seconds of calls, by what they are for."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)

    def __call__(self, part: str, function: Callable[..., Any], *arguments: Any) -> Any:
        began = perf_counter()
        result = function(*arguments)
        self.seconds[part] += perf_counter() - began
        return result


def parts_of_a_stage() -> dict[str, float]:
    """Microseconds of each part, the median over repeats of the mean over stages."""
    runs = [_stages_by_hand().seconds for _ in range(REPEATS)]
    return {part: 1e6 * median(run[part] for run in runs) / STAGES for part in runs[0]}


def _stages_by_hand() -> Clock:
    clock, rng = Clock(), np.random.default_rng(0)
    config = sgpc.build(
        kernel={"name": "squared-exponential", "lengthscale": 6.5},
        selector={"name": "adaptive-sampling", "working_set": 1},
    ).config
    X, y = datasets.waveform(4000, seed=0)
    posterior = TrainingRows.of(X, y).posterior(config.kernel, config.likelihood, STAGES)
    for _ in range(STAGES):
        candidates = clock(
            "weights, and the draw", stages.proposal, config.selector, posterior, rng
        )
        steps = clock(
            "the candidate's site", stages._estimates, config.sites, posterior, candidates
        )
        included = clock(
            "its column, mean, variance, M, log Φ", posterior.include, candidates, 0, steps[0]
        )
        clock("its line of the trace", stages._record, posterior, included)
    return clock


def parts_of_a_fit() -> dict[str, float]:
    """Seconds of the stages, of step 6, and of the rest, in a fit of the paper's method."""
    X, y = datasets.waveform(4000, seed=0)
    clock, reestimate = Clock(), algorithm1.reestimate
    algorithm1.reestimate = lambda *arguments: clock("step 6", reestimate, *arguments)
    try:
        model = clock("whole", sgpc.build(tolerance=0.0).fit, X, y)
    finally:
        algorithm1.reestimate = reestimate
    step6, whole = clock.seconds["step 6"], clock.seconds["whole"]
    evaluations = sum(iteration.evaluations for iteration in model.trace.iterations)
    return {
        f"stages, {len(model.trace.iterations)} x {len(model)}": whole - step6,
        f"step 6, {evaluations} evaluations": step6,
    }


def main() -> None:
    with one_blas_thread():
        _table("a stage, working set 1", "µs", parts_of_a_stage())
    sgpc.build(max_basis=5).fit(*datasets.waveform(200))  # loads what a first fit needs
    _table("a fit, working set 2, 20 outer iterations", "s", parts_of_a_fit())


def _table(title: str, unit: str, parts: dict[str, float]) -> None:
    print(f"\n| {title} | {unit} | share |\n|---|---|---|")
    whole = sum(parts.values())
    for part, value in parts.items():
        print(f"| {part} | {value:.3g} | {100 * value / whole:.0f} % |")


if __name__ == "__main__":
    main()
