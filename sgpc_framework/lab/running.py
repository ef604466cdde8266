"""Running jobs that are not finished yet, in parallel, with a place for each result."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from threading import Thread
from time import perf_counter, sleep
from typing import Any, Protocol, TypeVar

import attrs

from sgpc_framework.errors import SgpcError
from sgpc_framework.lab.store import Store


class Job(Protocol):
    """Something to be computed once; its text says what."""

    @property
    def identity(self) -> dict[str, Any]:
        """All that the result depends on, in terms of JSON."""

    @property
    def cost(self) -> float:
        """About what it takes, in units that are the same for all jobs of a run."""

    def compute(self) -> dict[str, Any]:
        """The result, in terms of JSON."""


J = TypeVar("J", bound=Job)


@attrs.frozen
class Progress:
    """Where a run is, after some job."""

    job: Job
    problem: str | None
    done: int
    of: int
    share: float
    """Of the cost."""

    seconds_left: float | None
    """Unknown after the first job, which pays for starting the workers."""


def key(job: Job) -> str:
    """The name under which a job's result is kept."""
    text = json.dumps(job.identity, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:24]


def stored_results(jobs: Sequence[J], store: Store) -> dict[J, dict[str, Any]]:
    """The results of those jobs that the store has."""
    results = ((job, store.get(key(job))) for job in jobs)
    return {job: result for job, result in results if result is not None}


def run(
    jobs: Sequence[Job],
    store: Store,
    workers: int | None = None,
    watch: Callable[[Progress], object] = lambda _: None,
) -> dict[Job, str]:
    """Compute what the store does not have, and return what went wrong, by job.

    The jobs go to joblib's current backend in their order; ``workers`` is its ``n_jobs``. Each
    result is stored here, when it arrives, so workers need not share a file system. A job that
    fails is reported and tried again next time.
    """
    known = stored_results(jobs, store)
    todo = [job for job in jobs if job not in known]
    problems: dict[Job, str] = {}
    total, spent, paid, began = sum(job.cost for job in todo), 0.0, 0.0, 0.0
    for done, (place, result, problem) in enumerate(_attempts(todo, workers), len(known) + 1):
        job = todo[place]
        if result is None:
            problems[job] = problem or ""
        else:
            store.put(key(job), {"job": str(job), **job.identity}, result)
        spent += job.cost
        left = (perf_counter() - began) * (total - spent) / (spent - paid) if paid else None
        if left is None:
            paid, began = spent, perf_counter()
        watch(Progress(job, problem, done, len(jobs), spent / total, left))
    return problems


def _attempts(
    todo: Sequence[Job], workers: int | None
) -> Iterable[tuple[int, dict[str, Any] | None, str | None]]:
    if not todo:
        return ()
    if workers == 1:
        return map(_attempt, range(len(todo)), todo)
    from joblib import Parallel, delayed  # an extra

    parallel = Parallel(n_jobs=workers, return_as="generator_unordered")
    attempts: Iterable[tuple[int, dict[str, Any] | None, str | None]] = parallel(
        delayed(_attempt_of_a_worker)(place, job, os.getpid()) for place, job in enumerate(todo)
    )
    return attempts


def _attempt_of_a_worker(
    place: int, job: Job, parent: int
) -> tuple[int, dict[str, Any] | None, str | None]:
    if os.getppid() == parent:  # a worker elsewhere has other parents
        _end_with(parent)
    return _attempt(place, job)


@cache
def _end_with(parent: int) -> None:
    """End this process soon after its parent, which may be killed without a word."""

    def watch() -> None:
        while os.getppid() == parent:
            sleep(1.0)
        os._exit(1)

    Thread(target=watch, name="sgpc-parent", daemon=True).start()


def _attempt(place: int, job: Job) -> tuple[int, dict[str, Any] | None, str | None]:
    try:
        return place, job.compute(), None
    except SgpcError as error:
        return place, None, str(error)
