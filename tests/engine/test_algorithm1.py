"""Algorithm 1 as a whole: what it keeps, when it ends, and that it never dies."""

from __future__ import annotations

from typing import ClassVar

import attrs
import numpy as np
import pytest

import sgpc_framework as sgpc
from sgpc_framework import datasets
from sgpc_framework.engine.step6 import Judges
from sgpc_framework.engine.trial import Trial
from sgpc_framework.parts.hyperparameters import FreeVector, hyperparameter, values
from sgpc_framework.rows.training_rows import TrainingRows


@pytest.fixture(scope="module")
def waveform():
    return datasets.waveform(300, seed=5)


def test_the_best_iteration_is_kept(waveform):
    model = sgpc.build(max_basis=10, max_iterations=6, tolerance=0.0).fit(*waveform)
    losses = [iteration.loss for iteration in model.trace.iterations]
    assert len(losses) == 6
    assert model.trace.best == int(np.argmin(losses))
    best = model.trace.iterations[model.trace.best]
    assert best.reestimated["kernel.lengthscale"] == model.kernel.lengthscale
    assert best.reestimated["likelihood.bias"] == model.likelihood.bias
    assert [stage.row for stage in best.stages] == model.basis.tolist()
    np.testing.assert_array_equal([stage.precision for stage in best.stages], model.sites.precision)


def test_step_6_never_worsens_its_objective(waveform):
    for optimizer in ("l-bfgs-b", "conjugate-gradients"):
        design = sgpc.build(max_basis=10, max_iterations=4, tolerance=0.0, optimizer=optimizer)
        iterations = design.fit(*waveform).trace.iterations
        assert all(i.objective_after <= i.objective_before for i in iterations)
        assert any(i.objective_after < i.objective_before - 1e-3 for i in iterations)
        assert all(i.evaluations > 1 and i.seconds > 0 for i in iterations)


@attrs.frozen
class LittleVariance:
    """An objective that knows no labels: a kernel without variance has the least of it."""

    name: ClassVar[str] = "little-variance"

    def loss(self, trial):
        return trial.of_gram(lambda K, precision, mean: (float(K.sum()), np.ones_like(K)))


def test_where_objectives_of_bases_cannot_be_compared_the_rows_judge_step_6(waveform):
    model = sgpc.build(objective=LittleVariance(), max_basis=8, max_iterations=1).fit(*waveform)
    (only,) = model.trace.iterations
    assert only.objective_after < 0.5 * only.objective_before
    assert only.reestimated["kernel.variance"] < 0.5 * model.kernel.variance
    assert model.kernel.variance == only.hyperparameters["kernel.variance"]
    assert only.loss == pytest.approx(only.stages[-1].predictive_loss, rel=1e-9)


def test_the_trace_is_what_the_model_says(waveform):
    """NLP_a and the training error of every stage, recomputed from the model."""
    X, y = waveform
    model = sgpc.build(objective="none", max_basis=8).fit(X, y)
    column = (y > 0).astype(int)
    for stage, proba in zip(model.trace.stages, model.staged_predict_proba(X), strict=True):
        own = proba[np.arange(len(y)), column]
        assert stage.predictive_loss == pytest.approx(-np.mean(np.log(own)), rel=1e-10)
        assert stage.training_error == pytest.approx(np.mean(own <= 0.5), abs=1e-12)
    assert model.trace.column("row").astype(int).tolist() == model.basis.tolist()


def test_nlp_improves_along_the_stages(waveform):
    losses = (
        sgpc.build(objective="none", max_basis=20).fit(*waveform).trace.column("predictive_loss")
    )
    assert losses[-1] < 0.8 * losses[0]


def test_a_tolerance_ends_the_outer_loop(waveform):
    model = sgpc.build(max_basis=5, selector="entropy", tolerance=10.0).fit(*waveform)
    assert len(model.trace.iterations) == 2


def test_without_an_objective_the_hyperparameters_stay(waveform):
    kernel = {"name": "squared-exponential", "variance": 1.5, "lengthscale": 3.0}
    model = sgpc.build(kernel=kernel, objective="none", max_basis=5).fit(*waveform)
    assert (model.kernel.variance, model.kernel.lengthscale) == (1.5, 3.0)
    assert len(model.trace.iterations) == 1


def test_the_inner_loop_ends_when_nothing_is_left_and_says_so():
    X = np.zeros((6, 2))
    X[1], X[4] = [1.0, 0.0], [0.0, 2.0]
    y = np.array([1, -1, 1, -1, 1, -1])
    model = sgpc.build(kernel="linear", selector="entropy", max_basis=5).fit(X, y)
    assert sorted(model.basis.tolist()) == [1, 4]
    assert "2 stages" in model.trace.iterations[0].ended
    assert "variance" in model.trace.iterations[0].ended


def test_a_model_without_any_basis_vector_still_predicts():
    X, y = np.zeros((4, 2)), [0, 1, 0, 1]
    model = sgpc.build(kernel="linear").fit(X, y)
    assert len(model) == 0
    np.testing.assert_allclose(model.predict_proba(X), 0.5)
    assert list(model.staged_predict_proba(X)) == []


