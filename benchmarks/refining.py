"""What a refiner does to default fits: ``SGPC_DATA_DIR=... python -m benchmarks.refining [ep]``.

Test NLP and error before and after, means of two random splits. One fit serves both: the refiner
is given the fitted state, as at the end of a fit.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import sys
from pathlib import Path
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

import sgpc_framework as sgpc
from sgpc_framework.metrics.predictions import Predictions
from sgpc_framework.model.model import Model
from sgpc_framework.rows.training_rows import TrainingRows

Floats = NDArray[np.float64]

TRAINING_ROWS = {
    "banana": 4000,
    "waveform": 4000,
    "twonorm": 4000,
    "ringnorm": 4000,
    "splice": 2000,
    "image": 1300,
}
SPLITS = 2


def scores(model: Model, X: Floats, y: Floats) -> tuple[float, float]:
    """NLP, and error in percent."""
    merits = Predictions.of(model, X, y).merits
    return merits.nlp, 100.0 * merits.error


def refine(refiner: str, model: Model, X: Floats, y: Floats) -> tuple[Model, tuple[str, ...]]:
    """The model after refining, and the refiner's notes."""
    part, rng = sgpc.Registry().get("refiner", refiner)(), np.random.default_rng([0, 0])
    end = part.refine(model.state, TrainingRows.of(X, y), rng, lambda _: True)
    return Model(model.classes, end.state, model.trace), end.notes


def compare(refiner: str, X: Floats, y: Floats, rows: int, basis: int, split: int) -> Floats:
    """The scores without and with the refiner, of shape (2, 2)."""
    order = np.random.default_rng(split).permutation(len(y))
    train, test = order[:rows], order[rows:]
    began = perf_counter()
    model = sgpc.build(max_basis=basis, seed=split).fit(X[train], y[train])
    fitted = perf_counter()
    after, notes = refine(refiner, model, X[train], y[train])
    both = np.array([scores(m, X[test], y[test]) for m in (model, after)])
    print(f"  NLP {both[0, 0]:.4f} -> {both[1, 0]:.4f};", *notes, sep="\n    ")
    print(f"    {fitted - began:.1f} s, refining {perf_counter() - fitted:.2f} s", flush=True)
    return both


def main(refiner: str = "ep") -> None:
    for name, rows in TRAINING_ROWS.items():
        path = Path(os.environ["SGPC_DATA_DIR"]) / f"{name}.npz"
        with np.load(path, allow_pickle=False) as data:
            X, y = data["X"], data["y"].astype(float)
        for basis in (20, 80):
            splits = [compare(refiner, X, y, rows, basis, split) for split in range(SPLITS)]
            before, after = np.mean(splits, axis=0)
            print(f"{name}, {basis} basis vectors: NLP {before[0]:.3f} -> {after[0]:.3f}, ", end="")
            print(f"error {before[1]:.1f} % -> {after[1]:.1f} %", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
