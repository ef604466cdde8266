"""The placement over Dask's workers: one call a worker and a trip.

What is needed to make a thing again is kept here, at the driver: of what it was made, how, and the
calls that have changed it since. That is little: an inclusion is a few rows. A trip makes again
what is missing before it asks.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar
from uuid import uuid4

import attrs
import numpy as np
from distributed import Future
from numpy.typing import NDArray

from sgpc_framework.adapters.dask.block_runs import pick
from sgpc_framework.adapters.dask.cluster import WorkerLost
from sgpc_framework.adapters.dask.layout import Layout
from sgpc_framework.adapters.dask.origins import Made, Origin, Regrouped, Sent
from sgpc_framework.adapters.dask.sending import OutOfReach, pickled_call, pickled_order
from sgpc_framework.adapters.dask.worker_pool import Worker, WorkerPool, retry
from sgpc_framework.adapters.dask.worker_store import Answer, Gather, Order, Replay
from sgpc_framework.rows.placement import Placement
from sgpc_framework.rows.tree_sums import Node, root, sum_from_nodes

T = TypeVar("T")
S = TypeVar("S")
R = TypeVar("R")
P = ParamSpec("P")
Numbers = NDArray[np.intp]


class OnWorkers(Generic[T]):
    """Things in the stores of a pool, one for each block of a layout."""

    def __init__(self, layout: Layout, origin: Origin) -> None:
        self._layout = layout
        self.pool = layout.pool
        self.storage = layout.storage
        self._origin = origin
        self.name = uuid4().hex[:16]
        self._at: list[Worker | None] = [None] * len(layout)
        """Where each thing is, if it is."""
        self._changes: list[bytes] = []
        """The calls that changed the things, in order."""
        self._changed = [0] * len(layout)
        """How many of them each thing has seen."""
        self._with_moments: dict[int, int] = {}
        """After how many of them each thing began to compute all moments, if it did."""
        self.pool.forget_with(self, self.name)
        self.ensure(range(len(layout)))

    def __len__(self) -> int:
        return len(self._layout)

    def __reduce__(self) -> tuple[Any, ...]:
        """A row-local function may refer to all rows, as a method of who has them does. On the
        workers it cannot reach them."""
        return OutOfReach, (len(self),)

    def worker_of(self, number: int) -> Worker:
        """Where a thing belongs."""
        return self._layout.workers[number]

    # -- the seam ------------------------------------------------------------------------------

    def every(
        self, function: Callable[Concatenate[Any, P], R], /, *shared: P.args, **named: P.kwargs
    ) -> Iterator[R]:
        return iter(self._one_by_one(pickled_call(function, shared, named), None))

    def some(
        self, function: Callable[..., R], arguments: Mapping[int, tuple[Any, ...]], /
    ) -> list[R]:
        return self._one_by_one(pickled_call(function, (), {}), arguments)

    def sum(
        self, function: Callable[Concatenate[Any, P], R], /, *shared: P.args, **named: P.kwargs
    ) -> R:
        changes = getattr(function, "changes_its_thing", False)
        call = pickled_call(function, shared, named)
        sums: dict[Node, R] = {}
        for _, found in self._trip(call, "sum", None, changes):
            sums.update(found)
        return sum_from_nodes(sums, root(len(self)), len(self))

    def merge(self, function: Callable[..., R], arguments: Mapping[int, tuple[Any, ...]], /) -> R:
        parts = self._trip(pickled_call(function, (), {}), "merge", arguments)
        (_, whole), *others = parts
        for _, part in others:
            whole = whole + part
        return whole  # type: ignore[no-any-return]

    def map(
        self, function: Callable[Concatenate[Any, P], S], /, *shared: P.args, **named: P.kwargs
    ) -> Placement[S]:
        return OnWorkers(self._layout, Made(self, pickled_call(function, shared, named)))

    def regroup(self, chosen: Any, counts: Numbers, starts: Numbers, /) -> Placement[Any]:
        edges = np.cumsum([0, *counts])
        return OnWorkers(
            self.pool.layout(np.diff(starts), self.storage),
            Regrouped(self, chosen, edges, starts),
        )

    def pieces(self, chosen: Any, numbers: Iterable[tuple[int, int, int]]) -> list[Future]:
        """Tasks that bring the rows which a function chooses of blocks, from one to another."""
        return [
            self.pool.client.submit(
                pick,
                *(self._layout.workers[number].store, self.name, number, chosen, begin, end),
                workers=[self._layout.workers[number].address],
                allow_other_workers=False,
                pure=False,
            )
            for number, begin, end in numbers
        ]

    # -- trips ---------------------------------------------------------------------------------

    def _one_by_one(self, call: bytes, own: Mapping[int, tuple[Any, ...]] | None) -> list[Any]:
        found: dict[int, Any] = {}
        for numbers, results in self._trip(call, "each", own):
            found.update(zip(numbers, results, strict=True))
        return [found[number] for number in sorted(found)]

    def _trip(
        self,
        call: bytes,
        gather: Gather,
        own: Mapping[int, tuple[Any, ...]] | None = None,
        changes: bool = False,
    ) -> list[tuple[tuple[int, ...], Any]]:
        """Results of runs of things, whoever has to be asked for them."""
        missing = set(range(len(self)) if own is None else own)
        found: list[tuple[tuple[int, ...], Any]] = []
        if changes:
            self._changes.append(call)

        def attempt() -> None:
            self._ensure(missing)
            by_worker = self._layout.by_worker(missing)
            answers = self._ask(by_worker, call, gather, own)
            for worker, answer in answers.items():
                numbers = by_worker[worker]
                found.append((numbers, answer.results))
                missing.difference_update(numbers)
                for number in numbers if changes else ():
                    self._changed[number] += 1
                for number in answer.with_moments:
                    self._with_moments.setdefault(number, self._changed[number])
            if missing:
                raise WorkerLost

        retry(self.pool, attempt)
        return found

    def _ask(
        self,
        by_worker: Mapping[Worker, tuple[int, ...]],
        call: bytes,
        gather: Gather,
        own: Mapping[int, tuple[Any, ...]] | None = None,
        made: str | None = None,
    ) -> dict[Worker, Answer]:
        """The answers of those who gave one."""
        order = Order(self.name, (), call, gather, len(self), made=made)
        questions = {}
        for worker, numbers in by_worker.items():
            each = attrs.evolve(
                order,
                numbers=numbers,
                own=None if own is None else {number: own[number] for number in numbers},
                drop=self.pool.to_forget(worker),
                threads=worker.threads,
            )
            questions[worker] = pickled_order(each)
        return self.pool.answers(questions)

    # -- making things again -------------------------------------------------------------------

    def ensure(self, numbers: Iterable[int]) -> None:
        """Have some things where they belong, made if they are not there."""
        retry(self.pool, lambda: self._ensure(numbers))

    def _ensure(self, numbers: Iterable[int]) -> None:
        absent = [n for n in numbers if self._at[n] is not self._layout.workers[n]]
        if not absent:
            return
        by_worker = self._layout.by_worker(absent)
        self._origin.make(self.name, by_worker)
        self._redo(by_worker)
        for worker, own in by_worker.items():
            for number in own:
                self._at[number] = worker

    def _redo(self, by_worker: Mapping[Worker, tuple[int, ...]]) -> None:
        """What has changed things since they were made first."""
        for done in sorted({self._changed[n] for own in by_worker.values() for n in own} - {0}):
            questions = {}
            for worker, numbers in by_worker.items():
                own = tuple(number for number in numbers if self._changed[number] == done)
                with_moments = {n: self._with_moments[n] for n in own if n in self._with_moments}
                order = Replay(
                    self.name, own, tuple(self._changes[:done]), with_moments, worker.threads
                )
                questions[worker] = pickle.dumps(order, protocol=5)
            if len(self.pool.answers(questions)) < len(questions):
                raise WorkerLost

    def make_from(
        self, name: str, by_worker: Mapping[Worker, tuple[int, ...]], call: bytes
    ) -> None:
        """Make new things of these, under a name."""
        self._ensure([number for own in by_worker.values() for number in own])
        assert not self._changes, "what is made of things that change could not be made again"
        if len(self._ask(by_worker, call, "nothing", made=name)) < len(by_worker):
            raise WorkerLost


@attrs.frozen(eq=False)
class Spread:
    """A ``Place``: blocks of this process go to the workers of a pool."""

    pool: WorkerPool

    def __call__(self, blocks: Sequence[Any], rows: int) -> Placement[Any]:
        sizes = np.array([len(block) for block in blocks], dtype=np.intp)
        return OnWorkers(self.pool.layout(sizes, "float64"), Sent(self.pool, blocks))

    def __reduce__(self) -> tuple[Any, ...]:
        return OutOfReach, (0,)
