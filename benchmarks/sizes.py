"""What ``max_basis = "auto"`` chooses on the benchmark sets, and what the choice costs.

    SGPC_DATA_DIR=... OPENBLAS_NUM_THREADS=1 python -m benchmarks.sizes

One partition each, with the refiner ``corrective``; beside it a fit with 80 basis vectors.
"""

from __future__ import annotations

from time import perf_counter

import sgpc_framework as sgpc
from sgpc_framework.datasets import Benchmark, available, benchmark
from sgpc_framework.metrics.predictions import Predictions
from sgpc_framework.model.model import Model

DESIGN = {
    "kernel": {"name": "squared-exponential", "lengthscale": "median-per-feature"},
    "objective": "none",
    "refiner": "corrective",
}


def fit_and_judge(data: Benchmark, max_basis: int | str) -> tuple[Model, str]:
    """The model, and what it is worth."""
    began = perf_counter()
    model = sgpc.build(DESIGN, max_basis=max_basis).fit(data.X, data.y)
    seconds = perf_counter() - began
    test = Predictions.of(model, data.X_test, data.y_test).merits
    return model, f"{len(model):4} NLP {test.nlp:.4f} error {test.error:.2%} {seconds:5.1f} s"


def main() -> None:
    for name in available():
        data = benchmark(name)
        model, verdict = fit_and_judge(data, "auto")
        print(
            f"{name}, {len(data.y)} rows\n  auto  {verdict}\n  fixed {fit_and_judge(data, 80)[1]}"
        )
        for record in model.trace.sizes:
            print(f"    {record.size:4} {record.held_out_loss:.4f} ± {record.noise:.4f}")
        print("   ", model.trace.notes[-1], flush=True)


if __name__ == "__main__":
    main()
