"""Threads: one for BLAS while the framework works, and blocks of rows over threads where it pays.

The products here are small, and on a busy machine a second BLAS thread costs more than it brings.
One thread also makes results independent of the machine's thread settings, to the bit. Where there
are many rows, whole blocks of them go to threads instead: as many as the caller leaves to BLAS, and
not more than there are processors. Who limits BLAS (``OPENBLAS_NUM_THREADS=1``, ``threadpoolctl``,
a worker of joblib) limits these as well. Sums over blocks are taken in the order of the blocks, so
the number of threads does not change a bit of the result.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import Context, ContextVar, copy_context
from functools import cache
from itertools import chain
from threading import Lock
from typing import Any, TypeVar

from sgpc_framework.rows.memory import keep_freed_memory

A = TypeVar("A")
R = TypeVar("R")

MANY_ROWS = 50_000
"""From so many rows on, blocks are shared among threads."""

TURNS = 8
"""A thread gets its blocks in so many runs: few, because each waits for the interpreter when it
begins and when it ends, and enough that threads finish together."""

LONGEST = 16
"""The most blocks of a run, whose results are kept until it ends."""

_allowed: ContextVar[int] = ContextVar("allowed", default=1)


@contextmanager
def one_blas_thread(threads: int = 1) -> Iterator[None]:
    """Hold BLAS to one thread inside, and give the caller's setting back after.

    Blocks of rows may use so many ``threads``, or as many as BLAS could, if that is more. What
    stays is how freed memory is kept (``memory``), which is of use to whoever comes next.
    """
    keep_freed_memory()
    caller = max(threads, _LIMIT.take())
    outer = _allowed.set(max(_allowed.get(), min(caller, _processors())))
    try:
        yield
    finally:
        _allowed.reset(outer)
        _LIMIT.give_back()


class _Limit:
    """BLAS has one number of threads for the whole process, and several may want it to be one at
    the same time: the first who comes keeps what it was, and the last who goes restores it."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._holders = 0
        self._before: list[int] = []

    def take(self) -> int:
        """Hold BLAS to one thread; returns how many it had before anybody did."""
        libraries = _libraries()
        with self._lock:
            if self._holders == 0:
                self._before = [blas.num_threads for blas in libraries]
                _set_threads(libraries, [1 for _ in libraries])
            self._holders += 1
            return max(self._before, default=1)

    def unlock(self) -> None:
        """After a fork nobody else is there who could hold the lock."""
        self._lock = Lock()

    def give_back(self) -> None:
        """Whoever took it needs it no more."""
        with self._lock:
            self._holders -= 1
            if self._holders == 0:
                _set_threads(_libraries(), self._before)


_LIMIT = _Limit()


def over_blocks(function: Callable[[A], R], blocks: Iterable[A], rows: int) -> Iterator[R]:
    """The function of every block, in order; on threads if there are many ``rows`` in all.

    What it calls must not depend on what it does to other blocks. Who adds the results up as they
    come holds those of a few runs at a time.
    """
    threads = _allowed.get() if rows >= MANY_ROWS else 1
    if threads == 1:
        return map(function, blocks)
    blocks = list(blocks)
    size = max(1, min(LONGEST, len(blocks) // (TURNS * threads)))
    runs = [blocks[at : at + size] for at in range(0, len(blocks), size)]
    contexts = [copy_context() for _ in runs]  # whom to blame is known there, too

    def work(context: Context, run: list[A]) -> list[R]:
        context.run(_allowed.set, 1)
        return context.run(lambda: [*map(function, run)])

    return chain.from_iterable(_pool(threads).map(work, contexts, runs))


@cache
def _libraries() -> list[Any]:
    """Every BLAS of this process, as threadpoolctl knows it."""
    import scipy.linalg  # noqa: F401  brings its own BLAS, which must be there to be found
    from threadpoolctl import ThreadpoolController

    return list(ThreadpoolController().select(user_api="blas").lib_controllers)


def _set_threads(libraries: Iterable[Any], counts: Iterable[int]) -> None:
    """Since 3.8 threadpoolctl does nothing where another thread has ever set the number of OpenBLAS
    and still lives. Here a lock sees to it that threads do not fight, so it is set all the same."""
    for blas, count in zip(libraries, counts, strict=True):
        if blas.num_threads != count:
            getattr(blas, "_real_set_num_threads", blas.set_num_threads)(count)


def _processors() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix="sgpc")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)  # threads do not survive a fork
    os.register_at_fork(after_in_child=_LIMIT.unlock)
