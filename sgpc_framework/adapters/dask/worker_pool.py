"""The workers that serve a fit: who is there, who has died, and how long anybody is waited for.

A worker is taken for dead as soon as a call to it fails, for whatever reason: what it had is made
again elsewhere, or in a new store on the same worker if it is still there. What an old store
may still be doing concerns nobody. Every wait has an end (``cluster``).
"""

from __future__ import annotations

import logging
import pickle
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, TypeVar
from uuid import uuid4
from weakref import WeakSet, finalize

import attrs
import numpy as np
from distributed import Client
from numpy.typing import NDArray

from sgpc_framework.adapters.dask.cluster import ARRIVAL, BEAT, LONGEST, Cluster, WorkerLost
from sgpc_framework.adapters.dask.layout import Layout
from sgpc_framework.adapters.dask.worker_store import Answer, WorkerStore, versions
from sgpc_framework.algebra.rounding import Storage
from sgpc_framework.errors import ClusterError

T = TypeVar("T")
Numbers = NDArray[np.intp]

LOSSES = 12
"""How many times in a row workers may die in the same trip, before it is the trip's fault."""

_LOG = logging.getLogger("sgpc_framework")


@attrs.define(eq=False)
class Worker:
    """A worker with the store of this fit on it."""

    address: str
    threads: int
    store: str
    _actor: Any
    dropped: int = 0
    """How many of the names that nobody needs it has been told."""

    def call(self, question: bytes) -> Any:
        """A call under way; ``WorkerLost`` if it cannot even begin."""
        try:
            return self._actor.call(question)
        except Exception as error:
            raise WorkerLost(self.address) from error


@attrs.define
class Traffic:
    """What a fit has asked of its workers, and what came back."""

    trips: int = 0
    sent: int = 0
    """Bytes."""
    received: int = 0
    """Bytes."""
    largest: int = 0
    """Bytes of the largest answer of one worker."""
    losses: int = 0
    """Workers that were lost."""


