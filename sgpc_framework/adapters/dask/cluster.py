"""A cluster as its client sees it: who is there, and what its tasks return.

A scheduler that has died answers nothing, and most calls of a client would wait for it for ever. So
every wait is in short turns, between which it is asked whether scheduler and workers are there, and
has an end. Nobody else waits for a cluster (a test holds this).
"""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from contextlib import suppress
from typing import Any

import attrs
from distributed import Client, Future, wait

from sgpc_framework.adapters.dask.background_calls import BackgroundCall
from sgpc_framework.errors import ClusterError

BEAT = 2.0
"""Seconds between two looks at whether a worker that is waited for is still there."""

LONGEST = 3600.0
"""Seconds that one answer may take."""

ARRIVAL = 120.0
"""Seconds to wait for a worker, when there is none, and for the scheduler."""


class WorkerLost(Exception):
    """A worker does not answer any more."""


@attrs.frozen(eq=False)
class Cluster:
    """The scheduler and the workers of a client."""

    client: Client
    longest: float = LONGEST

    def present(self) -> dict[str, int]:
        """The addresses of the workers that are there, with their threads."""
        end = time.monotonic() + ARRIVAL
        while True:
            left = end - time.monotonic()
            if left <= 0.0 or self.client.status == "closed":
                raise self._no_scheduler()
            with suppress(OSError, TimeoutError, RuntimeError):
                about = BackgroundCall(self.client.scheduler_info, n_workers=-1).result(left)
                if self.client.status == "running":
                    workers = about["workers"]
                    return {each: int(workers[each]["nthreads"]) for each in workers}
            time.sleep(0.2)

    def finished(self, futures: Sequence[Future], addresses: Collection[str] = ()) -> None:
        """Wait for tasks that run on certain workers, or for these to be ``WorkerLost``."""
        end = time.monotonic() + self.longest
        while True:
            with suppress(TimeoutError):
                wait(futures, timeout=BEAT)
            if all(future.done() for future in futures):
                return
            there = self.present()
            for address in addresses:
                if address not in there:
                    raise WorkerLost(address)
            if time.monotonic() > end:
                raise self._too_long()

    def results(self, futures: Sequence[Future]) -> list[Any]:
        """What tasks return that may run anywhere; Dask starts those again that were lost."""
        self.finished(futures)
        gathering = BackgroundCall(self.client.gather, futures)
        end = time.monotonic() + self.longest
        while True:
            try:
                return list(gathering.result(BEAT))
            except TimeoutError:
                self.present()
                if time.monotonic() > end:
                    raise self._too_long() from None

    def computed(self, *lazy: Any) -> list[Any]:
        """What Dask collections and delayed calls come to."""
        return self.results(self.client.compute(list(lazy), retries=2))

    def _too_long(self) -> ClusterError:
        return ClusterError(f"the workers have not done a task within {self.longest:g} seconds")

    def _no_scheduler(self) -> ClusterError:
        return ClusterError(
            f"the scheduler does not answer ({self.client!r}): the rows were with its workers, so "
            "that the fit cannot go on. Connect to a scheduler that runs, and fit again; with the "
            "same checkpoint, if it had one, the fit goes on from there"
        )
