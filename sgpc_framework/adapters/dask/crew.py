"""The workers that serve a fit: who is there, who has died, and how long anybody is waited for.

A worker is taken for dead as soon as a call to it fails, for whatever reason: what it had is made
again elsewhere, or in a new station on the same worker if it is still there. What an old station
may still be doing concerns nobody. Every wait is in short turns, between which it is asked whether
scheduler and worker are there, and has an end.
"""

from __future__ import annotations

import logging
import pickle
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeVar
from uuid import uuid4
from weakref import WeakSet, finalize

import attrs
import numpy as np
from distributed import Client, Future, wait
from numpy.typing import NDArray

from sgpc_framework.adapters.dask.limits import Underway
from sgpc_framework.adapters.dask.station import Answer, Station, versions
from sgpc_framework.algebra.rounding import Storage
from sgpc_framework.errors import ClusterError

T = TypeVar("T")
Numbers = NDArray[np.intp]

BEAT = 2.0
"""Seconds between two looks at whether a worker that is waited for is still there."""

LONGEST = 3600.0
"""Seconds that one answer may take."""

ARRIVAL = 120.0
"""Seconds to wait for a worker, when there is none, and for the scheduler."""

LOSSES = 12
"""How many times in a row workers may die in the same trip, before it is the trip's fault."""

_LOG = logging.getLogger("sgpc_framework")


class Lost(Exception):
    """A worker does not answer any more."""


@attrs.define(eq=False)
class Post:
    """A station on a worker."""

    address: str
    threads: int
    station: str
    _actor: Any
    dropped: int = 0
    """How many of the names that nobody needs it has been told."""

    def call(self, question: bytes) -> Any:
        """A call under way; ``Lost`` if it cannot even begin."""
        try:
            return self._actor.call(question)
        except Exception as error:
            raise Lost(self.address) from error


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


class Crew:
    """The stations of one fit."""

    def __init__(self, client: Client, longest: float = LONGEST) -> None:
        if client.asynchronous:
            raise ClusterError("wanted a Client that waits, found one made with asynchronous=True")
        self.client = client
        self.longest = longest
        self.traffic = Traffic()
        self._name = uuid4().hex[:12]
        self._posts: dict[str, Post] = {}
        self._count = 0
        self._families: WeakSet[Family] = WeakSet()
        self._useless: list[str] = []
        self.refresh()

    # -- who is there --------------------------------------------------------------------------

    def refresh(self) -> list[Post]:
        """The posts of all workers that are there now: at least one, or ``ClusterError``."""
        end = time.monotonic() + ARRIVAL
        while True:
            there = self.workers()
            for address in [*self._posts]:
                if address not in there:
                    del self._posts[address]
            for address, threads in there.items():
                if address not in self._posts:
                    with suppress(Lost):
                        self._posts[address] = self._post(address, threads)
            if self._posts:
                return [*self._posts.values()]
            if time.monotonic() > end:
                raise ClusterError(
                    f"no worker has come within {ARRIVAL:g} seconds, and without one there is "
                    "nobody to keep the rows: start workers, and fit again"
                )
            time.sleep(0.1)

    def workers(self) -> dict[str, int]:
        """The addresses of the workers that are there, with their threads."""
        end = time.monotonic() + ARRIVAL
        while True:
            left = end - time.monotonic()
            if left <= 0.0 or self.client.status == "closed":
                raise self._no_scheduler()
            with suppress(OSError, TimeoutError, RuntimeError):
                about = Underway(self.client.scheduler_info, n_workers=-1).result(left)
                if self.client.status == "running":
                    workers = about["workers"]
                    return {each: int(workers[each]["nthreads"]) for each in workers}
            time.sleep(0.2)

    def _no_scheduler(self) -> ClusterError:
        return ClusterError(
            f"the scheduler does not answer ({self.client!r}): the rows were with its workers, so "
            "that the fit cannot go on. Connect to a scheduler that runs, and fit again"
        )

    def _post(self, address: str, threads: int) -> Post:
        self._count += 1
        name = f"sgpc-station-{self._name}-{self._count}"
        future = self.client.submit(
            Station, name, actor=True, workers=[address], allow_other_workers=False, key=name
        )
        self.finished([future], {address})
        try:
            actor = future.result(timeout=BEAT)
            there = actor.versions().result(timeout=ARRIVAL)
        except ImportError as error:
            raise ClusterError(
                f"the worker at {address} cannot import what a fit needs ({error}): install "
                "sgpc-framework[dask] and the packages of all parts on the workers"
            ) from error
        except Exception as error:
            raise Lost(address) from error
        here = versions()
        if there != here:
            other = ", ".join(
                f"{k} {there.get(k)} (here {here[k]})" for k in here if there.get(k) != here[k]
            )
            raise ClusterError(
                f"the worker at {address} has {other}: the same bits need the same packages there "
                "as here"
            )
        return Post(address, threads, name, actor, len(self._useless))

    def lose(self, post: Post) -> None:
        """Go on without a station."""
        if self._posts.get(post.address) is post:
            del self._posts[post.address]
        self.traffic.losses += 1
        _LOG.warning("sgpc: the worker at %s was lost; others go on for it", post.address)
        end = time.monotonic() + BEAT
        while post.address in self.workers() and time.monotonic() < end:
            time.sleep(0.05)
        posts = self.refresh()
        for family in self._families:
            family.leave(post, posts)

    # -- waiting -------------------------------------------------------------------------------

    def finished(self, futures: Sequence[Future], addresses: Collection[str]) -> None:
        """Wait for tasks of Dask that run on certain workers, or for these to be ``Lost``."""
        end = time.monotonic() + self.longest
        while True:
            with suppress(TimeoutError):
                wait(futures, timeout=BEAT)
            if all(future.done() for future in futures):
                return
            there = self.workers()
            for address in addresses:
                if address not in there:
                    raise Lost(address)
            if time.monotonic() > end:
                raise ClusterError(
                    f"the workers have not laid the rows within {self.longest:g} seconds"
                )

    def results(self, futures: Sequence[Future]) -> list[Any]:
        """What tasks of Dask return that may run anywhere; it starts those again that were lost."""
        self.finished(futures, ())
        gathering = Underway(self.client.gather, futures)
        end = time.monotonic() + self.longest
        while True:
            try:
                return list(gathering.result(BEAT))
            except TimeoutError:
                self.workers()
                if time.monotonic() > end:
                    raise

    def answers(self, questions: Mapping[Post, bytes]) -> dict[Post, Answer | None]:
        """What each post answers, or None of one that was lost: one trip."""
        self.traffic.trips += 1
        self.traffic.sent += sum(map(len, questions.values()))
        calls: dict[Post, Any] = {}
        answers: dict[Post, Answer | None] = {}
        for post, question in questions.items():
            try:
                calls[post] = post.call(question)
            except Lost:
                answers[post] = None
        end = time.monotonic() + self.longest
        for post, call in calls.items():
            answers[post] = self._answer(post, call, end)
        return answers

    def _answer(self, post: Post, call: Any, end: float) -> Answer | None:
        while True:
            try:
                reply = call.result(timeout=BEAT)
                self.traffic.received += len(reply)
                self.traffic.largest = max(self.traffic.largest, len(reply))
                answer: Answer = pickle.loads(reply)
                return None if answer.unknown is not None else answer
            except TimeoutError:
                if post.address not in self.workers():
                    return None
                if time.monotonic() > end:
                    raise ClusterError(
                        f"the worker at {post.address} has not answered within "
                        f"{self.longest:g} seconds"
                    ) from None
            except Exception:  # whatever a broken connection makes of it: answers are no errors
                return None

    # -- what is where -------------------------------------------------------------------------

    def family(self, rows: Numbers, storage: Storage) -> Family:
        """Blocks of so many rows each, in runs over all workers."""
        family = Family(self, rows, self.refresh(), storage)
        self._families.add(family)
        return family

    def unneeded(self, owner: object, name: str) -> None:
        """When its owner is gone, the things of a placement are, too."""
        finalize(owner, self._useless.append, name).atexit = False

    def useless(self, post: Post) -> tuple[str, ...]:
        """The names that a post has not been told yet."""
        names = tuple(self._useless[post.dropped :])
        post.dropped += len(names)
        return names


