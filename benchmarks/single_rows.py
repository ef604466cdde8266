"""What one row costs, beside its bare arithmetic: ``python -m benchmarks.single_rows``.

A model is fitted, written to a file, and predicts one row at a time in a process that has never
fitted anything, as a service does. The floor is a NumPy script of only what cannot be avoided: the
distances to the basis vectors, the kernel's profile, two products, a square root and log Φ.
"""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import numpy as np

import sgpc_framework as sgpc
from sgpc_framework import datasets
from sgpc_framework.tables import TableClassifier

ROWS, SIZE, TURNS = 400, 80, 2000
KERNEL = {"name": "squared-exponential", "lengthscale": "median-per-feature"}
LABELS = {"two classes": 2, "three classes": 3}


def median(function: Callable[[], object], turns: int = TURNS) -> float:
    """Microseconds that a call takes, the median of many."""
    seconds = []
    for _ in range(turns):
        began = perf_counter()
        function()
        seconds.append(perf_counter() - began)
    return 1e6 * float(np.median(seconds))


def floor(model: Any, row: np.ndarray) -> Callable[[], object]:
    """The arithmetic of a row of two classes, and nothing else."""
    from scipy.special import ndtr

    kernel, likelihood, sites = model.kernel, model.likelihood, model.sites
    Z, weights = model.inputs, np.array(kernel.lengthscale) ** -2.0
    F, x = model._form.functions, row[0]
    noise = likelihood.slope**-2

    def arithmetic() -> float:
        k = kernel.variance * np.exp(((Z - x) ** 2 @ weights) * -0.5)
        functions = F @ k
        mean = sites.coefficient @ functions
        variance = kernel.variance - sites.shrinkage @ (functions * functions)
        return float(ndtr((mean + likelihood.bias) / np.sqrt(variance + noise)))

    assert np.isclose(arithmetic(), model.predict_proba(row)[0, 1], rtol=1e-9)
    return arithmetic


def fit(folder: Path) -> None:
    """Models of two and of three classes, of arrays and of a table, in files."""
    warnings.simplefilter("ignore")
    X, y = datasets.twonorm(ROWS, seed=0)
    design = sgpc.build("fast", max_basis=SIZE, kernel=KERNEL)
    for name, classes in LABELS.items():
        labels = np.where(y > 0, 1, 0) if classes == 2 else np.digitize(X[:, 0], [-0.5, 0.5])
        design.fit(X, labels).save(folder / f"{name}.sgpc")
    table = {f"x{i}": column for i, column in enumerate(X.T)} | {"y": y}
    TableClassifier.fit(table, "y", design).save(folder / "table.sgpc")


def measure(folder: Path) -> dict[str, float]:
    """Microseconds a row, in a process that has fitted nothing."""
    row = np.ascontiguousarray(datasets.twonorm(ROWS, seed=1)[0][:1])
    model = sgpc.load(folder / "two classes.sgpc")
    began = perf_counter()
    model.predict_proba(row)
    first = 1e6 * (perf_counter() - began)
    found = {"the first row of a process": first, "bare arithmetic": median(floor(model, row))}
    for name in LABELS:
        model = sgpc.load(folder / f"{name}.sgpc")
        found[f"Model.predict_proba, {name}"] = median(lambda m=model: m.predict_proba(row))
    table = sgpc.load(folder / "table.sgpc")
    named = {f"x{i}": value for i, value in enumerate(row[0].tolist())}
    found["TableClassifier.predict_proba, a dictionary"] = median(
        lambda: table.predict_proba(named), TURNS // 4
    )
    if "numba" in sys.modules:
        raise SystemExit("a prediction has loaded numba")
    return {**found, "SGPClassifier.predict_proba": _estimator(model, row)}


def _estimator(model: Any, row: np.ndarray) -> float:
    """The estimator of scikit-learn around the model of two classes."""
    X, y = datasets.twonorm(ROWS, seed=0)
    warnings.simplefilter("ignore")
    estimator = sgpc.SGPClassifier("fast", max_basis=SIZE, kernel=KERNEL).fit(X, y > 0)
    return median(lambda: estimator.predict_proba(row))


def main() -> None:
    if len(sys.argv) > 1:
        print(json.dumps(measure(Path(sys.argv[1]))))
        return
    with TemporaryDirectory() as name:
        fit(Path(name))
        command = [sys.executable, "-m", "benchmarks.single_rows", name]
        output = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
    print(f"{SIZE} basis vectors, 20 features, microseconds (medians of {TURNS})")
    for what, took in json.loads(output).items():
        print(f"| {what} | {took:.0f} |")


if __name__ == "__main__":
    main()
