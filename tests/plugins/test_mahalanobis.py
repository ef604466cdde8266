"""The kernel ``mahalanobis``: distances between linear combinations of features."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sgpc_framework as sgpc
from sgpc_framework.errors import ConfigError, InputError
from sgpc_plugins.kernels import Linear, Mahalanobis, Matern32, Matern52, SquaredExponential
from sgpc_plugins.kernels.mahalanobis import UNIT


def drawn(seed, features=3, rows=8):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, features)) * 10.0 ** rng.uniform(-3, 3, features)
    kernel = Mahalanobis(
        Matern32(2.0, tuple(rng.uniform(0.5, 2.0, features) * X.std(axis=0))),
        scale=X.std(axis=0),
        mixing=rng.normal(size=features**2),
    )
    return kernel, X


@given(st.integers(0, 99))
def test_it_is_a_mahalanobis_distance(seed):
    """By the formula of the docstring, pair by pair."""
    kernel, X = drawn(seed)
    D = np.diag(kernel.scale)
    B = np.reshape(kernel.mixing, (3, 3))
    A = np.eye(3) + UNIT * np.linalg.inv(D) @ B @ D
    weights = A @ np.diag(np.array(kernel.inner.lengthscale) ** -2.0) @ A.T
    for x in X[:3]:
        for z in X[3:]:
            s = np.sqrt(3.0 * (x - z) @ weights @ (x - z))
            expected = 2.0 * (1.0 + s) * np.exp(-s)
            np.testing.assert_allclose(kernel(x[None], z[None]), expected, rtol=1e-8)


@given(st.integers(0, 99), st.floats(-6.0, 6.0))
def test_units_of_features_do_not_matter(seed, power):
    """A feature in other units, with its lengthscale and scale, leaves the kernel as it is."""
    kernel, X = drawn(seed)
    units = np.array([10.0**power, 1.0, 1.0])
    other = Mahalanobis(
        Matern32(2.0, tuple(units * kernel.inner.lengthscale)),
        scale=units * kernel.scale,
        mixing=kernel.mixing,
    )
    np.testing.assert_allclose(other(X * units, X * units), kernel(X, X), rtol=1e-7, atol=1e-12)


def test_without_mixing_it_is_the_inner_kernel():
    X = np.random.default_rng(1).normal(size=(9, 2))
    kernel = Mahalanobis(SquaredExponential(lengthscale="median-per-feature")).started(X)
    assert kernel.mixing == (0.0,) * 4
    np.testing.assert_array_equal(kernel(X, X), kernel.inner(X, X))
    np.testing.assert_allclose(kernel.relevances(), kernel.inner.relevances())


def contrast(rows, seed=0):
    """Six features, of which one difference matters, in a curved way."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 6))
    f = np.sin(X @ [1.0, -1.0, 1.0, -1.0, 1.0, -1.0])
    return X, np.where(f > 0.2 * rng.normal(size=rows), 1.0, -1.0)


def nlp(model, X, y):
    p = model.predict_proba(X)[np.arange(len(y)), (y > 0).astype(int)]
    return -np.mean(np.log(p))


def test_held_out_rows_choose_it_where_a_difference_matters():
    X, y = contrast(600)
    X_new, y_new = contrast(2000, seed=1)
    model = sgpc.build("accurate", max_basis=20).fit(X, y)
    assert "metric mahalanobis yes" in " ".join(model.trace.notes)
    alone = {"name": "matern-52", "lengthscale": "median-per-feature"}
    without = sgpc.build("accurate", max_basis=20, kernel=alone).fit(X, y)
    assert nlp(model, X_new, y_new) < 0.5 * nlp(without, X_new, y_new)


def test_where_rows_are_few_it_is_not_tried():
    X, y = contrast(70)  # 36 numbers to learn
    model = sgpc.build("accurate", max_basis=8).fit(X, y)
    assert "metric" not in " ".join(model.trace.notes)


def test_what_is_wrong_is_said():
    with pytest.raises(ValueError, match="a kernel of distances"):
        Mahalanobis(Linear())
    with pytest.raises(ValueError, match="a number for every two features"):
        Mahalanobis(mixing=(1.0, 2.0, 3.0))
    with pytest.raises(ValueError, match="finite numbers above zero"):
        Mahalanobis(scale=(1.0, 0.0))
    with pytest.raises(ConfigError, match="around another one"):
        sgpc.build(refiner={"name": "corrective", "metrics": ["matern-32"]})
    two = np.zeros((1, 2))
    with pytest.raises(InputError, match="still has the word 'none'"):
        Mahalanobis()(two, two)
    with pytest.raises(InputError, match="9 numbers for its mixing, but the inputs have 2"):
        Mahalanobis(Matern52(), (1.0,) * 3, (0.0,) * 9)(two, two)