class WorkerPool:
    """The workers of one fit."""

    def __init__(self, client: Client, longest: float = LONGEST) -> None:
        if client.asynchronous:
            raise ClusterError("wanted a Client that waits, found one made with asynchronous=True")
        self.client = client
        self.cluster = Cluster(client, longest)
        self.traffic = Traffic()
        self._name = uuid4().hex[:12]
        self._workers: dict[str, Worker] = {}
        self._count = 0
        self._layouts: WeakSet[Layout] = WeakSet()
        self._forgotten: list[str] = []
        self.refresh()

    # -- who is there --------------------------------------------------------------------------

    def refresh(self) -> list[Worker]:
        """All workers that are there now: at least one, or ``ClusterError``."""
        end = time.monotonic() + ARRIVAL
        while True:
            there = self.present()
            for address in [*self._workers]:
                if address not in there:
                    del self._workers[address]
            for address, threads in there.items():
                if address not in self._workers:
                    with suppress(WorkerLost):
                        self._workers[address] = self._started(address, threads)
            if self._workers:
                return [*self._workers.values()]
            if time.monotonic() > end:
                raise ClusterError(
                    f"no worker has come within {ARRIVAL:g} seconds, and without one there is "
                    "nobody to keep the rows: start workers, and fit again"
                )
            time.sleep(0.1)

    def present(self) -> dict[str, int]:
        """The addresses of the workers that are there, with their threads."""
        return self.cluster.present()

    def _started(self, address: str, threads: int) -> Worker:
        """A new store on a worker, which must have our packages."""
        self._count += 1
        name = f"sgpc-store-{self._name}-{self._count}"
        future = self.client.submit(
            WorkerStore, name, actor=True, workers=[address], allow_other_workers=False, key=name
        )
        self.cluster.finished([future], {address})
        try:
            actor = future.result(timeout=BEAT)
            there = actor.versions().result(timeout=ARRIVAL)
        except ImportError as error:
            raise ClusterError(
                f"the worker at {address} cannot import what a fit needs ({error}): install "
                "sgpc-framework[dask] and the packages of all parts on the workers"
            ) from error
        except Exception as error:
            raise WorkerLost(address) from error
        here = versions()
        if there != here:
            other = ", ".join(
                f"{k} {there.get(k)} (here {here[k]})" for k in here if there.get(k) != here[k]
            )
            raise ClusterError(
                f"the worker at {address} has {other}: the same bits need the same packages there "
                "as here"
            )
        return Worker(address, threads, name, actor, len(self._forgotten))

    def lose(self, worker: Worker) -> None:
        """Go on without a worker."""
        if self._workers.get(worker.address) is worker:
            del self._workers[worker.address]
        self.traffic.losses += 1
        _LOG.warning("sgpc: the worker at %s was lost; others go on for it", worker.address)
        end = time.monotonic() + BEAT
        while worker.address in self.present() and time.monotonic() < end:
            time.sleep(0.05)
        workers = self.refresh()
        for layout in self._layouts:
            layout.reassign(worker, workers)

    # -- waiting -------------------------------------------------------------------------------

    def answers(self, questions: Mapping[Worker, bytes]) -> dict[Worker, Answer]:
        """What each worker answers: one trip. If an answer is an error, it is raised; who gives
        none is lost, and not among them."""
        self.traffic.trips += 1
        self.traffic.sent += sum(map(len, questions.values()))
        calls: dict[Worker, Any] = {}
        for worker, question in questions.items():
            with suppress(WorkerLost):
                calls[worker] = worker.call(question)
        end = time.monotonic() + self.cluster.longest
        given = {worker: self._answer(worker, call, end) for worker, call in calls.items()}
        answers = {worker: answer for worker, answer in given.items() if answer is not None}
        errors = [answer for answer in answers.values() if answer.error is not None]
        if errors:
            first = min(errors, key=lambda answer: answer.failed)
            assert first.error is not None
            raise first.error
        for worker in questions:
            if worker not in answers:
                self.lose(worker)
        return answers

    def _answer(self, worker: Worker, call: Any, end: float) -> Answer | None:
        """None if the worker is lost, or has lost what it was asked for."""
        while True:
            try:
                reply = call.result(timeout=BEAT)
                self.traffic.received += len(reply)
                self.traffic.largest = max(self.traffic.largest, len(reply))
                answer: Answer = pickle.loads(reply)
                return None if answer.unknown is not None else answer
            except TimeoutError:
                if worker.address not in self.present():
                    return None
                if time.monotonic() > end:
                    raise ClusterError(
                        f"the worker at {worker.address} has not answered within "
                        f"{self.cluster.longest:g} seconds"
                    ) from None
            except Exception:  # whatever a broken connection makes of it: answers are no errors
                return None

    # -- what is where -------------------------------------------------------------------------

    def layout(self, rows: Numbers, storage: Storage) -> Layout:
        """Blocks of so many rows each, in runs over all workers."""
        layout = Layout(self, rows, self.refresh(), storage)
        self._layouts.add(layout)
        return layout

    def forget_with(self, owner: object, name: str) -> None:
        """When its owner is gone, the things of a placement are, too."""
        finalize(owner, self._forgotten.append, name).atexit = False

    def to_forget(self, worker: Worker) -> tuple[str, ...]:
        """The names that a worker has not been told yet."""
        names = tuple(self._forgotten[worker.dropped :])
        worker.dropped += len(names)
        return names


def retry(pool: WorkerPool, attempt: Callable[[], T]) -> T:
    """What an attempt returns that may meet workers which die; not for ever, if all of them do."""
    for _ in range(LOSSES):
        with suppress(WorkerLost):
            return attempt()
    raise ClusterError(
        f"workers died {LOSSES} times in a row while they did the same thing. It may take more "
        "memory than they have: use more workers, storage = 'float32' or 'disk', or fewer basis "
        "vectors"
    )
