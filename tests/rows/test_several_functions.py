"""Several latent functions: a likelihood that factorises is as many models of one function each,
all with the same precisions."""

from __future__ import annotations

from typing import ClassVar

import attrs
import numpy as np
import pytest

import sgpc_framework as sgpc
from sgpc_framework import datasets
from sgpc_framework.algebra.sites import Steps
from sgpc_framework.engine.fit import fit
from sgpc_framework.engine.judging import paired_losses
from sgpc_framework.engine.slopes import RowMean, predictive_loss, slopes
from sgpc_framework.engine.trial import Trial
from sgpc_framework.model.model import Model
from sgpc_framework.parts.hyperparameters import FreeVector, hyperparameter, values
from sgpc_framework.protocols import Moments, RowLoss
from sgpc_framework.rows.state import State
from sgpc_framework.rows.training_rows import TrainingRows
from sgpc_framework.testing.gradient_laws import gradient_equals_differences
from sgpc_framework.testing.oracle import dense_posterior
from sgpc_plugins.kernels import SquaredExponential
from sgpc_plugins.likelihoods import Probit
from sgpc_plugins.refiners.corrective.joint_loss import JointLoss

CLASSES = range(3)
EXACT = {"rtol": 1e-9, "atol": 1e-9}


@attrs.frozen
class ThreeProbits:
    """log Z = Σ_c log Φ(y_c (slope f_c + bias) / ...), with y_c = +1 for the row's own class."""

    name: ClassVar[str] = "three-probits"
    slope: float = hyperparameter(1.3, bounds=(1e-3, 1e3))
    bias: float = hyperparameter(-0.4, bounds=(-10.0, 10.0), transform="identity")

    @property
    def functions(self):
        return 3

    def moments(self, y, mean, variance):
        one = Probit(self.slope, self.bias)
        each = [one.moments(sign(y, c), mean[c], variance) for c in CLASSES]
        log_z, alpha, nu = zip(*each, strict=True)
        return Moments(np.sum(log_z, axis=0), np.stack(alpha), np.stack(nu))

    def pullback(self, y, mean, variance, moments, cotangent):
        one = Probit(self.slope, self.bias)
        each = [(sign(y, c), mean[c], variance) for c in CLASSES]
        return sum(one.pullback(*at, one.moments(*at), cotangent) for at in each)


def sign(y, c):
    return np.where(y == c, 1.0, -1.0)


X = datasets.waveform(60, seed=2)[0]
Y = np.random.default_rng(0).integers(0, 3, size=60).astype(float)
KERNEL = SquaredExponential(variance=1.4, lengthscale=4.0)
BASIS = [3, 41, 17, 8]
COEFFICIENT = np.random.default_rng(1).normal(size=(4, 3))
SHARE = np.random.default_rng(2).uniform(0.1, 0.9, size=4)


def all_rows(block_rows):
    return TrainingRows.of(X, Y, block_rows)


def one_class(c, block_rows):
    return TrainingRows.of(X, sign(Y, c), block_rows)


def step(candidates, stage, c=None):
    """The step of a stage, for all functions or for one."""
    coefficient = COEFFICIENT[stage, :, None] if c is None else COEFFICIENT[stage, [c]]
    return Steps(coefficient, SHARE[stage] / candidates.at.variance)


def walked(posterior, c=None):
    sums = []
    for stage, row in enumerate(BASIS):
        candidates = posterior.candidates(np.array([row]))
        sums.append(posterior.include(candidates, 0, step(candidates, stage, c)).log_z)
    return posterior, sums


@pytest.fixture(params=[7, 1000], ids=["blocks", "one block"])
def together(request):
    return walked(all_rows(request.param).posterior(KERNEL, ThreeProbits(), 6))


@pytest.fixture
def alone():
    one = Probit(1.3, -0.4)
    return [walked(one_class(c, 1000).posterior(KERNEL, one, 6), c) for c in CLASSES]


