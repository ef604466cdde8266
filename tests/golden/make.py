"""Makes the golden model files of the present format version: ``python tests/golden/make.py``.

Files of a version that was released are never made again: they must load for ever, and predict
what ``predictions.json`` says. Run this for a new version of the format only; it writes into a new
folder and refuses to touch one that is there.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

import sgpc_framework as sgpc
from sgpc_framework.files.manifest import FORMAT_VERSION
from sgpc_framework.files.model_files import save

FOLDER = Path(__file__).parent / f"version-{FORMAT_VERSION}"
GRID = np.array([[a, b] for a in (-2.0, 0.0, 2.0) for b in (-2.0, 0.0, 2.0)])
"""Where the golden models predict."""


def make(folder: Path) -> None:
    """Two models of different kinds: two classes and a table's section; three classes, refined."""
    folder.mkdir()
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    two = np.where(X[:, 0] * X[:, 1] > 0.0, "same", "other")
    three = np.digitize(X[:, 0], [-0.5, 0.5])
    binary = sgpc.build(
        kernel={"name": "sum", "terms": ["squared-exponential", "linear"]},
        likelihood="logistic",
        max_basis=4,
        max_iterations=2,
    ).fit(X, two)
    refiner = {"name": "corrective", "penalty": 1.0, "iterations": 10}
    many = sgpc.build("fast", refiner=refiner, max_basis=4, sizes=[2]).fit(X, three)
    save(binary, folder / "two.sgpc", table={"columns": ["a", "b"]})
    save(many, folder / "three.sgpc")
    predictions = {
        "two": [proba.tolist() for proba in binary.staged_predict_proba(GRID)],
        "three": [proba.tolist() for proba in many.staged_predict_proba(GRID)],
    }
    (folder / "predictions.json").write_text(json.dumps(predictions, indent=1) + "\n")


if __name__ == "__main__":
    make(FOLDER)
