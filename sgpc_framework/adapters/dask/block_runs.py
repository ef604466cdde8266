"""Rows laid into blocks: runs of consecutive blocks, each made of pieces from anywhere.

Tasks of Dask bring the pieces from worker to worker; the last of them, which is tied to the worker
where the blocks belong, puts them into its store. A copy is kept, and nothing that it was cut of.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import pairwise
from typing import Any

import attrs
import numpy as np
from distributed import Future
from numpy.typing import NDArray

from sgpc_framework.adapters.dask.background_calls import BackgroundCall
from sgpc_framework.adapters.dask.cluster import BEAT, WorkerLost
from sgpc_framework.adapters.dask.worker_pool import Worker, WorkerPool
from sgpc_framework.adapters.dask.worker_store import STORES
from sgpc_framework.algebra.rounding import Storage
from sgpc_framework.errors import ClusterError
from sgpc_framework.rows.blocks import Block, Contents
from sgpc_framework.rows.room import kept_copy
from sgpc_framework.rows.view import read_only

Numbers = NDArray[np.intp]

ROWS = 1 << 18
"""About so many rows are laid together."""


@attrs.frozen(eq=False)
class Run:
    """Consecutive blocks from the one numbered ``first`` on, and the worker where they belong."""

    worker: Worker
    first: int
    starts: Sequence[int]
    """The numbers of the blocks' first rows, and that after the last row."""

    @property
    def start(self) -> int:
        """The number of the first row."""
        return self.starts[0]

    @property
    def stop(self) -> int:
        """That after the last."""
        return self.starts[-1]


def runs_of(by_worker: Mapping[Worker, tuple[int, ...]], starts: Numbers) -> list[Run]:
    """The runs that some blocks make."""
    most = max(1, ROWS // max(1, int(starts[1])))
    runs = []
    for worker, numbers in by_worker.items():
        ends: list[tuple[int, int]] = []
        for number in numbers:
            if ends and ends[-1][1] == number - 1 and number - ends[-1][0] < most:
                ends[-1] = ends[-1][0], number
            else:
                ends.append((number, number))
        runs += [Run(worker, a, starts[a : b + 2].tolist()) for a, b in ends]
    return runs


def overlaps(edges: Numbers, start: int, stop: int) -> Iterator[tuple[int, int, int]]:
    """The parts between some edges that have some of these rows, and which, counted from the first
    row of the part."""
    part = int(np.searchsorted(edges, start, side="right")) - 1
    while part < len(edges) - 1 and edges[part] < stop:
        begin, end = max(start, int(edges[part])), min(stop, int(edges[part + 1]))
        if begin < end:
            yield part, begin - int(edges[part]), end - int(edges[part])
        part += 1


def lay_runs(
    pool: WorkerPool,
    name: str,
    runs: Sequence[Run],
    storage: Storage,
    pieces: Callable[[Run], Iterable[Future]],
    workers: Collection[Worker] = (),
) -> None:
    """Lay runs of blocks of a placement; ``WorkerLost`` if a worker is that gets some, or one of
    ``workers``, which have the pieces."""
    tasks = [
        pool.client.submit(
            lay_blocks,
            *(run.worker.store, name, run.first, run.starts, storage, list(pieces(run))),
            workers=[run.worker.address],
            allow_other_workers=False,
            pure=False,
            retries=2,
        )
        for run in runs
    ]
    involved = {*workers, *(run.worker for run in runs)}
    try:
        pool.cluster.finished(tasks, {worker.address for worker in involved})
    except WorkerLost:
        BackgroundCall(pool.client.cancel, tasks, force=True)
        _lose_who_is_gone(pool, involved)
        raise
    for task in tasks:
        if task.status != "finished":
            error = _error_of(task)
            if _lose_who_is_gone(pool, involved):
                raise WorkerLost from error
            raise error


def _error_of(task: Future) -> Exception:
    """Why a task did not finish."""
    error = None
    with suppress(Exception):
        error = BackgroundCall(task.exception).result(BEAT)
    return error if isinstance(error, Exception) else ClusterError(f"{task!r} ended without rows")


def _lose_who_is_gone(pool: WorkerPool, workers: Collection[Worker]) -> bool:
    there = pool.present()
    gone = [worker for worker in workers if worker.address not in there]
    for worker in gone:
        pool.lose(worker)
    return bool(gone)


def lay_blocks(
    store: str,
    placement: str,
    first: int,
    starts: Sequence[int],
    storage: Storage,
    pieces: Sequence[Contents],
) -> int:
    """Put consecutive blocks into a store of this process, made of some pieces."""
    here = store_named(store)
    whole = Contents.concatenate(list(pieces))
    blocks = {}
    for number, (start, stop) in enumerate(pairwise(starts), start=first):
        some = whole[start - starts[0] : stop - starts[0]]
        rest = (_kept(each) for each in (some.y, some.weight, some.numbers))
        y, weight, numbers = rest
        blocks[number] = Block(kept_copy(some.X, storage), y, start, weight, numbers)
    here.put(placement, blocks)
    return len(blocks)


def pick(store: str, placement: str, number: int, chosen: Any, begin: int, end: int) -> Contents:
    """Of the rows that a function chooses of a block some, on the worker that has it."""
    block: Block = store_named(store).peek(placement, number)
    return block.contents()[np.flatnonzero(chosen(block))[begin:end]]


def store_named(name: str) -> Any:
    """A store of this process."""
    here = STORES.get(name)
    if here is None:
        raise ClusterError(f"there is no {name} in this process")
    return here


def _kept(array: Any) -> Any:
    return None if array is None else read_only(array.copy())
