"""What a kernel without a pullback costs in step 6: ``python -m benchmarks.gradients``.

One value and gradient of ``nlp`` with the squared exponential, once with its exact pullback and
once with the pullback hidden, so that the framework takes central differences. Both in one run.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from statistics import median
from time import perf_counter
from typing import Any, ClassVar

import attrs
import numpy as np

import sgpc_framework as sgpc
from benchmarks.trials import value_and_gradient
from sgpc_framework import datasets
from sgpc_framework.parts.hyperparameters import hyperparameters
from sgpc_framework.protocols import Kernel
from sgpc_framework.rows.state import State
from sgpc_framework.rows.training_rows import TrainingRows


@attrs.frozen
class ValuesOnly:
    """Another kernel's values, and none of its abilities."""

    name: ClassVar[str] = "values-only"
    inner: Kernel

    def __call__(self, X: Any, Z: Any) -> Any:
        return self.inner(X, Z)

    def diag(self, X: Any) -> Any:
        return self.inner.diag(X)


def seconds(state: State, rows: TrainingRows, repeats: int = 7) -> tuple[float, np.ndarray]:
    objective = sgpc.build().config.objective
    times = []
    for _ in range(repeats):
        began = perf_counter()
        gradient = value_and_gradient(objective, state, rows).gradient
        times.append(perf_counter() - began)
    return median(times), gradient


def main() -> None:
    X, y = datasets.waveform(4000, seed=0)
    rows = TrainingRows.of(X, y)
    print("Waveform, 4000 rows, 80 basis vectors, one value and gradient of nlp, medians of 7\n")
    print("| lengthscales | hyperparameters | exact, ms | differences, ms | ratio | agreement |")
    print("|---|---|---|---|---|---|")
    for words in ("median", "median-per-feature"):
        kernel = {"name": "squared-exponential", "lengthscale": words}
        state = sgpc.build(kernel=kernel, objective="none").fit(X, y).state
        values_only = attrs.evolve(state, kernel=ValuesOnly(state.kernel))
        exact, gradient = seconds(state, rows)
        numerical, approximate = seconds(values_only, rows)
        apart = np.max(np.abs(gradient - approximate)) / np.max(np.abs(gradient))
        count = len(hyperparameters(state.kernel))
        print(
            f"| {words} | {count} | {1e3 * exact:.1f} | {1e3 * numerical:.1f} "
            f"| {numerical / exact:.1f} | {apart:.0e} |"
        )


if __name__ == "__main__":
    main()
