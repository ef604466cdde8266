"""The corrective refiner's function: its relative entropy by dense algebra, its gradient."""

from __future__ import annotations

import attrs
import numpy as np
import pytest

from sgpc_framework.engine.slopes import predictive_loss
from sgpc_framework.parts.hyperparameters import values
from sgpc_framework.rows.state import State
from sgpc_framework.rows.training_rows import TrainingRows
from sgpc_plugins.kernels import Matern52
from sgpc_plugins.likelihoods import MultinomialProbit, Probit
from sgpc_plugins.refiners.corrective.joint_loss import PRECISION_UNIT, JointLoss

rng = np.random.default_rng(8)
X = rng.normal(size=(14, 2))
TWO = np.where(X[:, 0] > 0.0, 1.0, -1.0)
THREE = rng.integers(0, 3, size=14).astype(np.float64)
BASIS = np.array([1, 8, 5, 2])
PRECISION = np.array([0.4, 3.0, 1.2, 0.9])


def problem(functions: int, weight=None) -> tuple[State, TrainingRows]:
    several = functions > 1
    kernel = Matern52(variance=1.4, lengthscale=(0.9, 1.6))
    likelihood = MultinomialProbit((0.2, -0.1, 0.0)) if several else Probit(1.2, 0.1)
    mean = rng.normal(size=(functions, 4) if several else 4)
    state = State(kernel, likelihood, BASIS, X[BASIS], PRECISION, mean)
    return state, TrainingRows.of(X, THREE if several else TWO, weight=weight)


def relative_entropy(state: State) -> float:
    """KL(q(u) || p(u)) of Gaussians as the book has it, over the latent functions."""
    K = state.gram()
    C = np.linalg.inv(np.linalg.inv(K) + np.diag(state.precision))
    total = 0.0
    for mean in np.atleast_2d(state.mean):
        m = C @ (state.precision * mean)
        ratio = np.linalg.solve(K, C)
        total += np.trace(ratio) - len(m) + m @ np.linalg.solve(K, m)
        total -= np.linalg.slogdet(ratio)[1]
    return 0.5 * total


@pytest.mark.parametrize("functions", [1, 3])
@pytest.mark.parametrize("weight", [None, rng.gamma(2.0, size=14)], ids=["alike", "weighed"])
def test_is_the_loss_and_the_relative_entropy(functions, weight):
    state, rows = problem(functions, weight)
    n = 14.0 if weight is None else weight.sum()
    wanted = predictive_loss(state, rows) + 0.6 * relative_entropy(state) / n
    loss = JointLoss(state, rows, 0.6)
    assert loss.value(state) == pytest.approx(wanted, rel=1e-10)
    assert loss(loss.point(state))[0] == pytest.approx(wanted, rel=1e-10)
    few = rows.subset(np.arange(7))
    share = few.total_weight / n
    alone = predictive_loss(state, few) + share * 0.6 * relative_entropy(state) / few.total_weight
    assert loss.on(few).value(state) == pytest.approx(alone, rel=1e-10)


@pytest.mark.parametrize("functions", [1, 3])
@pytest.mark.parametrize("moves", [False, True])
def test_the_vector_of_a_state_is_that_state(functions, moves):
    state, rows = problem(functions)
    scale = np.array([0.5, 2.0])
    loss = JointLoss(state, rows, 1.0, moves=moves, scale=scale)
    point = loss.point(state)
    back = loss.state(point)
    for name in ("precision", "mean", "inputs", "basis"):
        np.testing.assert_allclose(getattr(back, name), getattr(state, name), rtol=1e-9)
    np.testing.assert_allclose(values(back), values(state), rtol=1e-12)
    pieces = loss.pieces(point)
    np.testing.assert_allclose(np.exp(PRECISION_UNIT * pieces.log_precision), PRECISION)
    wanted = (state.inputs / scale).ravel() if moves else np.empty(0)
    np.testing.assert_allclose(pieces.inputs, wanted)
    unit = JointLoss(state, rows, 1.0, moves=True)
    np.testing.assert_allclose(unit.pieces(unit.point(state)).inputs, state.inputs.ravel())


@pytest.mark.parametrize("functions", [1, 3])
@pytest.mark.parametrize("elbo_share", [0.0, 0.3])
@pytest.mark.parametrize("moves", [False, True])
def test_gradient_equals_differences(functions, elbo_share, moves):
    state, rows = problem(functions, np.linspace(0.5, 2.0, 14))
    scale = np.array([0.5, 2.0])
    loss = JointLoss(state, rows, 0.8, elbo_share, moves=moves, scale=scale)
    point = loss.point(attrs.evolve(state, precision=1.3 * state.precision))
    value, gradient = loss(point)
    assert value == pytest.approx(loss.value(loss.state(point)), rel=1e-10)
    step = 1e-5
    for i in range(len(point)):
        away = np.zeros_like(point)
        away[i] = step
        slope = (loss(point + away)[0] - loss(point - away)[0]) / (2.0 * step)
        assert gradient[i] == pytest.approx(slope, rel=1e-5, abs=1e-7), i
