"""What rows on workers cost: ``python -m benchmarks.scale [ROWS ...]``.

Measured here, one by one:

trip       seconds of an empty call of W workers, a + b W: b is what the driver and the scheduler
           compute for each worker, a the rest of a call of one worker
bytes      seconds that they compute for a byte more
row        seconds of one core a row, of the stages and of an evaluation of step 6, from two small
           fits on one worker with step 6 and two without; and beside it in one process on one
           thread, which says from how many rows on workers pay
counts     trips, and bytes a trip, of the same fits

Seconds of computing are those of the processor, and a is that of the quickest tenth of the calls,
so that other work on the machine does not count.

The model of a fit on W workers of one core each, with n rows and E evaluations, is then

    trips (a + b W) + bytes + n (row of the stages + E row of an evaluation) / W + driver

and the table has it for clusters that this machine is not. How many evaluations step 6 takes is its
optimiser's business, and depends on the rows; the table has those of the last fit that was run. The
model is checked at the sizes that this machine can run, by default 1e6 rows, with one worker and
with two: by the clock, the quickest of some fits, which is right on a machine that has little else
to do, and by the processor of the worker that computed most. Laying the rows is not part of it:
that is reading files. The fit: the paper's method, 20 basis vectors, 10 features, one outer
iteration.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import logging
import sys
import time
import warnings
from typing import Any

import attrs
import dask.array as da
import numpy as np
from distributed import Client, LocalCluster

import sgpc_framework as sgpc
from sgpc_framework.adapters.dask.collections import rows_of_collections
from sgpc_framework.adapters.dask.on_workers import OnWorkers
from sgpc_framework.adapters.dask.worker_pool import Traffic, WorkerPool
from sgpc_framework.rows.blocks import Block
from sgpc_framework.rows.threads import one_blas_thread

FEATURES, BASIS = 10, 20
SMALL = 400_000
"""Rows of the fit by which the seconds of a row are measured."""

REPEATS = 200
FITS = 4_000_000
"""Fits are repeated until they have had so many rows, and the quickest counts."""

PAYLOAD = 2_000_000


def design(**changes: Any) -> sgpc.Design:
    return sgpc.build("paper", max_basis=BASIS, max_iterations=1, **changes)


def rows(count: int) -> tuple[Any, Any]:
    """Lazy rows: each worker makes its own."""
    rng = da.random.default_rng(0)
    X = rng.normal(size=(count, FEATURES), chunks=(250_000, FEATURES))
    noise = rng.normal(size=count, chunks=250_000)
    return X, (X[:, 0] + da.sin(2.0 * X[:, 1]) + 0.5 * noise > 0.0).astype(int)


@attrs.frozen
class Parts:
    """What was measured. Seconds, and bytes a trip and worker."""

    trip: float
    trip_and_worker: float
    byte: float
    row: float
    """A row, in all stages."""
    row_of_evaluation: float
    """A row, in an evaluation of step 6."""
    evaluations: int
    """Of the fit that was measured."""
    trips_of_stages: int
    trips: int
    sent: float
    received: float
    driver: float
    """What the driver computes between trips."""
    row_here: float
    """A row in one process, on one thread."""

    def seconds(self, count: float, workers: int, evaluations: int) -> float:
        """Of a fit to so many rows."""
        of_one = (self.trips - self.trips_of_stages) / self.evaluations
        trips = self.trips_of_stages + evaluations * of_one
        waiting = trips * (self.trip + self.trip_and_worker * workers)
        travel = trips * workers * (self.sent + self.received) * self.byte
        return waiting + travel + self.computing(count, workers, evaluations) + self.driver

    def computing(self, count: float, workers: int, evaluations: int) -> float:
        """Of the processor, of one of the workers."""
        return count * (self.row + evaluations * self.row_of_evaluation) / workers

    def pays(self) -> float:
        """From how many rows on two workers are faster than one process on one thread."""
        trips = self.trips * (self.trip + 2 * self.trip_and_worker)
        return trips / max(1e-12, self.row_here - self.computing(1.0, 2, self.evaluations))


def nothing(block: Block) -> int:
    return 0


def weigh(block: Block, load: bytes) -> int:
    return 0


def seconds_of_trip(client: Client) -> tuple[float, float, float]:
    """Of an empty trip by the clock, by the processor of this process, and of a byte more."""
    X, y = rows(2 * 8192 * len(client.scheduler_info(n_workers=-1)["workers"]))
    placed, _ = rows_of_collections(X, y, None, design().config)
    blocks: OnWorkers[Block] = placed.blocks  # type: ignore[assignment]
    calls = []
    began = time.process_time()
    for _ in range(REPEATS):
        start = time.perf_counter()
        blocks.sum(nothing)
        calls.append(time.perf_counter() - start)
    empty = (time.process_time() - began) / REPEATS
    load, began = os.urandom(PAYLOAD), time.process_time()
    for _ in range(REPEATS // 10):
        blocks.sum(weigh, load)
    full = (time.process_time() - began) / (REPEATS // 10)
    workers = len({id(blocks.worker_of(number)) for number in range(len(blocks))})
    byte = max(0.0, full - empty) / (PAYLOAD * workers)
    return float(np.quantile(calls, 0.1)), empty, byte


@attrs.frozen
class Spent:
    """What a fit on workers took, without laying the rows: seconds."""

    clock: float
    worker: float
    """Of the processor, of the worker that computed most."""
    driver: float
    """Of the processor."""
    traffic: Traffic
    evaluations: int


def fit_on(client: Client, count: int, **changes: Any) -> Spent:
    """A fit to rows on the workers of a cluster."""
    X, y = rows(count)
    chosen = design(**changes)
    placed, classes = rows_of_collections(X, y, None, chosen.config)
    pool: WorkerPool = placed.blocks.pool  # type: ignore[attr-defined]
    pool.traffic = Traffic()
    before = client.run(time.process_time)
    began, used = time.perf_counter(), time.process_time()
    model: Any = chosen.fit_rows(placed, classes)
    clock, driver = time.perf_counter() - began, time.process_time() - used
    after = client.run(time.process_time)
    worker = max(after[each] - before[each] for each in before)
    return Spent(clock, worker, driver, pool.traffic, model.trace.iterations[0].evaluations)


def fit_here(count: int, threads: int) -> tuple[float, float]:
    """Seconds of a fit in this process by the clock and by the processor."""
    X, y = rows(count)
    X, y = X.compute(scheduler="synchronous"), y.compute(scheduler="synchronous")
    began = time.perf_counter()
    used = time.process_time()
    with one_blas_thread(threads):
        design().fit(X, y)
    return time.perf_counter() - began, time.process_time() - used


def cluster(workers: int) -> LocalCluster:
    return LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=":0")


def measured() -> Parts:
    """All parts, on this machine."""
    clock, used = {}, {}
    for workers in (1, 2, 4):
        with cluster(workers) as machines, Client(machines, direct_to_workers=True) as client:
            clock[workers], used[workers], byte = seconds_of_trip(client)
            print(
                f"{workers} workers: a trip takes {1e3 * clock[workers]:.2f} ms, of which this "
                f"process computes {1e3 * used[workers]:.2f} ms"
            )
            if workers == 1:
                fit_on(client, SMALL)  # compiles what there is to compile
                small, large = fit_on(client, SMALL // 10), fit_on(client, SMALL)
                stages = fit_on(client, SMALL, objective="none")
                few = fit_on(client, SMALL // 10, objective="none")
    each = (used[4] - used[1]) / 3
    row = (large.worker - small.worker) / (0.9 * SMALL)
    row_of_stages = (stages.worker - few.worker) / (0.9 * SMALL)
    traffic = large.traffic
    fit_here(SMALL // 10, 1)
    return Parts(
        clock[1] - each,
        each,
        byte,
        row_of_stages,
        max(0.0, row - row_of_stages) / large.evaluations,
        large.evaluations,
        stages.traffic.trips,
        traffic.trips,
        traffic.sent / traffic.trips,
        traffic.received / traffic.trips,
        max(0.0, small.driver - traffic.trips * used[1]),
        (fit_here(SMALL, 1)[1] - fit_here(SMALL // 10, 1)[1]) / (0.9 * SMALL),
    )


def main(arguments: list[str]) -> None:
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    warnings.simplefilter("ignore")
    parts = measured()
    print(attrs.asdict(parts))
    evaluations = parts.evaluations
    for count in map(int, map(float, arguments or ["1e6"])):
        times = max(1, FITS // count)
        for threads in (1, 2):
            seconds, used = min(fit_here(count, threads) for _ in range(times))
            print(
                f"{count:.0e} rows here, {threads} threads: {seconds:.1f} s, "
                f"{used:.1f} s of the processor",
                flush=True,
            )
        for workers in (1, 2):
            with cluster(workers) as machines, Client(machines, direct_to_workers=True) as client:
                fit_on(client, SMALL)
                spent = min((fit_on(client, count) for _ in range(times)), key=lambda s: s.clock)
            evaluations = spent.evaluations
            model = parts.seconds(count, workers, evaluations)
            computing = parts.computing(count, workers, evaluations)
            print(
                f"{count:.0e} rows, {workers} workers, {evaluations} evaluations: "
                f"{spent.clock:.1f} s, the model says {model:.1f} s; of a worker's processor "
                f"{spent.worker:.1f} s, the model says {computing:.1f} s; of the driver's "
                f"{spent.driver:.1f} s",
                flush=True,
            )
    print("| rows | " + " | ".join(f"{workers} workers" for workers in (8, 64, 256)) + " |")
    for large in (1e7, 1e8, 1e9):
        cells = (f"{parts.seconds(large, workers, evaluations):.0f} s" for workers in (8, 64, 256))
        print(f"| {large:.0e} | " + " | ".join(cells) + " |")
    print(f"two workers are faster than one thread from {parts.pays():.0f} rows on")


if __name__ == "__main__":
    main(sys.argv[1:])
