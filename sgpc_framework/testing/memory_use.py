"""Whether what a call allocates grows with the rows, or with their square."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable

from sgpc_framework.testing.verdict import require

FEW, MANY = 400, 1600
"""Four times as many rows: four times the memory is right, sixteen times is the square."""

ALLOWANCE = 2**20
"""Bytes that nobody asks about."""


def require_linear_memory(act: Callable[[int], object], what: str) -> None:
    """``act(rows)`` allocates in proportion to the rows."""
    few, many = (_peak(act, rows) for rows in (FEW, MANY))
    require(
        many <= 8 * few + ALLOWANCE,
        f"{what} takes {many / 2**20:.1f} MB for {MANY} rows after {few / 2**20:.1f} MB for {FEW}: "
        "that grows with the square of the rows",
    )


def _peak(act: Callable[[int], object], rows: int) -> int:
    act(rows)  # what is kept for good does not count
    had = tracemalloc.is_tracing()
    if not had:
        tracemalloc.start()
    tracemalloc.reset_peak()
    before = tracemalloc.get_traced_memory()[0]
    try:
        act(rows)
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        if not had:
            tracemalloc.stop()
