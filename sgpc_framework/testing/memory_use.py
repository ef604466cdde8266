"""Whether what a call allocates grows with the rows, or with their square, and is given back."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sgpc_framework.testing.verdict import require

FEW, MANY = 400, 1600
"""Four times as many rows: four times the memory is right, sixteen times is the square."""

ALLOWANCE = 2**20
"""Bytes that nobody asks about,"""

KEPT = 2**14
"""and those that a few fits may leave in the caches of everybody."""


def require_linear_memory(act: Callable[[int], object], what: str) -> None:
    """``act(rows)`` allocates in proportion to the rows."""
    few, many = (_peak(act, rows) for rows in (FEW, MANY))
    require(
        many <= 8 * few + ALLOWANCE,
        f"{what} takes {many / 2**20:.1f} MB for {MANY} rows after {few / 2**20:.1f} MB for {FEW}: "
        "that grows with the square of the rows",
    )


def require_memory_back(act: Callable[[], object], what: str) -> None:
    """``act`` goes on to take no more than it did."""
    with _tracing():
        for _ in range(3):  # what is kept for good, and caches that are full by now
            act()
        first, _, last = [_kept_after(act) for _ in range(3)]
    require(
        last - first <= KEPT,
        f"{(last - first) / 2**10:.0f} kB more after {what} twice: something is kept",
    )


def _kept_after(act: Callable[[], object]) -> int:
    act()
    gc.collect()
    return tracemalloc.get_traced_memory()[0]


def _peak(act: Callable[[int], object], rows: int) -> int:
    act(rows)  # what is kept for good does not count
    with _tracing():
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        act(rows)
        return tracemalloc.get_traced_memory()[1] - before


@contextmanager
def _tracing() -> Iterator[None]:
    had = tracemalloc.is_tracing()
    if not had:
        tracemalloc.start()
    try:
        yield
    finally:
        if not had:
            tracemalloc.stop()
