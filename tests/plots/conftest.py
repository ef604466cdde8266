"""Models to draw, and no windows."""

from __future__ import annotations

import attrs
import matplotlib as mpl
import numpy as np
import pytest

import sgpc_framework as sgpc
from sgpc_framework.model.many_classes import OneVsRest
from sgpc_framework.model.model import Model

mpl.use("Agg")


@pytest.fixture(autouse=True)
def _no_figures_left():
    yield
    from matplotlib import pyplot

    pyplot.close("all")


@attrs.frozen
class Waves:
    """Two features, two classes."""

    X: np.ndarray
    y: np.ndarray


@pytest.fixture(scope="session")
def waves() -> Waves:
    rng = np.random.default_rng(2)
    X = rng.uniform(-2.0, 2.0, size=(160, 2))
    noisy = np.sin(3.0 * X[:, 0]) + np.sin(2.0 * X[:, 1]) + 0.3 * rng.normal(size=160)
    return Waves(X, np.where(noisy > 0.0, "crest", "trough"))


@pytest.fixture(scope="session")
def model(waves) -> Model:
    kernel = {"name": "squared-exponential", "lengthscale": "median-per-feature"}
    return sgpc.build(kernel=kernel, max_basis=8, max_iterations=1).fit(waves.X, waves.y)


@pytest.fixture(scope="session")
def refined(waves) -> Model:
    refiner = {"name": "corrective", "penalty": 1.0, "iterations": 10}
    design = sgpc.build(objective="none", refiner=refiner, max_basis=8, sizes=[2, 4])
    return design.fit(waves.X, waves.y)


@attrs.frozen
class Trees:
    """Three classes of the same points, as one model and as one for each."""

    y: np.ndarray
    model: OneVsRest
    joint: Model


@pytest.fixture(scope="session")
def trees(waves) -> Trees:
    first, second = waves.X.T
    names = np.array(["ash", "birch", "cedar"])
    codes = np.where(np.hypot(first, second) < 1.2, 0, np.where(first > 0.0, 1, 2))
    kernel = {"name": "matern-52", "lengthscale": "median-per-feature"}
    design = sgpc.build(kernel=kernel, max_basis=5, max_iterations=1)
    apart = sgpc.build(design.config, strategy="one-vs-rest")
    fits = (each.fit(waves.X, names[codes]) for each in (apart, design))
    return Trees(names[codes], *fits)
