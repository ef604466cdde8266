"""The joint loss of a refiner: its gradient equals differences, its value dense algebra."""

from __future__ import annotations

import attrs
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sgpc_framework.engine.joint import JointLoss
from sgpc_framework.engine.refinement import Refinable

from sgpc_framework.engine.slopes import FixedSites
from sgpc_framework.errors import InputError
from sgpc_framework.parts.derivatives import input_pullback, linearised, linearised_in_inputs
from sgpc_framework.testing.oracle import dense_posterior
from sgpc_framework.testing.strategies import components, problems
from sgpc_plugins.kernels import Matern32, SquaredExponential, Sum
from sgpc_plugins.likelihoods import Probit


@st.composite
def refinables(draw, kernels=None):
    """A training set, a basis in it, arbitrary sites, and hyperparameters."""
    problem = draw(problems(min_rows=4))
    rows = len(problem.y)
    basis = draw(st.lists(st.integers(0, rows - 1), min_size=1, max_size=5, unique=True))
    numbers = st.lists(st.floats(0.05, 5.0), min_size=len(basis), max_size=len(basis))
    sites = FixedSites(
        X=problem.X,
        y=problem.y,
        basis=np.array(basis, dtype=np.intp),
        precision=np.array(draw(numbers)),
        mean=np.array(draw(numbers)) * problem.y[basis],
        block_rows=draw(st.sampled_from([2, 1000])),
    )
    kernel = draw(
        kernels if kernels is not None else components("kernel", features=problem.X.shape[1])
    )
    return Refinable(sites, kernel, draw(components("likelihood")))


def differences(loss, point, h=1e-4):
    """Four points, as in the gradient laws of step 6."""

    def value(step):
        return loss(point + step)[0]

    return np.array(
        [
            (
                8.0 * (value(h * unit) - value(-h * unit))
                - (value(2.0 * h * unit) - value(-2.0 * h * unit))
            )
            / (12.0 * h)
            for unit in np.eye(len(point))
        ]
    )


def require_gradient(loss, point):
    value, gradient = loss(point)
    scale = np.abs(gradient).max() + 1e-4 * (1.0 + abs(value))
    np.testing.assert_allclose(gradient, differences(loss, point), rtol=0, atol=1e-6 * scale)


@settings(max_examples=60)
@given(refinables(), st.sampled_from([0.25, 1.0, 30.0]), st.sampled_from([0.0, 0.3, 1.0]))
def test_gradient_in_sites_and_hyperparameters_equals_differences(fitted, weight, caution):
    loss = JointLoss(fitted, weight, caution=caution)
    require_gradient(loss, loss.point(fitted))


SMOOTH = st.builds(
    SquaredExponential, variance=st.floats(0.3, 3.0), lengthscale=st.floats(0.3, 3.0)
)


@settings(max_examples=60)
@given(
    refinables(SMOOTH | st.builds(Sum, terms=st.tuples(SMOOTH, SMOOTH))),
    st.sampled_from([0.0, 0.3]),
)
def test_gradient_in_basis_inputs_equals_differences(fitted, caution):
    scale = np.full(fitted.sites.X.shape[1], 1.7)
    loss = JointLoss(fitted, 1.0, moves=True, scale=scale, caution=caution)
    require_gradient(loss, loss.point(fitted))


@settings(max_examples=60)
@given(refinables(), st.floats(0.1, 10.0))
def test_value_equals_dense_algebra(fitted, weight):
    sites, kernel = fitted.sites, fitted.kernel
    posterior = dense_posterior(kernel, sites.X, sites.basis, sites.precision, sites.mean)
    log_z = fitted.likelihood.moments(sites.y, posterior.mean, posterior.variance).log_z
    # KL(N(μ, S) ‖ N(0, K)) by its textbook form, of which only K needs an inverse: with the sites'
    # precisions Π, S⁻¹ = K⁻¹ + Π, so tr K⁻¹S = tr (I + ΠK)⁻¹, and μ = K w.
    K, Pi = kernel(sites.basis_inputs, sites.basis_inputs), np.diag(sites.precision)
    one = np.eye(len(K))
    w = np.linalg.solve(one + Pi @ K, Pi @ sites.mean)
    KL = 0.5 * (
        np.trace(np.linalg.inv(one + Pi @ K))
        - len(K)
        + w @ K @ w
        + np.linalg.slogdet(one + Pi @ K)[1]
    )
    wanted = -np.mean(log_z) + weight * KL / len(sites.y)
    loss = JointLoss(fitted, weight)
    assert loss(loss.point(fitted))[0] == pytest.approx(wanted, rel=1e-8)
    assert loss.value(fitted) == pytest.approx(wanted, rel=1e-8)


@settings(max_examples=60)
@given(refinables(), st.booleans())
def test_a_state_comes_back_from_its_vector(fitted, moves):
    loss = JointLoss(fitted, 1.0, moves=moves, scale=0.3)
    back = loss.state(loss.point(fitted))
    np.testing.assert_allclose(back.sites.precision, fitted.sites.precision)
    np.testing.assert_allclose(back.sites.mean, fitted.sites.mean, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(back.sites.basis_inputs, fitted.sites.basis_inputs, atol=1e-14)


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
    sites = FixedSites(X, y, np.array([0]), np.ones(1), np.ones(1), 10)
    loss = JointLoss(Refinable(sites, Bare(), Probit()), 1.0, moves=True)
    with pytest.raises(InputError, match="'bare' cannot be differentiated in its inputs"):
        loss(loss.point(loss.start))
    with pytest.raises(InputError, match="input_pullback"):
        input_pullback(Bare(), X, X, np.ones((3, 3)))
