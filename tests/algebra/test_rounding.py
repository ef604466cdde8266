"""What rounding may do to a variance: a little below zero is zero and counted, more is an error."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sgpc_framework.algebra.rounding import ROUNDING, settle
from sgpc_framework.errors import NumericalError

storages = st.sampled_from(["float64", "float32"])
priors = st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=6).map(np.array)


@given(storages, priors, st.data())
def test_what_is_allowed_is_set_to_zero_and_counted(storage, prior, data):
    most = ROUNDING[storage].below_zero
    shares = st.floats(-0.999 * most, 1.0)
    share = np.array([data.draw(shares) for _ in prior])
    variance = share * prior
    before = variance.copy()
    for least in (None, float(variance.min())):
        variance[:] = before
        assert settle(variance, prior, least, ROUNDING[storage]) == np.count_nonzero(before < 0.0)
        np.testing.assert_array_equal(variance, np.maximum(before, 0.0))


@given(storages, priors, st.floats(1.001, 1e6), st.integers(0, 5))
def test_more_is_no_rounding(storage, prior, times, place):
    rounding = ROUNDING[storage]
    variance = prior.copy()
    place %= len(prior)
    variance[place] = -times * rounding.below_zero * prior[place]
    with pytest.raises(NumericalError, match="rounding cannot explain"):
        settle(variance, prior, rounding=rounding)
    assert variance[place] < 0.0


def test_one_row_too_far_below_is_one_too_many():
    with pytest.raises(NumericalError, match="rounding cannot explain"):
        settle(np.array([-1e-9, -1e-7, 1.0]), np.ones(3))


def test_as_much_as_is_allowed_is_allowed():
    variance = np.array([-1e-8, 1.0])
    assert settle(variance, np.ones(2)) == 1
    assert variance.tolist() == [0.0, 1.0]


def test_a_row_without_prior_variance_may_not_go_below_zero():
    with pytest.raises(NumericalError, match="rounding cannot explain"):
        settle(np.array([-1e-12]), np.zeros(1))
    assert settle(np.zeros(1), np.zeros(1)) == 0


@pytest.mark.parametrize("value", [np.nan, -np.inf])
def test_what_is_not_finite_is_refused(value):
    with pytest.raises(NumericalError, match="not finite"):
        settle(np.array([1.0, value]), np.ones(2))


def test_no_rows_need_nothing():
    assert settle(np.empty(0), np.empty(0)) == 0


def test_the_limits():
    """Documented; a row with less left than ``spent`` is not proposed any more."""
    assert ROUNDING["float64"].below_zero == 1e-8
    assert ROUNDING["float64"].spent == 1e-10
    assert ROUNDING["float32"].below_zero == 1e-4
    assert ROUNDING["float32"].spent == 1e-5
    assert ROUNDING["disk"] == ROUNDING["float64"]


@pytest.mark.parametrize("prior", [1e-30, 1e-31])
def test_single_precision_is_not_the_kernels_fault(prior):
    """Products of numbers as small as these are zero in it."""
    small = prior < ROUNDING["float32"].smallest
    with pytest.raises(NumericalError, match="storage" if small else "rounding cannot explain"):
        settle(np.array([-1e-3, -25.0]) * prior, np.full(2, prior), None, ROUNDING["float32"])
    with pytest.raises(NumericalError, match="rounding cannot explain"):
        settle(np.array([-1e-3, -25.0]) * prior, np.full(2, prior))
    mixed = np.array([1.0, prior])
    with pytest.raises(NumericalError, match="rounding cannot explain"):
        settle(np.array([-25.0, -1.0]) * mixed, mixed, None, ROUNDING["float32"])


@pytest.mark.parametrize(
    ("storage", "bound"), [("float64", 1e-8), ("float32", 1e-4), ("disk", 1e-8)]
)
def test_how_far_below_zero_rounding_may_go(storage, bound):
    prior = np.array([2.0, 3.0])
    variance = np.array([1.0, -0.9 * bound * 3.0])
    assert settle(variance, prior, rounding=ROUNDING[storage]) == 1
    np.testing.assert_array_equal(variance, [1.0, 0.0])
    with pytest.raises(NumericalError, match="rounding cannot explain"):
        settle(np.array([1.0, -1.1 * bound * 3.0]), prior, rounding=ROUNDING[storage])
