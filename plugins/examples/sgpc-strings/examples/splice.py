"""Splice sites from their raw letters: string kernels beside the squared exponential.

    python examples/splice.py [--max-basis 40 80] [--seeds 3]

The variable SGPC_DATA_DIR names the folder that has ``splice.npz``: ``X`` (60 letters a row, coded
A=1, G=2, C=3, T=4), ``y``, and the row numbers ``libsvm_train`` and ``libsvm_test``. Without it,
the script generates sequences with planted motifs (``sgpc_strings.sequences``).
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
import sgpc_framework as sgpc

from sgpc_strings.sequences import planted

CODES = "AGCT"


class Data(NamedTuple):
    """Sequences with labels, and which rows to train on and to test on."""

    title: str
    sequences: Any
    y: Any
    train: Any
    test: Any


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--max-basis", type=int, nargs="+", default=[40, 80])
    parser.add_argument("--seeds", type=int, default=3, help="fits to average over")
    options = parser.parse_args()
    data = splice() or generated()
    print(f"{data.title}; mean of {options.seeds} seeds\n")
    print(f"{'inputs':<16} {'kernel':<24} {'basis':>5} {'error':>8} {'NLP':>7} {'seconds':>8}")
    for max_basis in options.max_basis:
        for inputs, X, kernel in contenders(data.sequences):
            runs = [scored(data, X, kernel, max_basis, seed) for seed in range(options.seeds)]
            error, nlp, seconds = np.mean(runs, axis=0)
            label = " ".join(map(str, kernel.values()))
            print(
                f"{inputs:<16} {label:<24} {max_basis:>5} {error:>8.1%} {nlp:>7.3f} {seconds:>8.1f}"
            )


def splice() -> Data | None:
    """The Splice set, if it is there."""
    path = Path(os.environ.get("SGPC_DATA_DIR", "")) / "splice.npz"
    if not path.is_file():
        return None
    file = np.load(path)
    letters = np.array(list(CODES))[file["X"].astype(int) - 1]
    sequences = np.array(["".join(row) for row in letters], dtype=object)
    train, test = file["libsvm_train"].ravel(), file["libsvm_test"].ravel()
    return Data(f"Splice, {len(train)} + {len(test)} rows", sequences, file["y"], train, test)


def generated() -> Data:
    """Sequences with planted motifs."""
    sequences, y = planted(3000)
    rows = np.arange(len(y))
    return Data("generated sequences, 1000 + 2000 rows", sequences, y, rows[:1000], rows[1000:])


def contenders(sequences: Any) -> Iterator[tuple[str, Any, dict[str, Any]]]:
    """What the inputs are, the inputs, and the kernel."""
    codes = np.array([[CODES.index(letter) + 1.0 for letter in row] for row in sequences])
    one_hot = np.eye(len(CODES))[codes.astype(int) - 1].reshape(len(codes), -1)
    yield "codes 1 to 4", codes, {"name": "squared-exponential"}
    yield "one-hot letters", one_hot, {"name": "squared-exponential"}
    yield "strings", sequences, {"name": "spectrum", "length": 4}
    for degree in (1, 2, 4, 6):
        yield "strings", sequences, {"name": "weighted-degree", "degree": degree}


def scored(data: Data, X: Any, kernel: Any, max_basis: int, seed: int) -> tuple[float, ...]:
    """Test error, test NLP and the seconds that the fit took."""
    design = sgpc.build(kernel=kernel, max_basis=max_basis, seed=seed)
    began = perf_counter()
    model = design.fit(X[data.train], data.y[data.train])
    seconds = perf_counter() - began
    proba = model.predict_proba(X[data.test])
    truth = np.searchsorted(model.classes, data.y[data.test])
    nlp = -np.mean(np.log(proba[np.arange(len(truth)), truth]))
    return float(np.mean(proba.argmax(axis=1) != truth)), float(nlp), seconds


if __name__ == "__main__":
    main()
