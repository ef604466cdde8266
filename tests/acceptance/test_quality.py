"""A fit with nothing but defaults is a good classifier.

On the benchmark sets where ``SGPC_DATA_DIR`` holds them, on generated data otherwise. The bounds
are loose: they catch what is broken, benchmarks measure the rest.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

import sgpc_framework as sgpc
from sgpc_framework import datasets

GENERATED = {
    "waveform": datasets.waveform,
    "twonorm": datasets.twonorm,
    "ringnorm": datasets.ringnorm,
}
BOUNDS = {  # test error, test NLP with 40 basis vectors and 800 training rows
    "waveform": (0.14, 0.32),
    "twonorm": (0.06, 0.20),
    "ringnorm": (0.05, 0.20),
    "banana": (0.16, 0.38),
    "image": (0.20, 0.45),
}


def rows_of(name):
    folder = os.environ.get("SGPC_DATA_DIR")
    if folder and (Path(folder) / f"{name}.npz").is_file():
        with np.load(Path(folder) / f"{name}.npz", allow_pickle=False) as data:
            order = np.random.default_rng(1).permutation(len(data["y"]))
            return data["X"][order], data["y"][order].astype(float)
    if name in GENERATED:
        return GENERATED[name](3000, seed=1)
    pytest.skip(f"{name} cannot be generated and SGPC_DATA_DIR does not hold it")


@pytest.mark.parametrize("rows", [60, 81, 100, 160])
@pytest.mark.parametrize("name", GENERATED)
def test_defaults_are_sane_when_rows_are_few(name, rows):
    """With nearly all rows in the basis there is no validation set left to tune on."""
    X, y = GENERATED[name](2000, seed=1)
    model = sgpc.build().fit(X[:rows], y[:rows])
    own = model.predict_proba(X[rows:])[np.arange(len(y) - rows), (y[rows:] > 0).astype(int)]
    assert -np.mean(np.log(own)) < 0.6


@pytest.mark.parametrize("name", BOUNDS)
def test_defaults_are_good(name):
    X, y = rows_of(name)
    model = sgpc.build(max_basis=40).fit(X[:800], y[:800])
    own = model.predict_proba(X[800:])[np.arange(len(y) - 800), (y[800:] > 0).astype(int)]
    error, nlp = np.mean(own < 0.5), -np.mean(np.log(own))
    assert error <= BOUNDS[name][0]
    assert nlp <= BOUNDS[name][1]
