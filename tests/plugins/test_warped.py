"""The kernel ``warped``: features seen through rising lines."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sgpc_framework as sgpc
from sgpc_framework.errors import InputError
from sgpc_plugins.kernels import Linear, SquaredExponential, Warped


def table(rows, seed, power):
    """Long tails, two values, many zeros, one value."""
    rng = np.random.default_rng(seed)
    zeros = np.where(rng.random(rows) < 0.8, 0.0, rng.exponential(size=rows))
    columns = (
        np.exp(power * rng.normal(size=rows)),
        rng.integers(0, 2, rows),
        zeros,
        3.0 * zeros**0,
    )
    return np.column_stack(columns)


@given(st.integers(3, 400), st.integers(0, 99), st.floats(0.1, 6.0))
def test_the_map_rises_can_be_undone_and_keeps_mean_and_width(rows, seed, power):
    X = table(rows, seed, power)
    kernel = Warped().started(X)
    Z = kernel.warp(X)
    assert np.all(np.isfinite(Z))
    np.testing.assert_allclose(kernel.unwarp(Z), X, rtol=1e-8, atol=1e-8 * np.abs(X).max())
    np.testing.assert_allclose(Z.mean(axis=0), X.mean(axis=0), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(Z.std(axis=0), X.std(axis=0), rtol=1e-6, atol=1e-9)
    for before, after in zip(X.T, Z.T, strict=True):
        order = np.argsort(before, kind="stable")
        assert np.all(np.diff(after[order]) >= 0.0)
    np.testing.assert_array_equal(Z[:, [1, 3]], X[:, [1, 3]])


def test_long_tails_become_normal():
    X = np.exp(2.0 * np.random.default_rng(0).normal(size=(2000, 1)))
    Z = Warped().started(X).warp(X)
    scores = (Z - Z.mean()) / Z.std()
    assert abs(np.mean(scores**3)) < 0.2
    assert abs(np.mean(scores**4) - 3.0) < 0.3


def test_beyond_the_knots_the_line_goes_on():
    kernel = Warped(Linear(), knots=[[0.0, 1.0, 3.0]], images=[[0.0, 2.0, 3.0]])
    np.testing.assert_allclose(kernel.warp([[-1.0], [5.0]]), [[-2.0], [4.0]])


def test_it_is_the_inner_kernel_of_what_was_mapped():
    X = table(50, 0, 2.0)
    kernel = Warped(SquaredExponential(lengthscale="median-per-feature")).started(X)
    np.testing.assert_array_equal(
        kernel(X, X[:7]), kernel.inner(kernel.warp(X), kernel.warp(X[:7]))
    )
    assert kernel.around(Linear()).knots == kernel.knots


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"inner": 3}, "inner must be a kernel"),
        ({"knots": "ranks"}, "lists of numbers or 'quantiles'"),
        ({"knots": [[1.0, 1.0]], "images": [[0.0, 1.0]]}, "finite numbers that rise"),
        ({"knots": [[1.0]], "images": [[1.0]]}, "at least two"),
        ({"knots": [[0.0, 1.0]], "images": []}, "a number for each of the knots"),
    ],
)
def test_what_is_no_map_is_refused(options, problem):
    with pytest.raises(ValueError, match=problem):
        Warped(**options)


def test_inputs_of_another_width_and_words_are_refused():
    with pytest.raises(InputError, match="knots for 1 features, but the inputs have 2"):
        Warped(Linear(), knots=[[]], images=[[]])(np.ones((2, 2)), np.ones((2, 2)))
    with pytest.raises(InputError, match="still has the word 'quantiles'"):
        Warped()(np.ones((2, 2)), np.ones((2, 2)))


def test_a_model_with_it_is_saved_and_loaded(tmp_path):
    X = table(120, 1, 2.0)
    y = np.log(X[:, 0]) + X[:, 1] > 0.3
    model = sgpc.build(kernel="warped", max_basis=8, objective="none").fit(X, y)
    model.save(tmp_path / "m.sgpc")
    same = sgpc.load(tmp_path / "m.sgpc")
    assert same.kernel == model.kernel
    np.testing.assert_array_equal(same.predict_proba(X), model.predict_proba(X))
    assert np.mean(model.predict(X) == y) > 0.8


def test_two_values_stay_and_three_are_mapped():
    two, three = np.resize([0.0, 1.0], 30), np.resize([0.0, 1.0, 50.0], 30)
    kernel = Warped().started(np.column_stack([two, three]))
    Z = kernel.warp(np.column_stack([two, three]))
    np.testing.assert_array_equal(Z[:, 0], two)
    assert np.ptp(np.unique(Z[:, 1])[:2]) > 10.0  # by ranks: equally far apart
    np.testing.assert_allclose(np.diff(np.unique(Z[:, 1]), 2), 0.0, atol=1e-9)


@given(st.integers(3, 400), st.integers(0, 99), st.floats(0.1, 6.0), st.integers(-300, 100))
def test_another_unit_is_the_same_map_in_that_unit(rows, seed, power, exponent):
    X, unit = table(rows, seed, power), 2.0**exponent
    one, other = Warped().started(X), Warped().started(unit * X)
    for mine, its in ((one.knots, other.knots), (one.images, other.images)):
        assert [[unit * number for number in line] for line in mine] == [list(line) for line in its]


LUMPS = 1e16 + np.r_[np.zeros(500), 2.0, 4.0, np.full(500, 6.0)]
"""Between the lumps there is less room than a float has steps."""


@pytest.mark.parametrize("x", [LUMPS, 1e200 * np.arange(9)])
@pytest.mark.filterwarnings("ignore:(overflow|invalid value):RuntimeWarning")
def test_a_map_that_floats_cannot_hold_is_left_out(x):
    assert Warped(Linear()).started(x[:, None]).knots == ((),)


@pytest.mark.parametrize("x", [1e16 + 2.0 * np.arange(5), 1e12 + np.arange(9) / 4096])
def test_what_floats_can_hardly_tell_apart_is_mapped_one_to_one(x):
    Z = Warped().started(x[:, None]).warp(x[:, None])[:, 0]
    assert np.all(np.isfinite(Z))
    assert np.all(np.diff(Z) > 0.0)