def test_a_posterior_of_three_is_three_posteriors(together, alone):
    posterior, sums = together
    for f, (one, _) in enumerate(alone):
        mean, variance = posterior.marginals()
        np.testing.assert_allclose(mean[f], one.marginals()[0], **EXACT)
        np.testing.assert_allclose(variance, one.marginals()[1], **EXACT)
        for name in ("mean", "coefficient"):
            ours, theirs = (getattr(each.sites, name) for each in (posterior, one))
            np.testing.assert_allclose(ours[f], theirs, **EXACT)
            last = getattr(posterior.last_site, name)[f]
            assert last == pytest.approx(getattr(one.last_site, name), rel=1e-9)
        for name in ("precision", "shrinkage"):
            ours, theirs = (getattr(each.sites, name) for each in (posterior, one))
            np.testing.assert_allclose(ours, theirs, **EXACT)
    np.testing.assert_allclose(sums, np.sum([each for _, each in alone], axis=0), **EXACT)


def test_it_is_that_of_dense_algebra(together):
    posterior, _ = together
    state = posterior.state()
    mean, variance = posterior.marginals()
    for f in CLASSES:
        dense = dense_posterior(KERNEL, X, state.basis, state.precision, state.mean[f])
        np.testing.assert_allclose(mean[f], dense.mean, **EXACT)
        np.testing.assert_allclose(variance, dense.variance, **EXACT)


def test_trials_of_three_are_three_trials(together, alone):
    index = np.array([5, 20, 50])

    def tried(posterior, c=None):
        candidates = posterior.candidates(index)
        steps = [step(candidates[i], i, c) for i in range(3)]
        together = Steps(
            np.concatenate([each.coefficient for each in steps], axis=-1),
            np.concatenate([each.shrinkage for each in steps], axis=-1),
        )
        return posterior.total(lambda rows: rows.log_z, candidates, together)

    wanted = sum(tried(one, c) for c, (one, _) in enumerate(alone))
    np.testing.assert_allclose(tried(together[0]), wanted, **EXACT)


def state_of(c=None):
    """The state of the walk, of all functions or of one."""
    state = walked(all_rows(1000).posterior(KERNEL, ThreeProbits(), 6))[0].state()
    if c is None:
        return state
    return attrs.evolve(state, likelihood=Probit(1.3, -0.4), mean=state.mean[c])


def minus_log_z(rows):
    return RowLoss(-rows.log_z, d_log_z=-1.0)


@pytest.mark.parametrize("block_rows", [7, 1000])
def test_losses_and_slopes_add_up(block_rows):
    rows, ones = all_rows(block_rows), [one_class(c, block_rows) for c in CLASSES]
    each = [predictive_loss(state_of(c), ones[c]) for c in CLASSES]
    assert predictive_loss(state_of(), rows) == pytest.approx(sum(each), rel=1e-9)
    assert paired_losses([state_of()], rows).means[0] == pytest.approx(sum(each), rel=1e-9)
    by = slopes(RowMean(minus_log_z), state_of(), rows, inputs=True)
    single = [slopes(RowMean(minus_log_z), state_of(c), ones[c], inputs=True) for c in CLASSES]
    for name in ("value", "kernel", "likelihood", "inputs", "gram"):
        wanted = sum(getattr(one, name) for one in single)
        np.testing.assert_allclose(getattr(by, name), wanted, **EXACT)
    np.testing.assert_allclose(by.mean, np.stack([one.mean for one in single]), **EXACT)


def test_step_6_has_exact_gradients():
    state, rows = state_of(), all_rows(7)

    def function(free):
        loss = Trial.at(free, state, rows, state).mean(minus_log_z)
        return loss.value, loss.gradient

    gradient_equals_differences(function, FreeVector.of(state).free(values(state)))


