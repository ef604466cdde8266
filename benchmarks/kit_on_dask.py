"""The conformance kit with the rows on Dask's workers: ``python -m benchmarks.kit_on_dask``.

Every check of every registered selector, site estimator, objective and refiner, those of installed
strangers included, on two worker processes. The suite runs a few of them.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import sys

from distributed import Client, LocalCluster

from sgpc_framework.adapters.dask.on_workers import Spread
from sgpc_framework.adapters.dask.worker_pool import WorkerPool
from sgpc_framework.plugin.registry import default_registry
from sgpc_framework.testing import run_checks
from sgpc_framework.testing.situations import placed

KINDS = ("selector", "sites", "objective", "refiner")
"""Kernels and likelihoods never see where rows are."""

SECONDS = 600.0


def main(names: list[str]) -> int:
    """Check the parts of these names, or all; returns how many checks failed."""
    registry, failures = default_registry(), 0
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with (
        LocalCluster(**options) as cluster,
        Client(cluster) as client,
        placed(Spread(WorkerPool(client))),
    ):
        chosen = [(kind, name) for kind in KINDS for name in registry.names(kind)]
        for kind, name in chosen:
            if names and name not in names:
                continue
            for result in run_checks(registry.get(kind, name), kind=kind, seconds=SECONDS):
                word = "ok  " if result.ok else "FAIL"
                print(f"{word} {name}: {result.name} ({result.seconds:.1f} s)", flush=True)
                failures += not result.ok
                if not result.ok:
                    print(result.problem)
    print(f"{failures} checks failed")
    return failures


if __name__ == "__main__":
    sys.exit(bool(main(sys.argv[1:])))
