"""Whether a function says the same when several threads ask it at once, as a fit does."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Barrier
from typing import TypeVar

from sgpc_framework.protocols import Floats
from sgpc_framework.testing.verdict import require_equal

T = TypeVar("T")

THREADS = 4
ROUNDS = 12


def require_same_from_threads(
    asked: Callable[[T], Floats], arguments: Sequence[T], what: str
) -> None:
    """One answer after the other, and many at the same time, are the same bits."""
    alone = [asked(each) for each in arguments]
    ready = Barrier(THREADS)

    def all_of_them(first: int) -> None:
        ready.wait(timeout=60.0)
        for turn in range(ROUNDS * len(arguments)):
            at = (first + turn) % len(arguments)
            found = asked(arguments[at])
            where = f"asked by one thread, then by {THREADS} at once"
            require_equal(alone[at], found, what, where)

    with _impatient(), ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(all_of_them, range(THREADS)))


@contextmanager
def _impatient() -> Iterator[None]:
    """Threads take turns as often as can be."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        yield
    finally:
        sys.setswitchinterval(before)
