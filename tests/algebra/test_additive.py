"""The additive form against dense algebra, and what it says of kernels that are none."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sgpc_framework.algebra.additive import additive_form, smallest_pivot, sound_prefix
from sgpc_framework.errors import NumericalError


@st.composite
def systems(draw):
    """A Gram matrix, possibly singular, and sites whose precisions differ by many orders."""
    size, rank = draw(st.integers(1, 6)), draw(st.integers(1, 6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    factors = rng.standard_normal((size, rank))
    return factors @ factors.T, 10.0 ** rng.uniform(-12, 6, size), rng.standard_normal(size)


@given(systems())
def test_functions_are_unit_triangular_and_the_sum_is_the_posterior(system):
    K, precision, mean = system
    form = additive_form(K, precision, mean)
    np.testing.assert_allclose(np.diag(form.functions), 1.0, rtol=1e-12)
    assert np.all(np.triu(form.functions, 1) == 0.0)
    assert np.all(form.shrinkage > 0.0)
    root = np.sqrt(precision)
    inside = np.linalg.inv(np.eye(len(K)) + root[:, None] * K * root)
    W = root[:, None] * inside * root  # (K + Π⁻¹)⁻¹
    functions = form.functions @ K
    scale = np.abs(K).max() + 1e-300
    explained = functions.T @ (form.shrinkage[:, None] * functions)
    np.testing.assert_allclose(explained, K @ W @ K, atol=1e-7 * scale)
    np.testing.assert_allclose(
        form.coefficient @ functions, K @ (W @ mean), atol=1e-7 * (1 + np.abs(mean).max()) * scale
    )


@given(systems())
def test_weights_and_root_are_those_of_the_inverse(system):
    """W m and T with TᵀT = W = (K + Π⁻¹)⁻¹; several latent functions have a row of weights each."""
    K, precision, mean = system
    root = np.sqrt(precision)
    W = root[:, None] * np.linalg.inv(np.eye(len(K)) + root[:, None] * K * root) * root
    scale = np.abs(W).max() + 1e-300
    form = additive_form(K, precision, mean)
    np.testing.assert_allclose(form.T.T @ form.T, W, rtol=0, atol=1e-7 * scale)
    np.testing.assert_allclose(form.weights, W @ mean, rtol=0, atol=1e-6 * scale)
    several = additive_form(K, precision, np.stack([mean, 2.0 - mean, mean**2]))
    wanted = np.stack([W @ mean, W @ (2.0 - mean), W @ mean**2])
    assert several.weights.shape == (3, len(K))
    np.testing.assert_allclose(several.weights, wanted, rtol=0, atol=1e-5 * scale)
    np.testing.assert_allclose(several.coefficient[0], form.coefficient, rtol=1e-9, atol=1e-300)


@given(systems())
def test_a_prefix_is_the_form_of_the_prefix(system):
    K, precision, mean = system
    half = (len(K) + 1) // 2
    whole = additive_form(K, precision, mean)
    alone = additive_form(K[:half, :half], precision[:half], mean[:half])
    functions, coefficient = whole.functions[:half, :half], whole.coefficient[:half]
    np.testing.assert_allclose(functions, alone.functions, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(coefficient, alone.coefficient, rtol=1e-9, atol=1e-9)


@given(systems())
def test_a_gram_matrix_has_pivots_of_at_least_one(system):
    K, precision, _ = system
    assert smallest_pivot(K, precision) >= 1.0 - 1e-6


def test_an_indefinite_matrix_is_refused():
    K = np.array([[1.0, 3.0], [3.0, 1.0]])
    with pytest.raises(NumericalError, match="semidefinite"):
        additive_form(K, np.ones(2), np.ones(2))
    assert smallest_pivot(K, np.ones(2)) == pytest.approx(2.0 - 9.0 / 2.0, abs=1e-12)
    with pytest.raises(NumericalError, match="finite"):
        additive_form(K * np.nan, np.ones(2), np.ones(2))


def test_a_pivot_of_zero_ends_the_factor():
    """B = [[4, 4, 0], [4, 4, 0], [0, 0, 4]] has no second pivot, without any rounding."""
    K = np.array([[3.0, 4.0, 0.0], [4.0, 3.0, 0.0], [0.0, 0.0, 3.0]])
    assert smallest_pivot(K, np.ones(3)) == 0.0
    assert sound_prefix(K, np.ones(3)) == 1


def test_pivots_below_one_are_small_but_sound():
    K = np.diag([-0.5, -0.75, -1.5])
    assert smallest_pivot(K, np.ones(3)) == -0.5
    assert sound_prefix(K, np.ones(3)) == 2


@given(systems(), st.integers(0, 5), st.floats(1.5, 10.0))
def test_stages_before_an_impossible_one_are_sound(system, place, times):
    """Row ``place`` is made to covary with a new first row by more than both their variances."""
    K, precision, _ = system
    place = 1 + place % len(K)
    whole = np.eye(len(K) + 1)
    whole[1:, 1:] = K
    whole[0, place] = whole[place, 0] = times * np.sqrt((1.0 + 1.0) * (whole[place, place] + 1.0))
    ones = np.ones(len(whole))
    sound = sound_prefix(whole, ones)
    assert sound == place
    additive_form(whole[:sound, :sound], ones[:sound], ones[:sound])
    assert smallest_pivot(whole, ones) <= 0.0
    assert sound_prefix(K, precision) == len(K)


def test_no_basis_vectors():
    none = np.empty(0)
    assert len(additive_form(np.empty((0, 0)), none, none)) == 0
    assert smallest_pivot(np.empty((0, 0)), none) == np.inf
    assert sound_prefix(np.empty((0, 0)), none) == 0


def test_precisions_that_no_matrix_holds_are_an_error_and_no_warning():
    """As in a file that somebody has changed."""
    K, huge = np.array([[1.0, 1e3], [1e3, 1e6]]), np.array([1e305, 1e308])
    with pytest.raises(NumericalError, match="not finite"):
        additive_form(K, huge, np.ones(2))
    assert sound_prefix(K, huge) < 2


def test_how_sound_a_kernel_is_depends_on_the_precisions():
    """I + p K has the eigenvalues 1 + 2.3 p and 1 - 0.3 p: sound up to p = 3.33."""
    K = np.array([[1.0, 1.3], [1.3, 1.0]])
    assert [sound_prefix(K, np.full(2, p)) for p in (0.5, 2.0, 3.0, 3.5, 9.0)] == [2, 2, 2, 1, 1]
    assert smallest_pivot(K, np.full(2, 3.0)) == pytest.approx((1.0 + 6.9) * (1.0 - 0.9) / 4.0)