@pytest.mark.parametrize("moves", [False, True])
def test_the_refiners_loss_of_three_is_three_losses(moves):
    rows = all_rows(7)
    state = state_of()
    loss = JointLoss(state, rows, 0.7, moves=moves, scale=1.7)
    point = loss.point(state)
    value, gradient = loss(point)
    pieces = loss.pieces(gradient)
    values_of, theta, log_precision, whitened, inputs = [], [], [], [], []
    for c in CLASSES:
        one = JointLoss(state_of(c), one_class(c, 7), 0.7, moves=moves, scale=1.7)
        each, slope = one(one.point(state_of(c)))
        by = one.pieces(slope)
        values_of.append(each)
        theta.append(by.theta)
        log_precision.append(by.log_precision)
        whitened.append(by.whitened)
        inputs.append(by.inputs)
    assert value == pytest.approx(sum(values_of), rel=1e-9)
    assert loss.value(state) == pytest.approx(value, rel=1e-9)
    np.testing.assert_allclose(pieces.theta, sum(theta), **EXACT)
    np.testing.assert_allclose(pieces.log_precision, sum(log_precision), **EXACT)
    np.testing.assert_allclose(pieces.whitened, np.concatenate(whitened), **EXACT)
    np.testing.assert_allclose(pieces.inputs, sum(inputs), **EXACT)


@pytest.mark.parametrize("moves", [False, True])
def test_its_gradient_equals_differences(moves):
    state = state_of()
    loss = JointLoss(state, all_rows(7), 0.7, moves=moves, scale=1.7)
    gradient_equals_differences(loss, loss.point(state))


def test_a_vector_comes_back_as_the_state():
    state = state_of()
    loss = JointLoss(state, all_rows(7), 1.0)
    back = loss.state(loss.point(state))
    np.testing.assert_allclose(back.precision, state.precision, **EXACT)
    np.testing.assert_allclose(back.mean, state.mean, **EXACT)


def test_a_prefix_of_a_state_is_one():
    state: State = state_of()[:2]
    assert len(state) == 2
    assert state.precision.shape == (2,)
    assert state.form().coefficient.shape == state.mean.shape == (3, 2)
    none = state[:0]
    assert len(none) == 0
    assert none.form().coefficient.shape == (3, 0)


def test_the_latent_functions_of_a_model_are_three():
    model = Model(np.array(["a", "b", "c"]), state_of(), trace=None)
    mean, variance = model.predict_latent(X)
    wanted = walked(all_rows(1000).posterior(KERNEL, ThreeProbits(), 6))[0].marginals()
    np.testing.assert_allclose(mean.T, wanted[0], **EXACT)
    np.testing.assert_allclose(variance.T, np.tile(wanted[1], (3, 1)), **EXACT)
    assert model.sites.mean.shape == (3, 4)
    functions = model.basis_functions(X)
    np.testing.assert_allclose(functions @ model.sites.coefficient.T, mean, **EXACT)


def test_a_model_of_three_can_be_had_in_every_size():
    model = Model(np.array(["a", "b", "c"]), state_of(), trace=None)
    staged = list(model.staged_predict_log_proba(X[:5]))
    assert len(staged) == 4
    for size, found in zip(model.sizes, staged, strict=True):
        small = model.truncated(size).predict_log_proba(X[:5])
        np.testing.assert_allclose(found, small, **EXACT)


def test_a_fit_of_three_that_is_stopped_has_the_stages_so_far():
    parts = {"kernel": KERNEL, "likelihood": ThreeProbits(), "objective": "none"}
    config = sgpc.build(parts, max_basis=6, block_rows=20).config

    def watch(at):
        if at.basis == 4:
            raise sgpc.StopFitting

    whole = fit(config, all_rows(20), lambda _: None).whole
    state = fit(config, all_rows(20), watch).whole
    assert state.precision.shape == (4,)
    assert state.mean.shape == (3, 4)
    np.testing.assert_array_equal(state.basis, whole.basis[:4])