class Family:
    """Blocks that were laid together, and the post where each of them and all that is made of it
    has its place."""

    def __init__(self, crew: Crew, rows: Numbers, posts: Sequence[Post], storage: Storage) -> None:
        self.crew = crew
        self.storage = storage
        self._rows = rows
        share = np.cumsum([post.threads for post in posts]) / sum(post.threads for post in posts)
        middle = (np.cumsum(rows) - 0.5 * rows) / max(1, rows.sum())
        places = np.minimum(np.searchsorted(share, middle), len(posts) - 1)
        self.posts: list[Post] = [posts[place] for place in places.tolist()]

    def __len__(self) -> int:
        return len(self.posts)

    def leave(self, lost: Post, posts: Sequence[Post]) -> None:
        """The blocks of a lost post go to those that have the fewest rows for a thread."""
        load = dict.fromkeys(posts, 0.0)
        for block, post in enumerate(self.posts):
            if post in load:
                load[post] += self._rows[block] / post.threads
        for block, post in enumerate(self.posts):
            if post is lost:
                chosen = min(posts, key=load.__getitem__)
                load[chosen] += self._rows[block] / chosen.threads
                self.posts[block] = chosen

    def by_post(self, numbers: Collection[int]) -> dict[Post, tuple[int, ...]]:
        """Some of the blocks, by where they belong."""
        found: dict[Post, list[int]] = {}
        for number in sorted(numbers):
            found.setdefault(self.posts[number], []).append(number)
        return {post: tuple(own) for post, own in found.items()}


def persistently(crew: Crew, attempt: Callable[[], T]) -> T:
    """What an attempt returns that may meet workers which die; not for ever, if all of them do."""
    for _ in range(LOSSES):
        with suppress(Lost):
            return attempt()
    raise ClusterError(
        f"workers died {LOSSES} times in a row while they did the same thing. It may take more "
        "memory than they have: use more workers, storage = 'float32' or 'disk', or fewer basis "
        "vectors"
    )
