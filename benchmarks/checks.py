"""What it costs to check the parts in the loop: ``python -m benchmarks.checks``.

Every call of a part happens inside ``calls.blame`` and is followed by checks of what came back.
This counts the seconds spent in these checks during one fit and divides by the seconds of the same
fit. The clock itself costs more than most checks, so the sum is an upper bound; what the clock
alone costs is measured and shown.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from collections.abc import Callable
from statistics import median
from time import perf_counter_ns
from typing import Any

import sgpc_framework as sgpc
from sgpc_framework import datasets
from sgpc_framework.engine import stages
from sgpc_framework.parts import calls


class Stopwatch:
    """Adds up the time of the functions it wraps, their callees excluded."""

    def __init__(self) -> None:
        self.nanoseconds = 0
        self.calls = 0

    def around(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*arguments: Any, **options: Any) -> Any:
            began = perf_counter_ns()
            try:
                return function(*arguments, **options)
            finally:
                self.nanoseconds += perf_counter_ns() - began
                self.calls += 1

        return timed


def fit_seconds(design: sgpc.Design, X: Any, y: Any) -> float:
    began = perf_counter_ns()
    design.fit(X, y)
    return (perf_counter_ns() - began) / 1e9


def checking_seconds(design: sgpc.Design, X: Any, y: Any) -> tuple[float, int]:
    """Seconds in entering and leaving ``blame``, in shape checks and in checks of proposals."""
    watch = Stopwatch()
    originals = calls.blame.__enter__, calls.blame.__exit__, calls.real_array
    proposals = stages.checked_candidates
    calls.blame.__enter__ = watch.around(originals[0])  # type: ignore[method-assign]
    calls.blame.__exit__ = watch.around(originals[1])  # type: ignore[method-assign]
    calls.real_array = watch.around(originals[2])
    stages.checked_candidates = watch.around(proposals)
    try:
        design.fit(X, y)
    finally:
        calls.blame.__enter__ = originals[0]  # type: ignore[method-assign]
        calls.blame.__exit__ = originals[1]  # type: ignore[method-assign]
        calls.real_array, stages.checked_candidates = originals[2], proposals
    return watch.nanoseconds / 1e9, watch.calls


def clock_seconds() -> float:
    """What one reading of the stopwatch costs by itself."""
    watch = Stopwatch()
    nothing = watch.around(lambda: None)
    for _ in range(20000):
        nothing()
    return watch.nanoseconds / 1e9 / watch.calls


def main() -> None:
    X, y = datasets.waveform(4000, seed=0)
    designs = {
        "whole fit, defaults, 5 outer iterations": sgpc.build(max_iterations=5, tolerance=0.0),
        "one inner loop, working set 2": sgpc.build(objective="none"),
        "one inner loop, working set 1": sgpc.build(
            objective="none", selector={"name": "adaptive-sampling", "working_set": 1}
        ),
    }
    clock = clock_seconds()
    print("Waveform, 4000 rows, 80 basis vectors, medians of 5")
    print(f"(reading the clock: {1e9 * clock:.0f} ns, subtracted)\n")
    print("| fit | seconds | checks | share |\n|---|---|---|---|")
    for name, design in designs.items():
        design.fit(X, y)
        seconds = median(fit_seconds(design, X, y) for _ in range(5))
        pairs = [checking_seconds(design, X, y) for _ in range(5)]
        checks = median(spent - calls * clock for spent, calls in pairs)
        print(f"| {name} | {seconds:.3f} | {pairs[0][1]} | {100 * checks / seconds:.2f} % |")


if __name__ == "__main__":
    main()
