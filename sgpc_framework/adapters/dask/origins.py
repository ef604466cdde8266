"""How the things of a placement come about on workers, the first time and when one was lost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import attrs
import cloudpickle
import numpy as np
from numpy.typing import NDArray

from sgpc_framework.adapters.dask.block_runs import lay_runs, overlaps, runs_of
from sgpc_framework.adapters.dask.cluster import WorkerLost
from sgpc_framework.adapters.dask.worker_pool import Worker, WorkerPool
from sgpc_framework.adapters.dask.worker_store import Keep

if TYPE_CHECKING:
    from sgpc_framework.adapters.dask.on_workers import OnWorkers

Numbers = NDArray[np.intp]


class Origin(Protocol):
    """How the things of a placement come about, on the workers where they belong."""

    def make(self, name: str, by_worker: Mapping[Worker, tuple[int, ...]]) -> None:
        """Make some things under a name; ``WorkerLost`` if a worker is."""
        ...


@attrs.frozen(eq=False)
class Sent:
    """Things of this process, which keeps them to send them again."""

    pool: WorkerPool
    things: Sequence[Any]

    def make(self, name: str, by_worker: Mapping[Worker, tuple[int, ...]]) -> None:
        questions = {}
        for worker, own in by_worker.items():
            keep = Keep(name, {number: self.things[number] for number in own})
            questions[worker] = bytes(cloudpickle.dumps(keep, protocol=5))
        if len(self.pool.answers(questions)) < len(questions):
            raise WorkerLost


@attrs.frozen(eq=False)
class Made:
    """Things that a function makes of others."""

    parent: OnWorkers[Any]
    call: bytes

    def make(self, name: str, by_worker: Mapping[Worker, tuple[int, ...]]) -> None:
        self.parent.make_from(name, by_worker, self.call)


@attrs.frozen(eq=False)
class Regrouped:
    """Blocks of the rows that a function chooses of other blocks."""

    parent: OnWorkers[Any]
    chosen: Any
    edges: Numbers
    """How many rows were chosen of all blocks before each."""
    starts: Numbers

    def make(self, name: str, by_worker: Mapping[Worker, tuple[int, ...]]) -> None:
        runs = runs_of(by_worker, self.starts)
        of_run = {run: [*overlaps(self.edges, run.start, run.stop)] for run in runs}
        needed = sorted({number for parts in of_run.values() for number, _, _ in parts})
        self.parent.ensure(needed)
        lay_runs(
            self.parent.pool,
            name,
            runs,
            self.parent.storage,
            lambda run: self.parent.pieces(self.chosen, of_run[run]),
            {self.parent.worker_of(number) for number in needed},
        )
