"""A row of weight w counts as w rows, wherever the mathematics says so."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from sgpc_framework import datasets
from sgpc_framework.engine.step6 import reestimate
from sgpc_framework.parts.hyperparameters import values
from sgpc_framework.protocols import Refined
from sgpc_framework.rows.training_rows import TrainingRows
from sgpc_framework.testing import weight_laws as laws
from sgpc_framework.testing.gradient_laws import (
    gradient_equals_differences,
    objectives_have_exact_gradients,
)
from sgpc_framework.testing.oracle import dense_posterior
from sgpc_framework.testing.strategies import (
    FittedState,
    Problem,
    Walk,
    fits,
    fitted_states,
    walks,
)
from sgpc_plugins.kernels import SquaredExponential
from sgpc_plugins.likelihoods import Probit
from sgpc_plugins.objectives import Nlp, PredictiveLoss
from sgpc_plugins.refiners import Corrective, Prune
from sgpc_plugins.refiners.corrective.joint_loss import JointLoss
from sgpc_plugins.sites import MomentMatching, PredictiveLossSites


@st.composite
def with_counts(draw, things, least=1):
    """Something with a problem, and how often each of its rows stands there."""
    thing = draw(things)
    rows = len(thing.problem.y)
    return thing, draw(npst.arrays(np.intp, rows, elements=st.integers(least, 4)))


@st.composite
def with_weights(draw, things):
    """Something with a problem, and weights of which some are zero, but not all of a class."""
    thing = draw(things)
    number = st.just(0.0) | st.floats(0.1, 5.0)
    weight = draw(npst.arrays(np.float64, len(thing.problem.y), elements=number))
    weight[:2] = 0.7, 1.9  # of either class
    return thing, weight


def weighted(fitted, weight):
    """The same with weights for its rows; those of weight zero are left out."""
    rows = TrainingRows.of(fitted.problem.X, fitted.problem.y, 5, weight=weight)
    numbers = np.flatnonzero(weight)
    return FittedState(fitted.problem, fitted.state.among(numbers), rows)


@settings(max_examples=30)
@given(fits())
def test_weights_of_one_change_no_bit(made):
    laws.weights_of_one_change_no_bit(made)


@settings(max_examples=50)
@given(with_weights(fits()))
def test_a_row_of_weight_zero_is_not_there(given):
    laws.a_row_of_weight_zero_is_not_there(*given)


@settings(max_examples=50)
@given(with_weights(fits()))
def test_the_weighted_training_error_never_exceeds_its_bound(given):
    laws.weighted_training_error_never_exceeds_its_bound(*given)


@settings(max_examples=50)
@given(with_counts(walks()))
def test_sums_are_those_of_repeated_rows(given):
    laws.sums_are_those_of_repeated_rows(*given)


@pytest.mark.parametrize("estimator", [MomentMatching(), PredictiveLossSites(tolerance=0.0)])
def test_sites_are_those_of_repeated_rows(estimator):
    """On rows where Newton's method is not about to be shortened by rounding."""
    X, y = datasets.waveform(40, seed=4)
    kernel = SquaredExponential(lengthscale=4.0)
    walk = Walk(Problem(X, y), TrainingRows.of(X, y).posterior(kernel, Probit(), 3), [])
    laws.sites_hear_weights_as_repeated_rows(estimator, walk, np.resize([1, 3, 2], 40))


@settings(max_examples=50)
@given(with_counts(fitted_states()))
def test_losses_are_those_of_repeated_rows(given):
    laws.losses_are_those_of_repeated_rows(*given)


@settings(max_examples=30)
@given(with_counts(fitted_states()))
def test_the_objective_is_that_of_repeated_rows(given):
    laws.objectives_hear_weights_as_repeated_rows(PredictiveLoss(), *given)


@pytest.mark.parametrize("objective", [PredictiveLoss(), Nlp()])
@settings(max_examples=30)
@given(with_weights(fitted_states()))
def test_gradients_of_weighted_objectives_equal_differences(objective, given):
    objectives_have_exact_gradients(objective, weighted(*given))


@settings(max_examples=30)
@given(with_weights(fitted_states()), st.sampled_from([0.0, 0.3]))
def test_the_gradient_of_a_weighted_joint_loss_equals_differences(given, elbo_share):
    fitted = weighted(*given)
    loss = JointLoss(fitted.state, fitted.rows, 1.0, elbo_share)
    gradient_equals_differences(loss, loss.point(fitted.state))


