"""Squared distances in every way that kernels ask for them, beside differences pair by pair."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sgpc_plugins.kernels import Constant, Polynomial, Product
from sgpc_plugins.kernels.distances import (
    FAR,
    PairSums,
    distances_to,
    squared_distances,
    to_point,
)

shapes = st.tuples(st.integers(1, 6), st.integers(1, 6), st.integers(1, 4))


def drawn(shape, seed, away=0.0):
    """Two sets of rows, so far from the origin, two of them equal, and weights."""
    n, m, features = shape
    rng = np.random.default_rng(seed)
    X, Z = away + rng.standard_normal((n, features)), away + rng.standard_normal((m, features))
    Z[0] = X[-1]
    return X, Z, rng.gamma(2.0, size=features)


def by_pairs(X, Z, weights):
    return np.sum(weights * (X[:, None] - Z) ** 2, axis=-1)


@given(shapes, st.integers(0, 2**32), st.sampled_from([0.0, 3.0, 1e4]))
def test_every_way_is_that_of_the_differences(shape, seed, away):
    """Far from the origin too, where products of the rows as they are would lose their digits."""
    X, Z, weights = drawn(shape, seed, away)
    wanted = by_pairs(X, Z, weights)
    close = {"rtol": 1e-9, "atol": 1e-11}
    np.testing.assert_allclose(squared_distances(X, Z, weights), wanted, **close)
    np.testing.assert_allclose(distances_to(X, weights)(Z), wanted.T, **close)
    np.testing.assert_allclose(distances_to(X, weights)(Z[:1]), wanted.T[:1], **close)
    np.testing.assert_allclose(to_point(X, Z[0], weights), wanted[:, 0], **close)


@given(shapes, st.integers(0, 2**32), st.sampled_from([0.0, 3.0]))
def test_equal_rows_are_at_distance_zero(shape, seed, away):
    """Exactly: a square root makes 1e-8 of what rounding leaves."""
    X, Z, weights = drawn(shape, seed, away)
    assert squared_distances(X, Z, weights)[-1, 0] == 0.0
    assert distances_to(X, weights)(Z)[0, -1] == 0.0
    assert distances_to(X, weights)(Z[:1])[0, -1] == 0.0
    assert squared_distances(X, Z, weights).min() >= 0.0


@given(st.integers(0, 2**32), st.floats(1.0, 1e3))
def test_two_clusters_far_apart_keep_the_digits_within_them(seed, apart):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((6, 2)) + np.where(np.arange(6) < 3, 0.0, apart * np.sqrt(FAR))[:, None]
    Z, weights = X + 1e-3 * rng.standard_normal((6, 2)), np.array([1.0, 2.0])
    wanted = by_pairs(X, Z, weights)
    np.testing.assert_allclose(squared_distances(X, Z, weights), wanted, rtol=1e-6)
    np.testing.assert_allclose(distances_to(X, weights)(Z), wanted.T, rtol=1e-6)


@given(shapes, st.integers(0, 2**32), st.sampled_from([0.0, 1e4]))
def test_sums_over_pairs(shape, seed, away):
    X, Z, _ = drawn(shape, seed, away)
    W = np.random.default_rng(seed).standard_normal((len(X), len(Z)))
    apart = X[:, None] - Z
    sums = PairSums(W, X, Z)
    np.testing.assert_allclose(
        sums.differences(), np.einsum("ij,ijf->if", W, apart), rtol=1e-9, atol=1e-9
    )
    np.testing.assert_allclose(
        sums.other_differences(), np.einsum("ij,ijf->jf", W, -apart), rtol=1e-9, atol=1e-9
    )
    np.testing.assert_allclose(
        sums.squares(), np.einsum("ij,ijf->f", W, apart**2), rtol=1e-9, atol=1e-9
    )


@pytest.mark.parametrize("factors", [1, 2, 3, 4])
def test_every_factor_of_a_product_pulls_back_all_others(factors):
    """Of constants, the derivative by one is the product of the others."""
    each = np.arange(2.0, factors + 2.0)
    kernel = Product(tuple(Constant(variance=value) for value in each.tolist()))
    value, pullback = kernel.linearised(np.zeros((3, 2)), np.zeros((5, 2)))
    np.testing.assert_allclose(value, np.prod(each))
    np.testing.assert_allclose(pullback(np.ones((3, 5))), 15.0 * np.prod(each) / each)


def test_degrees_from_one_to_a_hundred():
    X = np.random.default_rng(0).standard_normal((4, 2))
    one = Polynomial(variance=3.0, degree=1, lengthscale=2.0, offset=0.5)
    np.testing.assert_allclose(one(X, X), 3.0 * (X @ X.T / 4.0 + 0.5))
    assert Polynomial(degree=100).degree == 100
    for degree in (0, 101):
        with pytest.raises(ValueError, match="degree"):
            Polynomial(degree=degree)
