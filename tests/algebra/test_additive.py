"""The additive form against dense algebra, and what it says of kernels that are none."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sgpc_framework.algebra.additive import additive_form, smallest_pivot
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
