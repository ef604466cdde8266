"""The kernel ``stretched``: features along rising lines whose slopes are learnt."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sgpc_framework as sgpc
from sgpc_framework.errors import ConfigError, InputError
from sgpc_framework.parts.hyperparameters import hyperparameters, replaced, values
from sgpc_plugins.kernels import Linear, Mahalanobis, Matern32, Matern52, Stretched
from sgpc_plugins.kernels.stretched import PIECES

LINES = [[-1.0, 0.0, 2.0], [], [0.0, 1.0]]
ARD = Matern32(2.0, (0.5, 2.0, 1.0))
ORDERS = [
    lambda inner: Stretched(inner),
    lambda inner: Stretched(Mahalanobis(inner)),
    lambda inner: Mahalanobis(Stretched(inner)),
]


def bent(x, knots, slopes):
    """A line through (knots[0], knots[0]), by adding up what lies between x and there."""
    ends = np.concatenate([[-np.inf], knots[1:-1], [np.inf]])
    total = knots[0]
    for slope, begin, end in zip(slopes, ends[:-1], ends[1:], strict=True):
        total += slope * (np.clip(x, begin, end) - np.clip(knots[0], begin, end))
    return total


@given(st.integers(0, 99))
def test_it_is_the_inner_kernel_of_features_that_were_bent(seed):
    rng = np.random.default_rng(seed)
    X, Z = 3.0 * rng.normal(size=(6, 3)), 3.0 * rng.normal(size=(4, 3))
    slopes = rng.uniform(0.1, 5.0, 3)

    def mapped(rows):
        first = [bent(x, LINES[0], slopes[:2]) for x in rows[:, 0]]
        third = [bent(x, LINES[2], slopes[2:]) for x in rows[:, 2]]
        return np.stack([first, rows[:, 1], third], axis=1)

    kernel = Stretched(ARD, LINES, slopes)
    np.testing.assert_allclose(kernel(X, Z), ARD(mapped(X), mapped(Z)), rtol=1e-9, atol=1e-12)


def differences(function, point, step=1e-6):
    steps = step * np.eye(point.size).reshape(-1, *point.shape)
    pairs = [(function(point + each), function(point - each)) for each in steps]
    return np.array([(a - b) / (2.0 * step) for a, b in pairs]).reshape(point.shape)


@pytest.mark.parametrize("around", ORDERS, ids=["stretched", "of mixed", "mixed"])
@settings(max_examples=20)
@given(seed=st.integers(0, 99))
def test_gradients_are_differences(around, seed):
    """In its own numbers, those of the kernels inside, and in inputs that are not at knots."""
    rng = np.random.default_rng(seed)
    X = np.stack([rng.normal(size=12), rng.integers(0, 4, 12)], axis=1)
    Z = X[:3] + 0.1 * rng.normal(size=(3, 2))
    G = rng.normal(size=(3, 12))
    kernel = around(Matern52(lengthscale="median-per-feature")).started(X)
    at = values(kernel)
    at = np.where(at == 0.0, rng.normal(size=len(at)), at * np.exp(0.3 * rng.normal(size=len(at))))
    kernel = replaced(kernel, at)

    def total(numbers, left):
        return float(np.sum(G * replaced(kernel, numbers)(left, X)))

    close = {"rtol": 1e-5, "atol": 1e-6}
    by_number, by_Z = kernel.linearised_in_inputs(Z, X)[1](G)
    np.testing.assert_allclose(by_number, differences(lambda a: total(a, Z), at), **close)
    np.testing.assert_allclose(by_Z, differences(lambda z: total(at, z), Z), **close)


def test_a_fresh_one_is_the_inner_kernel():
    X = np.random.default_rng(1).normal(size=(40, 2))
    kernel = Stretched(Matern52(lengthscale="median-per-feature")).started(X)
    assert kernel.slopes == (1.0,) * (2 * PIECES)
    np.testing.assert_allclose(kernel(X, X), kernel.inner(X, X), atol=1e-12)
    np.testing.assert_allclose(kernel.relevances(), kernel.inner.relevances())
    assert Stretched().relevances() is None
    assert Stretched(ARD, LINES).relevances() is None


def test_knots_come_from_the_data():
    rng = np.random.default_rng(2)
    many, few, two = rng.normal(size=100), rng.integers(0, 4, 100), rng.integers(0, 2, 100)
    knots = Stretched().started(np.stack([many, few, two], axis=1)).knots
    np.testing.assert_allclose(knots[0], np.quantile(many, np.linspace(0.0, 1.0, PIECES + 1)))
    assert knots[1:] == ((0.0, 1.0, 2.0, 3.0), ())


def test_without_anything_to_stretch_there_is_nothing_to_learn():
    X = np.random.default_rng(3).integers(0, 2, (30, 3)).astype(float)
    kernel = Stretched(Matern52(lengthscale=1.0)).started(X)
    assert len(hyperparameters(kernel)) == len(hyperparameters(kernel.inner))
    np.testing.assert_array_equal(kernel(X, X), kernel.inner(X, X))


def thresholds(rows, seed=0):
    """Four features, each of which counts where it is near a threshold, and nowhere else."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 4))
    steps = np.tanh(15.0 * (X - [0.8, -0.5, 0.3, 1.0]))
    f = steps[:, 0] * steps[:, 1] + steps[:, 2] + steps[:, 3]
    return X, np.where(f > -0.5, 1.0, -1.0)


def nlp(model, X, y):
    p = model.predict_proba(X)[np.arange(len(y)), (y > 0).astype(int)]
    return -np.mean(np.log(p))


def test_held_out_rows_choose_it_where_thresholds_matter():
    X, y = thresholds(1000)
    X_new, y_new = thresholds(2000, seed=1)
    model = sgpc.build("accurate", max_basis=20).fit(X, y)
    assert "metric stretched yes" in " ".join(model.trace.notes)
    alone = {"name": "matern-52", "lengthscale": "median-per-feature"}
    without = sgpc.build("accurate", max_basis=20, kernel=alone).fit(X, y)
    assert nlp(model, X_new, y_new) < 0.5 * nlp(without, X_new, y_new)


def test_what_is_wrong_is_said():
    with pytest.raises(ValueError, match="a kernel of distances"):
        Stretched(Linear())
    with pytest.raises(ValueError, match="a number for each of the 3 pieces"):
        Stretched(ARD, LINES, (1.0, 2.0))
    with pytest.raises(ValueError, match="two finite numbers that rise"):
        Stretched(ARD, [[1.0, 0.0]], (1.0,))
    with pytest.raises(ValueError, match="'none' or a list of numbers"):
        Stretched(ARD, LINES, 2.0)
    with pytest.raises(ConfigError, match="a number or 'none'"):
        sgpc.build(kernel={"name": "stretched", "slopes": "flat"})
    two = np.zeros((1, 2))
    with pytest.raises(InputError, match="still has the word 'quantiles' for its knots"):
        Stretched()(two, two)
    with pytest.raises(InputError, match="still has the word 'none' for its slopes"):
        Stretched(ARD, LINES)(np.zeros((1, 3)), np.zeros((1, 3)))
    with pytest.raises(InputError, match="knots for 3 features, but the inputs have 2"):
        Stretched(ARD, LINES, (1.0,) * 3)(two, two)
