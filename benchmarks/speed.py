"""How near to the arithmetic floor: ``python -m benchmarks.speed``.

Every figure is measured beside its floor or its rival in one run, in turns, BLAS on one thread, and
reported as the median of the ratios. ``--large`` adds the growth to a million rows; ``--json FILE``
writes the figures as JSON.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import attrs
import numpy as np

import sgpc_framework as sgpc
from benchmarks import floors
from sgpc_framework import datasets
from sgpc_framework.engine.fixed_sites import FixedSites

LENGTHSCALE = 6.5
KERNEL = {"name": "squared-exponential", "lengthscale": LENGTHSCALE}


@attrs.frozen
class Figure:
    """One line of the table."""

    what: str
    ours_ms: float
    other: str
    other_ms: float
    ratio: float
    wanted: float


def compared(
    what: str, ours: Callable[[], Any], other: str, rival: Callable[[], Any], wanted: float
) -> Figure:
    """Run both in turns, so that a busy moment meets both."""
    ours(), rival()
    times = []
    for _ in range(9):
        began = perf_counter()
        ours()
        middle = perf_counter()
        rival()
        times.append((middle - began, perf_counter() - middle))
    ratio = median(mine / theirs for mine, theirs in times)
    mine, theirs = (1e3 * median(column) for column in zip(*times, strict=True))
    return Figure(what, mine, other, theirs, ratio, wanted)


def inner_loop(selector: Any, sites: str = "moment-matching") -> sgpc.Design:
    return sgpc.build(kernel=KERNEL, selector=selector, sites=sites, objective="none", max_basis=80)


def adaptive(working_set: int) -> dict[str, Any]:
    return {"name": "adaptive-sampling", "working_set": working_set}


def figures() -> Iterator[Figure]:
    X, y = datasets.waveform(4000, seed=0)
    one, two = inner_loop(adaptive(1)), inner_loop(adaptive(2))

    def floor() -> Any:
        return floors.inner_loop(X, y, LENGTHSCALE, 80)

    yield compared("inner loop, working set 1", lambda: one.fit(X, y), "floor", floor, 1.5)
    entropy = inner_loop("entropy")
    yield compared("inner loop, entropy", lambda: entropy.fit(X, y), "floor", floor, 2.0)
    validation = inner_loop("validation")
    yield compared(
        "inner loop, validation (59)",
        lambda: validation.fit(X, y),
        "working set 1",
        lambda: one.fit(X, y),
        20.0,
    )
    model = two.fit(X, y)
    sites = FixedSites(X, y, model.basis, model.sites.precision, model.sites.mean, 8192)
    objective, T = sgpc.build().config.objective, np.tril(np.ones((80, 80)))
    yield compared(
        "value and gradient of nlp",
        lambda: sites.value_and_gradient(objective, model.kernel, model.likelihood),
        "floor",
        lambda: floors.value_and_gradient(X, model.inputs, T, LENGTHSCALE),
        2.0,
    )
    optimised = inner_loop(adaptive(2), sites="predictive-loss")
    yield compared(
        "predictive-loss sites, working set 2",
        lambda: optimised.fit(X, y),
        "moment matching",
        lambda: two.fit(X, y),
        8.0,
    )
    many = np.tile(X, (25, 1))
    yield compared(
        "predict_proba, 100 000 rows",
        lambda: model.predict_proba(many),
        "floor",
        lambda: floors.predict(many, model.inputs, T, LENGTHSCALE),
        1.5,
    )


def imports() -> Figure:
    def start(statement: str) -> Callable[[], Any]:
        return lambda: subprocess.run([sys.executable, "-c", statement], check=True)

    ours, numpy = start("import numpy, sgpc_framework"), start("import numpy")
    return compared("import sgpc_framework after numpy", ours, "import numpy", numpy, 2.0)


def growth() -> Iterator[tuple[int, float, float]]:
    """Rows, microseconds a row, and peak memory over the data and M, each in a fresh process."""
    for rows in (10_000, 100_000, 1_000_000):
        script = f"from benchmarks.speed import large; large({rows})"
        ran = subprocess.run(
            [sys.executable, "-c", script], check=True, capture_output=True, text=True
        )
        seconds, peak = map(float, ran.stdout.split())
        yield rows, 1e6 * seconds / rows, peak / (8 * rows * (50 + 20))


def large(rows: int) -> None:
    """One inner loop with 50 basis vectors on 20 features: seconds, and its peak with the data."""
    X, y = datasets.twonorm(rows, seed=0)
    design = sgpc.build(kernel=KERNEL, selector=adaptive(1), objective="none", max_basis=50)
    design.fit(X[:500], y[:500])
    Path("/proc/self/clear_refs").write_text("5")  # Linux: the peak counts from here
    before = _resident("VmRSS")
    began = perf_counter()
    design.fit(X, y)
    seconds = perf_counter() - began
    print(seconds, X.nbytes + _resident("VmHWM") - before)


def _resident(which: str) -> int:
    """Bytes of memory in use now (VmRSS) or at the peak (VmHWM)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(which))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--large", action="store_true", help="growth to a million rows")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    arguments = parser.parse_args()
    print("Waveform, 4000 rows, squared exponential, 80 basis vectors, one BLAS thread\n")
    print("| figure | ms | beside | ms | ratio | wanted |\n|---|---|---|---|---|---|")
    found = []
    for figure in (*figures(), imports()):
        found.append(attrs.asdict(figure))
        print(
            f"| {figure.what} | {figure.ours_ms:.1f} | {figure.other} | {figure.other_ms:.1f} "
            f"| {figure.ratio:.2f} | {figure.wanted:g} |",
            flush=True,
        )
    if arguments.large:
        print("\n| rows | µs a row | peak memory / (data + M) |\n|---|---|---|")
        for rows, microseconds, memory in growth():
            found.append({"rows": rows, "us_per_row": microseconds, "memory": memory})
            print(f"| {rows} | {microseconds:.2f} | {memory:.2f} |", flush=True)
    if arguments.json:
        arguments.json.write_text(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
