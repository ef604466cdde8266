"""How near to the arithmetic floor: ``python -m benchmarks.speed``.

Every figure is measured beside its floor or its rival in one run, in turns, BLAS on one thread, and
reported as the median of the ratios. ``--large`` adds the growth to a million rows and two threads;
``--without-fast`` measures the NumPy passes although numba is installed; ``--markdown`` and
``--json`` write the tables to files.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import json
import platform
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
from benchmarks.trials import value_and_gradient
from sgpc_framework import datasets
from sgpc_framework.parts.compilation import compiled
from sgpc_framework.rows.training_rows import TrainingRows

LENGTHSCALE = 6.5
KERNEL = {"name": "squared-exponential", "lengthscale": LENGTHSCALE}
REPEATS = 15


@attrs.frozen
class Figure:
    """One line of the first table; the ratio is ours over the other."""

    what: str
    ours_ms: float
    other: str
    other_ms: float
    ratio: float
    wanted: float

    def line(self) -> str:
        return (
            f"| {self.what} | {self.ours_ms:.1f} | {self.other} | {self.other_ms:.1f} "
            f"| {self.ratio:.2f} | ≤ {self.wanted:.3g} |"
        )


def compare_in_turns(
    what: str,
    ours: Callable[[], Any],
    other: str,
    rival: Callable[[], Any],
    wanted: float,
    repeats: int = REPEATS,
) -> Figure:
    """Run both in turns, so that a busy moment meets both."""
    ours(), rival()
    times = []
    for _ in range(repeats):
        began = perf_counter()
        ours()
        middle = perf_counter()
        rival()
        times.append((middle - began, perf_counter() - middle))
    ratio = median(mine / theirs for mine, theirs in times)
    mine, theirs = (1e3 * median(column) for column in zip(*times, strict=True))
    return Figure(what, mine, other, theirs, ratio, wanted)


def inner_loop(selector: Any, sites: str = "moment-matching", **settings: Any) -> sgpc.Design:
    """A design whose fit is one inner loop."""
    settings = {"max_basis": 80, **settings}
    return sgpc.build(kernel=KERNEL, selector=selector, sites=sites, objective="none", **settings)


def adaptive(working_set: int) -> dict[str, Any]:
    return {"name": "adaptive-sampling", "working_set": working_set}


def figures() -> Iterator[Figure]:
    """What is measured on 4000 rows."""
    X, y = datasets.waveform(4000, seed=0)
    one, two = inner_loop(adaptive(1)), inner_loop(adaptive(2))

    def floor() -> Any:
        return floors.inner_loop(X, y, LENGTHSCALE, 80)

    yield compare_in_turns("inner loop, working set 1", lambda: one.fit(X, y), "floor", floor, 1.5)
    entropy = inner_loop("entropy")
    yield compare_in_turns("inner loop, entropy", lambda: entropy.fit(X, y), "floor", floor, 2.0)
    validation = inner_loop("validation")
    yield compare_in_turns(
        "inner loop, validation (59)",
        lambda: validation.fit(X, y),
        "working set 1",
        lambda: one.fit(X, y),
        20.0,
        repeats=7,
    )
    model = two.fit(X, y)
    rows, objective = TrainingRows.of(X, y), sgpc.build().config.objective
    T = np.tril(np.ones((80, 80)))
    yield compare_in_turns(
        "value and gradient of nlp",
        lambda: value_and_gradient(objective, model.state, rows),
        "floor",
        lambda: floors.value_and_gradient(X, model.inputs, T, LENGTHSCALE),
        2.0,
    )
    optimised = inner_loop(adaptive(2), sites="predictive-loss")
    yield compare_in_turns(
        "predictive-loss sites, working set 2",
        lambda: optimised.fit(X, y),
        "moment matching",
        lambda: two.fit(X, y),
        8.0,
    )
    many = np.tile(X, (25, 1))
    yield compare_in_turns(
        "predict_proba, 100 000 rows",
        lambda: model.predict_proba(many),
        "floor",
        lambda: floors.predict(many, model.inputs, T, LENGTHSCALE),
        1.5,
        repeats=7,
    )
    ours, numpy = _python("import numpy, sgpc_framework"), _python("import numpy")
    yield compare_in_turns("import sgpc_framework after numpy", ours, "import numpy", numpy, 2.0)


def _python(statement: str) -> Callable[[], Any]:
    return lambda: subprocess.run([sys.executable, "-c", statement], check=True)


# -- many rows ---------------------------------------------------------------------------------


@attrs.frozen
class Growth:
    """One inner loop with 50 basis vectors on 20 features, in a process of its own.

    ``memory`` is the peak over the data and M, 8 bytes a number whatever the storage.
    """

    rows: int
    storage: str
    threads: int
    us_per_row: float
    memory: float

    def line(self) -> str:
        return (
            f"| {self.rows} | {self.storage} | {self.threads} | {self.us_per_row:.2f} "
            f"| {self.memory:.2f} |"
        )


def growth() -> Iterator[Growth]:
    for rows in (10_000, 100_000, 1_000_000):
        yield _growth_at(rows)
    yield _growth_at(1_000_000, storage="float32")
    yield _growth_at(1_000_000, threads=2)


def _growth_at(rows: int, storage: str = "float64", threads: int = 1) -> Growth:
    seconds, peak = _elsewhere(f"large({rows}, {storage!r})", threads)
    return Growth(rows, storage, threads, 1e6 * seconds / rows, peak / (8 * rows * (50 + 20)))


def large(rows: int, storage: str) -> tuple[float, float]:
    """Seconds of one inner loop, and its peak with the data."""
    X, y = datasets.twonorm(rows, seed=0)
    design = inner_loop(adaptive(1), max_basis=50, storage=storage)
    design.fit(X[:500], y[:500])
    Path("/proc/self/clear_refs").write_text("5")  # Linux: the peak counts from here
    before = _resident("VmRSS")
    began = perf_counter()
    design.fit(X, y)
    return perf_counter() - began, X.nbytes + _resident("VmHWM") - before


def _resident(which: str) -> int:
    """Bytes of memory in use now (VmRSS) or at the peak (VmHWM)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(which))