@settings(max_examples=40)
@given(with_weights(fitted_states()), st.floats(0.1, 10.0), st.floats(0.5, 20.0))
def test_dense_algebra_says_what_weights_and_their_scale_do(given, penalty, scale):
    """-Σ w log Z / Σ w + penalty · KL / Σ w: twice the weights is half the penalty."""
    fitted, weight = given
    state, X, y = fitted.state, fitted.problem.X, fitted.problem.y
    dense = dense_posterior(state.kernel, X, state.basis, state.precision, state.mean)
    log_z = state.likelihood.moments(y, dense.mean, np.maximum(dense.variance, 0.0)).log_z
    mean = -np.sum(weight * log_z) / weight.sum()

    def value(weights, at):
        here = weighted(fitted, weights)
        return JointLoss(here.state, here.rows, at).value(here.state)

    without = value(weight, 1e-300)
    assert without == pytest.approx(mean, rel=1e-7)
    one = value(weight, penalty) - without
    scaled = value(scale * weight, penalty) - without
    assert scaled == pytest.approx(one / scale, rel=1e-6, abs=1e-12)


def _stages(counts):
    """A state of some stages, and the rows it is to be improved on: weighted, and repeated."""
    X, y = datasets.twonorm(40, seed=2)
    rows = TrainingRows.of(X, y)
    posterior = rows.posterior(SquaredExponential(lengthscale=5.0), Probit(), 6)
    for row in (3, 9, 17, 22, 30, 38):
        candidates = posterior.candidates(np.array([row]))
        posterior.include(candidates, 0, MomentMatching().estimate(posterior, candidates)[0])
    return posterior.state(), *laws.weighted_and_repeated(Problem(X, y), counts, 1000)


def test_step_6_ends_where_it_does_with_repeated_rows():
    state, few, many = _stages(np.resize([1, 2, 4], 40))
    ours, theirs = (
        reestimate(PredictiveLoss(), state, rows, state, "l-bfgs-b", 20) for rows in (few, many)
    )
    np.testing.assert_allclose(values(ours.state), values(theirs.state), rtol=1e-6)
    assert ours.loss == pytest.approx(theirs.loss, rel=1e-9)


@pytest.mark.parametrize(
    "refiner", [Corrective(penalty=1.0, batches=10, iterations=15), Prune(price=3.0)]
)
def test_a_refiner_ends_where_it_does_with_repeated_rows(refiner):
    """With a penalty that held-out rows need not choose: which rows those are is chance."""
    state, few, many = _stages(np.resize([1, 2, 4], 40))
    ends: list[Refined] = []
    for rows in (few, many):
        numbered = state if rows is few else state.among(np.empty(0, dtype=np.intp))
        rng = np.random.default_rng(0)
        ends.append(refiner.refine(numbered, rows, rng, lambda _: True))
    ours, theirs = ends
    assert refiner.loss(ours.state, few) < refiner.loss(state, few) - 1e-3
    assert refiner.loss(ours.state, few) == pytest.approx(
        refiner.loss(theirs.state, many), rel=1e-6
    )
    np.testing.assert_allclose(ours.state.inputs, theirs.state.inputs, atol=1e-4)
    np.testing.assert_allclose(ours.state.mean, theirs.state.mean, rtol=1e-3, atol=1e-3)


def test_weights_are_heard():
    """Where the labels disagree, the class that counts more wins."""
    X, y = np.zeros((20, 1)), np.resize([-1.0, 1.0], 20)
    X[:] = np.linspace(0.0, 0.1, 20)[:, None]
    rows = [TrainingRows.of(X, y, weight=np.where(y > 0, w, 1.0)) for w in (0.2, 5.0)]
    kernel = SquaredExponential(lengthscale=1.0, variance=4.0)
    losses = []
    for each in rows:
        posterior = each.posterior(kernel, Probit(), 1)
        candidates = posterior.candidates(np.array([0]))
        step = PredictiveLossSites().estimate(posterior, candidates)
        posterior.include(candidates, 0, step[0])
        losses.append(posterior.marginals()[0].mean())
    assert losses[0] < -0.3
    assert losses[1] > 0.3