def test_max_basis_is_cut_to_the_rows_with_a_note():
    X, y = datasets.twonorm(6, seed=2)
    model = sgpc.build(max_basis=50, max_iterations=2).fit(X, y)
    assert len(model) == 6
    assert any("50" in note and "6" in note for note in model.trace.notes)


@attrs.frozen
class Indefinite:
    """A kernel that is not one: distances instead of similarities."""

    name: ClassVar[str] = "indefinite"
    variance: float = hyperparameter(1.0, bounds=(1e-3, 1e3))

    def __call__(self, X, Z):
        return self.variance * (1.0 + 5.0 * np.abs(X[:, :1] - Z[:, :1].T))

    def diag(self, X):
        return np.full(len(X), self.variance)


def test_a_numerical_failure_ends_with_the_best_model_and_a_warning():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((30, 1)), np.repeat([-1, 1], 15)
    with pytest.warns(sgpc.NumericalWarning) as caught:
        model = sgpc.build(kernel=Indefinite(), max_basis=10).fit(X, y)
    text = str(caught[0].message)
    assert "'indefinite'" in text
    assert "kernel.variance" in text
    assert "smallest pivot" in text
    assert np.all(np.isfinite(model.predict_proba(X[:3])))
    assert any("ended early" in note for note in model.trace.notes)


@attrs.frozen
class Brittle:
    """A linear kernel that does not exist above some variance."""

    name: ClassVar[str] = "brittle"
    variance: float = hyperparameter(1.0, bounds=(1e-3, 1e3))

    def __call__(self, X, Z):
        scale = np.nan if self.variance > 1.05 else self.variance
        return scale * (X @ Z.T)

    def diag(self, X):
        return self.variance * np.sum(X**2, axis=1)


def test_a_line_search_that_steps_where_the_kernel_is_nan_recovers(waveform):
    X, y = waveform
    model = sgpc.build(kernel=Brittle(), max_basis=10, max_iterations=3).fit(X / 10.0, y)
    assert model.kernel.variance <= 1.05
    assert np.all(np.isfinite(model.predict_proba(X / 10.0)))


def test_the_marginal_likelihood_does_not_run_away_at_small_bases():
    """The prior holds it; without one the same fit drifts to a model that predicts log 2."""
    X, y = datasets.waveform(1000, seed=1)

    def losses(prior_width):
        objective = {"name": "marginal-likelihood", "prior_width": prior_width}
        design = sgpc.build(objective=objective, selector="entropy", max_basis=40, max_iterations=6)
        model = design.fit(X, y)
        return [iteration.loss for iteration in model.trace.iterations]

    assert max(losses(0.5)) < 0.55
    assert max(losses(1e6)) > 0.65


def test_a_subset_of_the_rows_can_judge_the_hyperparameters():
    X, y = datasets.waveform(3000, seed=2)

    def fitted(subset, seed=0):
        objective = {"name": "nlp", "subset": subset}
        return sgpc.build(objective=objective, max_basis=20, max_iterations=4, seed=seed).fit(X, y)

    def nlp(model):
        X_new, y_new = datasets.waveform(2000, seed=3)
        own = model.predict_proba(X_new)[np.arange(2000), (y_new > 0).astype(int)]
        return -np.mean(np.log(own))

    everything, some = fitted(0), fitted(600)
    assert fitted(3000).kernel == everything.kernel
    assert some.kernel != everything.kernel
    assert fitted(600).kernel == some.kernel
    assert nlp(some) < nlp(everything) + 0.05


def test_the_loss_of_a_subset_is_that_of_its_rows():
    X, y = datasets.waveform(400, seed=2)
    model = sgpc.build(objective="none", max_basis=30).fit(X, y)
    objective = sgpc.build(objective={"name": "nlp", "subset": 250}).config.objective
    numbers, some = Judges.of(objective, TrainingRows.of(X, y, 64), seed=5)
    state = model.state.among(numbers)
    assert len(some) == len(set(numbers.tolist())) == 250
    np.testing.assert_array_equal(some.inputs(np.arange(250)), X[numbers])
    np.testing.assert_array_equal(some.labels(np.arange(250)), y[numbers])
    here = state.basis[state.basis >= 0]
    assert sorted(numbers[here]) == sorted(set(numbers) & set(model.basis))
    trial = Trial.at(FreeVector.of(state).free(values(state)), state, some, state)
    judged = [row for row in numbers if row not in model.basis]
    own = model.predict_proba(X)[np.arange(400), (y > 0).astype(int)]
    assert objective.loss(trial).value == pytest.approx(-np.mean(np.log(own[judged])), rel=1e-10)


def test_a_subset_as_large_as_the_data_is_all_rows():
    rows = TrainingRows.of(*datasets.waveform(40, seed=2))
    for subset in (0, 40, 41):
        objective = sgpc.build(objective={"name": "nlp", "subset": subset}).config.objective
        assert Judges.of(objective, rows, seed=5) is None


def test_progress_is_reported_after_every_stage(waveform):
    seen = []
    sgpc.build(max_basis=4, max_iterations=2, tolerance=0.0).fit(*waveform, progress=seen.append)
    assert [(p.iteration, p.basis) for p in seen] == [(i, b) for i in (1, 2) for b in (1, 2, 3, 4)]