def two_threads() -> Iterator[Figure]:
    """The same work on two threads and on one, the ratio being time over time."""
    for what, work in (
        ("validation, 10 stages, 100 000 rows, two threads", "scoring"),
        ("step 6, 100 000 rows, two threads", "step6"),
    ):
        times = [(_elsewhere(f"{work}()", 2)[0], _elsewhere(f"{work}()", 1)[0]) for _ in range(5)]
        ours, theirs = (1e3 * median(column) for column in zip(*times, strict=True))
        ratio = median(two / one for two, one in times)
        yield Figure(what, ours, "one thread", theirs, ratio, 1 / 1.5)


def scoring() -> tuple[float, float]:
    X, y = datasets.twonorm(100_000, seed=0)
    design = inner_loop("validation", max_basis=10)
    return _median_seconds(lambda: design.fit(X, y)), 0.0


def step6() -> tuple[float, float]:
    from sgpc_framework.rows.threads import one_blas_thread

    X, y = datasets.twonorm(100_000, seed=0)
    model = inner_loop(adaptive(1)).fit(X[:1000], y[:1000])
    rows, objective = TrainingRows.of(X, y), sgpc.build().config.objective
    with one_blas_thread():
        return _median_seconds(lambda: value_and_gradient(objective, model.state, rows)), 0.0


def _median_seconds(work: Callable[[], Any], repeats: int = 5) -> float:
    """After a first time, which starts the threads and fetches memory."""
    work()
    times = []
    for _ in range(repeats):
        began = perf_counter()
        work()
        times.append(perf_counter() - began)
    return median(times)


def whole_fit() -> tuple[float, float]:
    """A million rows, 20 outer iterations, step 6 on 20 000 of them: seconds and test error."""
    X, y = datasets.twonorm(1_000_000, seed=0)
    design = sgpc.build(
        max_basis=50,
        max_iterations=20,
        tolerance=0.0,
        selector=adaptive(1),
        objective={"name": "nlp", "subset": 20_000},
    )
    began = perf_counter()
    model = design.fit(X, y)
    seconds = perf_counter() - began
    X, y = datasets.twonorm(20_000, seed=1)
    return seconds, float(np.mean(model.predict(X) != y))


def _elsewhere(call: str, threads: int) -> tuple[float, float]:
    """Two numbers from a fresh process with so many threads."""
    script = f"from benchmarks.speed import *; print(*{call})"
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": str(threads)}
    ran = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, text=True, env=environment
    )
    first, second = map(float, ran.stdout.split())
    return first, second


def single_precision() -> float:
    """The largest change of a training row's probability when M is kept in float32."""
    X, y = datasets.waveform(4000, seed=0)
    double, single = (
        inner_loop(adaptive(2), storage=storage).fit(X, y).predict_proba(X)
        for storage in ("float64", "float32")
    )
    return float(np.abs(double - single).max())


# -- the report --------------------------------------------------------------------------------


def report(with_large: bool) -> Iterator[tuple[str, dict[str, Any] | None]]:
    """Lines of Markdown, each with its figures if it has any."""
    passes = "compiled by numba" if compiled("sgpc_framework.rows.loops_compiled") else "NumPy's"
    yield f"Waveform, 4000 rows, squared exponential, 80 basis vectors. Passes: {passes}.", None
    yield f"{_machine()}, NumPy {np.__version__}, one BLAS thread, medians in one run.\n", None
    yield "| figure | ms | beside | ms | ratio | wanted |\n|---|---|---|---|---|---|", None
    for figure in figures():
        yield figure.line(), attrs.asdict(figure)
    if with_large:
        for figure in two_threads():
            yield figure.line(), attrs.asdict(figure)
        yield "\n| rows | M | threads | µs a row | peak / (data + M) |\n|---|---|---|---|---|", None
        for grown in growth():
            yield grown.line(), attrs.asdict(grown)
        seconds, error = _elsewhere("whole_fit()", 1)
        line = f"a million rows, 20 outer iterations: {seconds:.0f} s, test error {error:.4f}"
        yield f"\nTwonorm, {line}.", {"whole_fit_seconds": seconds, "error": error}
    change = single_precision()
    yield (
        f"\nM in float32 changes a probability by at most {change:.1e}.",
        {"float32_change": change},
    )


def _machine() -> str:
    model = platform.processor() or platform.machine()
    for line in Path("/proc/cpuinfo").read_text().splitlines() if sys.platform == "linux" else ():
        if line.startswith("model name"):
            model = line.split(":", 1)[1].strip()
    return f"{model}, {os.cpu_count()} processors, Python {platform.python_version()}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--large", action="store_true", help="a million rows, and two threads")
    parser.add_argument("--without-fast", action="store_true", help="measure NumPy's passes")
    parser.add_argument("--markdown", type=Path, help="write the tables to this file")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    given = parser.parse_args()
    if given.without_fast:
        os.environ["SGPC_FAST"] = "0"
    lines, measured = [], []
    for line, figure in report(given.large):
        print(line, flush=True)
        lines.append(line)
        measured += [figure] if figure else []
    if given.markdown:
        given.markdown.write_text("\n".join(lines) + "\n")
    if given.json:
        given.json.write_text(json.dumps(measured, indent=2) + "\n")


if __name__ == "__main__":
    main()
