"""Many fits and predictions in one process: ``python -m benchmarks.soak``.

Five hundred fits of different designs and a hundred thousand predictions, some in this thread, some
in several at once, some in forked children. What must hold at the end:

- every fit has the bits of the same fit made alone, before all others;
- memory, open files and threads stay where they were after the first round.

One line says what was measured every ten rounds; the last is a table. The exit status is 1 if
anything has grown or differs.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import gc
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path

import attrs
import numpy as np

import sgpc_framework as sgpc
from sgpc_framework import datasets

FITS, ROUND, NEW_ROWS = 500, 10, 200
"""Fits in all, fits in a round, and rows that each of them predicts."""

MEMORY, DESCRIPTORS, THREADS = 32.0, 0, 0
"""By how much each may grow: megabytes between the first rounds and the last, and numbers."""


@attrs.frozen
class Fit:
    """One fit, which says all about itself in a few bytes."""

    config: dict[str, object]
    classes: int
    seed: int

    def bits(self) -> bytes:
        """A digest of the basis, the sites and the predictions."""
        X, y = datasets.waveform(80, seed=self.seed)
        if self.classes == 3:
            y = np.digitize(X[:, 10], [1.0, 3.0])
        new, _ = datasets.waveform(NEW_ROWS, seed=self.seed + 1)
        model = sgpc.build({**self.config, "seed": self.seed}).fit(X, y)
        return sha256(model.predict_proba(new).tobytes()).digest()


def fits(count: int) -> list[Fit]:
    """So many, of ten kinds: every selector and refiner, two and three classes, blocks."""
    kinds: list[tuple[dict[str, object], int]] = [
        ({"preset": "fast", "max_basis": 6}, 2),
        ({"max_basis": 8, "max_iterations": 2}, 2),
        ({"selector": "entropy", "sites": "predictive-loss", "max_basis": 6}, 2),
        ({"selector": "validation", "likelihood": "logistic", "max_basis": 6}, 2),
        ({"preset": "fast", "max_basis": 4}, 3),
        ({"refiner": "ep", "objective": "none", "max_basis": 8}, 2),
        ({"kernel": "matern-32", "objective": "marginal-likelihood", "max_basis": 6}, 2),
        ({"selector": "pool", "block_rows": 40, "max_basis": 8, "max_iterations": 2}, 2),
        ({"refiner": "prune", "likelihood": "noisy-probit", "max_basis": 8}, 2),
        ({"storage": "float32", "selector": "random-sampling", "max_basis": 8}, 2),
    ]
    made = []
    for i in range(count):
        config, classes = kinds[i % len(kinds)]
        made.append(Fit(config, classes, seed=i // len(kinds) % 5))
    return made


@attrs.frozen
class Footprint:
    """What a process holds."""

    megabytes: float
    descriptors: int
    threads: int

    @classmethod
    def now(cls) -> Footprint:
        """Of this process, from the kernel's tables."""
        gc.collect()
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        size = pages * os.sysconf("SC_PAGESIZE") / 2**20
        return cls(size, len(os.listdir("/proc/self/fd")), threading.active_count())


def one_by_one(some: list[Fit]) -> list[bytes]:
    return [fit.bits() for fit in some]


def in_threads(some: list[Fit]) -> list[bytes]:
    with ThreadPoolExecutor(3) as pool:
        return list(pool.map(Fit.bits, some))


def in_children(some: list[Fit]) -> list[bytes]:
    """Two forked children, each with half of the fits, at the same time."""
    halves = [some[::2], some[1::2]]
    children = [_forked(half) for half in halves]
    found = []
    for child, reader in children:
        with os.fdopen(reader, "rb") as pipe:
            said = pipe.read()
        _, status = os.waitpid(child, 0)
        if status:
            raise RuntimeError(f"a forked child ended with status {status}")
        found.append([said[i : i + 32] for i in range(0, len(said), 32)])
    together = [b""] * len(some)
    together[::2], together[1::2] = found
    return together


def _forked(some: list[Fit]) -> tuple[int, int]:
    reader, writer = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # fork beside threads, on purpose
        child = os.fork()
    if not child:
        status = 1
        try:
            os.close(reader)
            with os.fdopen(writer, "wb") as pipe:
                pipe.write(b"".join(one_by_one(some)))
            status = 0
        finally:
            os._exit(status)
    os.close(writer)
    return child, reader


WAYS: tuple[Callable[[list[Fit]], list[bytes]], ...] = (one_by_one, in_threads, in_children)


@attrs.frozen
class Soak:
    """What was found: footprints after each round, and which fits had other bits."""

    footprints: list[Footprint]
    different: list[Fit]
    fits: int
    seconds: float

    def problems(self) -> Iterator[str]:
        """What has grown, or differs."""
        if self.different:
            yield f"{len(self.different)} fits have other bits, as {self.different[0]}"
        first, last = self._settled
        if last.megabytes - first.megabytes > MEMORY:
            yield f"memory grew from {first.megabytes:.0f} to {last.megabytes:.0f} MB"
        if last.descriptors - first.descriptors > DESCRIPTORS:
            yield f"open files grew from {first.descriptors} to {last.descriptors}"
        if last.threads - first.threads > THREADS:
            yield f"threads grew from {first.threads} to {last.threads}"

    @property
    def _settled(self) -> tuple[Footprint, Footprint]:
        """After every way has been gone once, and at the end."""
        return self.footprints[min(len(WAYS), len(self.footprints)) - 1], self.footprints[-1]

    def table(self) -> str:
        """Before and after."""
        first, last = self._settled
        lines = [f"| | after {len(WAYS)} rounds | after {len(self.footprints)} |", "|---|---|---|"]
        lines.append(f"| memory, MB | {first.megabytes:.0f} | {last.megabytes:.0f} |")
        lines.append(f"| open files | {first.descriptors} | {last.descriptors} |")
        lines.append(f"| threads | {first.threads} | {last.threads} |")
        lines.append(
            f"\n{self.fits} fits, {self.fits * NEW_ROWS} predictions, {self.seconds:.0f} s; "
            f"{len(self.different)} with other bits than alone"
        )
        return "\n".join(lines)


def soak(work: list[Fit], together: int = ROUND, say: Callable[[str], None] = print) -> Soak:
    """Fits in rounds of so many, each round in another way."""
    began = time.perf_counter()
    alone = {name: fit.bits() for name, fit in {repr(fit): fit for fit in work}.items()}
    footprints, different = [], []
    for number, start in enumerate(range(0, len(work), together)):
        some = work[start : start + together]
        found = WAYS[number % len(WAYS)](some)
        each = zip(some, found, strict=True)
        different += [fit for fit, bits in each if bits != alone[repr(fit)]]
        footprints.append(Footprint.now())
        if number % 10 == 9:
            say(f"round {number + 1}: {footprints[-1]}, {len(different)} with other bits")
    return Soak(footprints, different, len(work), time.perf_counter() - began)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.soak", description=__doc__)
    parser.add_argument("--fits", type=int, default=FITS)
    options = parser.parse_args()
    result = soak(fits(options.fits), say=lambda line: print(line, flush=True))
    print("\n" + result.table())
    problems = list(result.problems())
    print("\n".join(problems))
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
