"""The loss of rows that a refiner minimises: between the predictive and the expected one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from sgpc_framework.rows.view import Rows
from sgpc_framework.testing.strategies import likelihoods
from sgpc_plugins.likelihoods import Logistic, NoisyProbit, Probit
from sgpc_plugins.refiners.corrective.mixed_loss import MixedLoss


def rows(likelihood, mean, variance, y=1.0):
    count = len(mean)
    return Rows(np.full(count, y), mean, variance, np.zeros(count, dtype=np.bool_), likelihood)


def losses(block, elbo_share):
    return MixedLoss(elbo_share)(block).value


@given(
    likelihoods(),
    st.floats(-3.0, 3.0),
    st.floats(0.0, 4.0),
    st.sampled_from([-1.0, 1.0]),
    st.floats(0.0, 1.0),
)
def test_lies_between_the_two(likelihood, mean, variance, y, elbo_share):
    block = rows(likelihood, np.array([mean]), np.array([variance]), y)
    predictive, expected = losses(block, 0.0), losses(block, 1.0)
    np.testing.assert_array_equal(predictive, -block.log_z)
    np.testing.assert_allclose(
        losses(block, elbo_share),
        (1.0 - elbo_share) * predictive + elbo_share * expected,
        rtol=1e-12,
    )


@given(st.floats(-3.0, 3.0), st.floats(0.0, 2.0), st.sampled_from([-1.0, 1.0]))
def test_what_is_expected_is_never_less_than_what_is_predicted(mean, variance, y):
    for likelihood in (Probit(), Logistic(), NoisyProbit()):
        block = rows(likelihood, np.array([mean]), np.array([variance]), y)
        assert losses(block, 1.0) >= losses(block, 0.0) - 1e-3  # the error of the quadrature


@pytest.mark.parametrize("likelihood", [Probit(slope=0.7, bias=0.3), Logistic(), NoisyProbit()])
@pytest.mark.parametrize(("mean", "variance"), [(0.4, 0.2), (-1.0, 0.5), (2.0, 1.0)])
def test_is_the_integral(likelihood, mean, variance):
    def integrand(t):
        f = np.array([mean + t * np.sqrt(variance)])
        log_p = likelihood.moments(np.ones(1), f, np.zeros(1)).log_z[0]
        return -log_p * np.exp(-0.5 * t * t) / np.sqrt(2.0 * np.pi)

    wanted, _ = quad(integrand, -9.0, 9.0)
    found = losses(rows(likelihood, np.array([mean]), np.array([variance])), 1.0)
    assert found[0] == pytest.approx(wanted, rel=2e-3)


def test_a_row_without_variance_has_one_loss_and_a_finite_slope():
    block = rows(Probit(), np.array([-2.0, 0.0, 3.0]), np.zeros(3))
    found = MixedLoss(1.0)(block)
    np.testing.assert_allclose(found.value, -block.log_z, rtol=1e-12)
    np.testing.assert_allclose(found.d_variance, 0.5 * block.nu, rtol=1e-12)
