"""Workers that are killed while they have the rows of a fit: ``python -m benchmarks.survival
workers [KILLS]``.

Three worker processes on this machine have the rows. At a random moment of a fit, from the first
look at the partitions to the last trip, one of them is ended by SIGKILL, or two, which is all but
one, and others are started instead. A fit survived if its model has the bits of one that nobody
disturbed. The kinds of fits take turns: the stages, step 6, a refiner, many classes.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import faulthandler
import logging
import random
import sys
import threading
import time
from collections.abc import Iterable
from statistics import median
from subprocess import DEVNULL, Popen
from typing import Any

import dask.array as da
import numpy as np
from distributed import Client, LocalCluster

import sgpc_framework as sgpc
from sgpc_framework.model.classes import models_of

KILLS = 50
WORKERS = 3
LONGEST = 300.0
"""A fit that takes longer hangs."""

FITS: dict[str, dict[str, Any]] = {
    "paper": {"max_iterations": 2, "max_basis": 12},
    "predictive-loss sites": {"sites": "predictive-loss", "max_iterations": 1, "max_basis": 8},
    "corrective": {
        "refiner": {"name": "corrective", "penalty": 1.0},
        "max_iterations": 1,
        "max_basis": 3,
    },
    "three classes": {"max_iterations": 1, "max_basis": 12},
}


def fingerprint(classifier: Any) -> list[Any]:
    """All numbers of a classifier."""
    found: list[Any] = []
    for model in models_of(classifier).values():
        state = model.state
        found.append(sorted(state.theta.items()))
        found += [state.basis.tolist(), state.precision.tolist(), state.mean.tolist()]
        found.append([stage.predictive_loss for stage in model.trace.stages])
    return found


def data(name: str) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 3))
    latent = X[:, 0] + np.sin(3.0 * X[:, 1]) + 0.3 * rng.normal(size=len(X))
    return X, np.digitize(latent, [-0.5, 0.5]) if name == "three classes" else latent > 0.0


class Workers:
    """Processes without nannies, which are killed by their numbers."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._processes: list[Popen[bytes]] = []
        self.start(WORKERS)
        self.all_there()

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill(range(len(self._processes)))

    def start(self, count: int) -> None:
        address = self._client.scheduler.address
        command = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--no-nanny"]
        for _ in range(count):
            options = ["--nthreads", "1", "--no-dashboard"]
            process = Popen([*command, *options], stdout=DEVNULL, stderr=DEVNULL)
            self._processes.append(process)

    def kill(self, numbers: Iterable[int]) -> None:
        """SIGKILL to some at the same time."""
        victims = [self._processes[number] for number in numbers]
        for victim in victims:
            victim.kill()
        for victim in victims:
            victim.wait()
            self._processes.remove(victim)

    def all_there(self) -> None:
        self._client.wait_for_workers(WORKERS, timeout=LONGEST)


class Trial:
    """Fits of one kind, undisturbed and disturbed."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.design = sgpc.build("paper", block_rows=256, **FITS[name])
        X, y = data(name)
        self._X = da.from_array(X, chunks=(700, 3))
        self._y = da.from_array(y, chunks=700)
        self.wanted = fingerprint(self.design.fit(X, y))
        self.fitted()  # compiles and imports what there is to, on the workers, too
        began = time.perf_counter()
        assert self.fitted() == self.wanted
        self.seconds = time.perf_counter() - began
        print(f"{name}: {self.seconds:.1f} s undisturbed", flush=True)

    def fitted(self) -> list[Any]:
        return fingerprint(self.design.fit(self._X, self._y))

    def survives(
        self, workers: Workers, victims: list[int], moment: float
    ) -> tuple[bool, float, bool]:
        """Whether the model is the same, how long it took, and whether the fit was disturbed."""
        struck = threading.Event()

        def strike() -> None:
            workers.kill(victims)
            struck.set()
            workers.start(len(victims))

        timer = threading.Timer(moment * self.seconds, strike)
        faulthandler.dump_traceback_later(LONGEST, exit=True)
        began = time.perf_counter()
        timer.start()
        try:
            same = self.fitted() == self.wanted
            seconds, disturbed = time.perf_counter() - began, struck.is_set()
        finally:
            timer.cancel()
            timer.join()
            faulthandler.cancel_dump_traceback_later()
        return same, seconds, disturbed


def main(arguments: list[str]) -> int:
    """So many kills; returns how many fits did not survive."""
    kills = int(arguments[0]) if arguments else KILLS
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    chance = random.Random(0)
    survived = done = 0
    extra = []
    with (
        LocalCluster(n_workers=0, dashboard_address=":0") as cluster,
        Client(cluster) as client,
        Workers(client) as workers,
    ):
        trials = [Trial(name) for name in FITS]
        while done < kills:
            trial = trials[done % len(trials)]
            workers.all_there()
            victims = chance.sample(range(WORKERS), chance.choice([1, 2]))
            same, seconds, disturbed = trial.survives(workers, victims, chance.random())
            if not disturbed:
                continue  # it was over before: another moment
            done += 1
            survived += same
            extra.append(seconds - trial.seconds)
            print(
                f"{done:3} {trial.name}: {len(victims)} killed, "
                f"{'the same bits' if same else 'OTHER BITS'}, {seconds:.1f} s "
                f"instead of {trial.seconds:.1f} s",
                flush=True,
            )
    print(f"{survived} of {done} survived; a kill cost {median(extra):.1f} s (median)")
    return done - survived
