"""Which worker has which block, from the beginning and after one was lost."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sgpc_framework.algebra.rounding import Storage

if TYPE_CHECKING:
    from sgpc_framework.adapters.dask.worker_pool import Worker, WorkerPool


class Layout:
    """The worker of each block, and of all that is made of it: in runs, by how many threads the
    workers have."""

    def __init__(
        self, pool: WorkerPool, rows: NDArray[np.intp], workers: Sequence[Worker], storage: Storage
    ) -> None:
        self.pool = pool
        self.storage = storage
        self._rows = rows
        threads = np.cumsum([worker.threads for worker in workers])
        share = threads / threads[-1]
        middle = (np.cumsum(rows) - 0.5 * rows) / max(1, rows.sum())
        places = np.minimum(np.searchsorted(share, middle), len(workers) - 1)
        self.workers: list[Worker] = [workers[place] for place in places.tolist()]

    def __len__(self) -> int:
        return len(self.workers)

    def reassign(self, lost: Worker, workers: Sequence[Worker]) -> None:
        """The blocks of a lost worker go to those that have the fewest rows for a thread."""
        load = dict.fromkeys(workers, 0.0)
        for block, worker in enumerate(self.workers):
            if worker in load:
                load[worker] += self._rows[block] / worker.threads
        for block, worker in enumerate(self.workers):
            if worker is lost:
                chosen = min(workers, key=load.__getitem__)
                load[chosen] += self._rows[block] / chosen.threads
                self.workers[block] = chosen

    def by_worker(self, numbers: Collection[int]) -> dict[Worker, tuple[int, ...]]:
        """Some of the blocks, by where they belong."""
        found: dict[Worker, list[int]] = {}
        for number in sorted(numbers):
            found.setdefault(self.workers[number], []).append(number)
        return {worker: tuple(own) for worker, own in found.items()}
