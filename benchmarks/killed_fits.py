"""Fits that are killed and resumed, and what their checkpoints cost.

    python -m benchmarks.survival checkpoints --kills 100
    python -m benchmarks.survival checkpoints --cost

A fit runs in a process of its own (a fork of this one), is killed (SIGKILL) at a moment drawn at
random, is begun again with the same checkpoint, and killed again; after some kills it is left to
end. Its model file must have the SHA-256 of a fit that nobody disturbed and that had no checkpoint.
A third of the kills come inside a write to the log: some of its bytes are there, the others not.

The cost is measured in two ways, by the clock and by the processor. *Inside*: the share of a fit's
time that was spent between the call of the journal and its return, in the fingerprint of the data
and in opening and closing the log. *Beside*: fits with a checkpoint and without take turns, and the
median of the differences within a pair is taken, which knows of what happens elsewhere, too, but is
as uncertain as two fits are unlike.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import hashlib
import signal
import sys
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter, process_time, sleep
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

import sgpc_framework as sgpc
from sgpc_framework.datasets import waveform
from sgpc_framework.engine import journal
from sgpc_framework.files import checkpoints, sealed_log

SCENARIOS: dict[str, dict[str, Any]] = {
    "paper, 2 classes": {"config": "paper", "rows": 1500, "max_basis": 30},
    "accurate, 2 classes": {"config": "accurate", "rows": 300, "max_basis": 10},
    "fast, 3 classes": {"config": "fast", "rows": 300, "max_basis": 10, "classes": 3},
    "paper, one against the rest": {
        "config": "paper",
        "rows": 200,
        "max_basis": 10,
        "classes": 3,
        "strategy": "one-vs-rest",
    },
    "fast, size searched": {"config": "fast", "rows": 200, "max_basis": "auto"},
}
LARGER: dict[str, dict[str, Any]] = {
    "paper, 10 000 rows": {
        "config": "paper",
        "rows": 10_000,
        "max_basis": 80,
        "max_iterations": 5,
    },
    "accurate, 2000 rows": {"config": "accurate", "rows": 2000, "max_basis": 40},
}
"""What the cost is measured with, besides those of many short stages and of many short runs."""

SHORT = ("paper, one against the rest", "accurate, 2 classes")
KILLS_OF_A_FIT = 4
INSIDE = 3
"""One kill in so many comes inside a write."""


def fit(name: str, log: Path | None) -> Any:
    """The model of a scenario."""
    scenario = dict({**SCENARIOS, **LARGER}[name])
    X, y = waveform(scenario.pop("rows"), seed=4)
    if scenario.pop("classes", 2) == 3:
        y = (X[:, 0] > 1.0).astype(int) + (X[:, 5] > 1.0)
    design = sgpc.build(scenario.pop("config"), **scenario)
    return design.fit(X, y, checkpoint=log)


# -- the process that is killed ------------------------------------------------------------------


def run(name: str, out: Path, log: Path | None, rng: Random | None, seconds: float) -> str:
    """How a process ended: "ended", "killed", or "killed inside a write"."""
    inside = rng is not None and rng.randrange(INSIDE) == 0
    fate = (rng.randrange(6), rng.random()) if rng is not None and inside else None
    sys.stdout.flush()
    process = os.fork()
    if not process:
        _fit_and_leave(name, out, log, fate)
    if rng is not None and not inside:
        sleep(rng.uniform(0.0, seconds))
        os.kill(process, signal.SIGKILL)
    _, status = os.waitpid(process, 0)
    code = os.waitstatus_to_exitcode(status)
    if code not in (0, -signal.SIGKILL):
        raise RuntimeError(f"{name}: the fit failed")
    if code == 0:
        return "ended"
    return "killed inside a write" if inside else "killed"


def _fit_and_leave(
    name: str, out: Path, log: Path | None, fate: tuple[int, float] | None
) -> NoReturn:
    """Fit and save; die inside a write, if told in which and after which share of its bytes."""
    warnings.simplefilter("ignore")
    if fate is not None:
        _die_inside(*fate)
    try:
        fit(name, log).save(out)
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def _die_inside(write: int, share: float) -> None:
    whole, numbers = sealed_log._write_all, iter(range(10**9))

    def torn(descriptor: int, data: bytes, at: int) -> None:
        if next(numbers) == write:
            whole(descriptor, data[: int(share * len(data))], at)
            os.kill(os.getpid(), signal.SIGKILL)
        whole(descriptor, data, at)

    sealed_log._write_all = torn


def killed_fits(name: str, kills: int, rng: Random, folder: Path) -> tuple[Counter[str], int, int]:
    """Of a scenario: how often what was done, how many fits there were, and how many were right."""
    out, log = folder / "model", folder / "fit.log"
    fit(name, None)  # compiles what there is to compile, for all that follow
    began = perf_counter()
    run(name, out, None, None, 0.0)
    seconds = perf_counter() - began
    wanted = hashlib.sha256(out.read_bytes()).hexdigest()
    done: Counter[str] = Counter()
    fits = right = 0
    while done["killed"] + done["killed inside a write"] < kills:
        log.unlink(missing_ok=True)
        out.unlink()
        fits += 1
        for _ in range(KILLS_OF_A_FIT):
            done[run(name, out, log, rng, 0.6 * seconds)] += 1
        done[run(name, out, log, None, 0.0)] += 1
        right += hashlib.sha256(out.read_bytes()).hexdigest() == wanted
    return done, fits, right


# -- what it costs -------------------------------------------------------------------------------


Clocks = NDArray[np.float64]


def _clocks() -> Clocks:
    return np.array([perf_counter(), process_time()])


@contextmanager
def _timed(owner: Any, name: str, spent: list[Clocks]) -> Iterator[None]:
    """Notes the seconds inside a function."""
    true = getattr(owner, name)

    def timed(*args: Any, **kwargs: Any) -> Any:
        began = _clocks()
        try:
            return true(*args, **kwargs)
        finally:
            spent.append(_clocks() - began)

    setattr(owner, name, timed)
    try:
        yield
    finally:
        setattr(owner, name, true)


def inside_of(name: str, folder: Path) -> tuple[Clocks, int]:
    """The share of a fit's seconds that its checkpoint took, by the clock and by the processor,
    without what it takes to look at the clocks, and the bytes of the log."""
    spent: list[Clocks] = []
    nothing: list[Clocks] = []
    log = folder / "fit.log"
    log.unlink(missing_ok=True)
    with _timed(journal.Nowhere, "keep", nothing):  # as often, and the caches are as cold
        fit(name, None)
    with (
        _timed(checkpoints._OnDisk, "keep", spent),
        _timed(checkpoints, "identity_of", spent),
        _timed(sealed_log.SealedLog, "__init__", spent),
        _timed(checkpoints._Writer, "write", last := []),
        _timed(sealed_log.SealedLog, "close", spent),
    ):
        began = _clocks()
        fit(name, log)
        seconds = _clocks() - began
    spent.append(last[-1])  # the others are inside of a call of the journal
    looking = len(spent) * np.mean(nothing, axis=0)
    return (np.sum(spent, axis=0) - looking) / (seconds - 2 * looking), log.stat().st_size


def beside(name: str, log: Path, first: bool) -> tuple[Clocks, Clocks]:
    """Of two fits, of which the first or the second has a checkpoint: seconds without, and what the
    checkpoint takes as a share of them."""
    seconds = {}
    for kept in (first, not first):
        log.unlink(missing_ok=True)
        began = _clocks()
        fit(name, log if kept else None)
        seconds[kept] = _clocks() - began
    return seconds[False], seconds[True] / seconds[False] - 1.0


# -- the command ---------------------------------------------------------------------------------


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.survival checkpoints")
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cost", action="store_true", help="measure the cost instead")
    parser.add_argument("--pairs", type=int, default=9, help="fits to measure it with")
    options = parser.parse_args(arguments)
    with TemporaryDirectory() as folder:
        if options.cost:
            _print_cost(Path(folder), options.pairs)
        else:
            _print_kills(options.kills, Random(options.seed), Path(folder))


def _print_cost(folder: Path, pairs: int) -> None:
    print("| fit | seconds | inside | of the processor's | beside | of the processor's | log |")
    print("|---|---|---|---|---|---|---|")
    for name in (*SHORT, *LARGER):
        fit(name, None)  # compiles what there is to compile
        each = [beside(name, folder / "fit.log", bool(number % 2)) for number in range(pairs)]
        seconds, apart = (np.median(column, axis=0) for column in zip(*each, strict=True))
        inside, sizes = zip(*(inside_of(name, folder) for _ in range(5)), strict=True)
        shares = [f"{100 * share:.2f} %" for share in np.median(inside, axis=0)]
        shares += [f"{100 * share:+.1f} %" for share in apart]
        cells = (name, f"{seconds[1]:.1f}", *shares, f"{median(sizes) / 1000:.0f} kB")
        print(f"| {' | '.join(cells)} |", flush=True)


def _print_kills(kills: int, rng: Random, folder: Path) -> None:
    print("| fit | kills | inside a write | fits | same SHA-256 |\n|---|---|---|---|---|")
    total: Counter[str] = Counter()
    for position, name in enumerate(SCENARIOS):
        share = kills * (position + 1) // len(SCENARIOS) - kills * position // len(SCENARIOS)
        done, fits, right = killed_fits(name, share, rng, folder)
        inside = done["killed inside a write"]
        total.update(done, fits=fits, right=right)
        print(f"| {name} | {done['killed'] + inside} | {inside} | {fits} | {right} |", flush=True)
    inside = total["killed inside a write"]
    print(f"| all | {total['killed'] + inside} | {inside} | {total['fits']} | {total['right']} |")
