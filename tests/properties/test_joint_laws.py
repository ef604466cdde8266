"""The joint loss of a refiner: its gradient equals differences, its value dense algebra."""

from __future__ import annotations

import attrs
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sgpc_framework.errors import InputError
from sgpc_framework.parts.derivatives import input_pullback, linearised, linearised_in_inputs
from sgpc_framework.rows.state import State
from sgpc_framework.rows.training_rows import TrainingRows
from sgpc_framework.testing.gradient_laws import gradient_equals_differences
from sgpc_framework.testing.oracle import dense_posterior
from sgpc_framework.testing.strategies import fitted_states
from sgpc_plugins.kernels import Matern32, SquaredExponential, Sum
from sgpc_plugins.likelihoods import Probit
from sgpc_plugins.refiners.corrective.joint_loss import JointLoss


@settings(max_examples=30)
@given(fitted_states(), st.sampled_from([0.25, 1.0, 30.0]), st.sampled_from([0.0, 0.3, 1.0]))
def test_gradient_in_sites_and_hyperparameters_equals_differences(fitted, weight, elbo_share):
    loss = JointLoss(fitted.state, fitted.rows, weight, elbo_share)
    gradient_equals_differences(loss, loss.point(fitted.state))


SMOOTH = st.builds(
    SquaredExponential, variance=st.floats(0.3, 3.0), lengthscale=st.floats(0.3, 3.0)
)


@settings(max_examples=30)
@given(
    fitted_states(SMOOTH | st.builds(Sum, terms=st.tuples(SMOOTH, SMOOTH))),
    st.sampled_from([0.0, 0.3]),
)
def test_gradient_in_basis_inputs_equals_differences(fitted, elbo_share):
    scale = np.full(fitted.problem.X.shape[1], 1.7)
    loss = JointLoss(fitted.state, fitted.rows, 1.0, elbo_share, moves=True, scale=scale)
    gradient_equals_differences(loss, loss.point(fitted.state))


@settings(max_examples=60)
@given(fitted_states(), st.floats(0.1, 10.0))
def test_value_equals_dense_algebra(fitted, weight):
    state, X, y = fitted.state, fitted.problem.X, fitted.problem.y
    posterior = dense_posterior(state.kernel, X, state.basis, state.precision, state.mean)
    log_z = state.likelihood.moments(y, posterior.mean, posterior.variance).log_z
    # KL(N(μ, S) ‖ N(0, K)) by its textbook form, of which only K needs an inverse: with the sites'
    # precisions Π, S⁻¹ = K⁻¹ + Π, so tr K⁻¹S = tr (I + ΠK)⁻¹, and μ = K w.
    K, Pi = state.gram(), np.diag(state.precision)
    one = np.eye(len(K))
    w = np.linalg.solve(one + Pi @ K, Pi @ state.mean)
    KL = 0.5 * (
        np.trace(np.linalg.inv(one + Pi @ K))
        - len(K)
        + w @ K @ w
        + np.linalg.slogdet(one + Pi @ K)[1]
    )
    wanted = -np.mean(log_z) + weight * KL / len(y)
    loss = JointLoss(state, fitted.rows, weight)
    assert loss(loss.point(state))[0] == pytest.approx(wanted, rel=1e-8)
    assert loss.value(state) == pytest.approx(wanted, rel=1e-8)


@settings(max_examples=60)
@given(fitted_states(), st.booleans())
def test_a_state_comes_back_from_its_vector(fitted, moves):
    state = fitted.state
    loss = JointLoss(state, fitted.rows, 1.0, moves=moves, scale=0.3)
    back = loss.state(loss.point(state))
    np.testing.assert_allclose(back.precision, state.precision)
    np.testing.assert_allclose(back.mean, state.mean, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(back.inputs, state.inputs, atol=1e-14)


@attrs.frozen
class Bare:
    """A kernel with its values and no more."""

    name = "bare"

    def __call__(self, X, Z):
        return SquaredExponential(lengthscale=1.0)(X, Z)

    def diag(self, X):
        return np.ones(len(X))


def test_without_the_fused_pullback_the_single_ones_are_asked():
    rng = np.random.default_rng(0)
    X, Z, G = rng.normal(size=(4, 2)), rng.normal(size=(3, 2)), rng.normal(size=(4, 3))
    kernel = Sum(terms=(SquaredExponential(lengthscale=1.0), Matern32(lengthscale=2.0)))
    K, pullbacks = linearised_in_inputs(kernel, X, Z)
    own, inputs = pullbacks(G)
    np.testing.assert_array_equal(K, kernel(X, Z))
    np.testing.assert_array_equal(own, linearised(kernel, X, Z)[1](G))
    np.testing.assert_array_equal(inputs, kernel.input_pullback(X, Z, G))


def test_a_kernel_without_derivatives_in_its_inputs_says_so():
    X, y = np.zeros((3, 1)), np.array([1.0, -1.0, 1.0])
    state = State(Bare(), Probit(), np.array([0]), X[:1], np.ones(1), np.ones(1))
    loss = JointLoss(state, TrainingRows.of(X, y), 1.0, moves=True)
    with pytest.raises(InputError, match="'bare' cannot be differentiated in its inputs"):
        loss(loss.point(loss.start))
    with pytest.raises(InputError, match="input_pullback"):
        input_pullback(Bare(), X, X, np.ones((3, 3)))
