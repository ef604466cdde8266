"""A fit that is stopped returns the best that it has."""

from __future__ import annotations

import numpy as np
import pytest

import sgpc_framework as sgpc
from sgpc_framework.datasets import waveform

X, y = waveform(200, seed=3)
PLAIN = {"max_basis": 10, "max_iterations": 3, "tolerance": 0.0}


class Until:
    """A watcher that has enough as soon as something is true, and is then told no more."""

    def __init__(self, enough):
        self.enough = enough
        self.seen = []

    def __call__(self, at):
        assert not any(map(self.enough, self.seen)), "it had enough before"
        self.seen.append(at)
        if self.enough(at):
            raise sgpc.StopFitting


def stopped(design, enough, **options):
    watch = Until(enough)
    model = sgpc.build(design, **options).fit(X, y, progress=watch)
    assert watch.enough(watch.seen[-1]), "it was never stopped"
    return model, watch.seen


def test_in_the_first_iteration_the_stages_so_far_are_the_model():
    model, _ = stopped(PLAIN, lambda at: at.basis == 4)
    whole = sgpc.build(PLAIN, objective="none").fit(X, y)
    assert len(model) == 4
    assert np.allclose(model.predict_proba(X), whole.truncated(4).predict_proba(X))
    assert model.trace.notes[-1] == "the fit was stopped in iteration 1, after stage 4"


def test_later_the_best_iteration_is_the_model():
    model, _ = stopped(PLAIN, lambda at: (at.iteration, at.basis) == (3, 4))
    whole = sgpc.build(PLAIN, max_iterations=2).fit(X, y)
    assert len(model.trace.iterations) == 2
    assert np.array_equal(model.predict_proba(X), whole.predict_proba(X))


def test_a_fit_stopped_in_its_stages_is_not_refined():
    model, seen = stopped("fast", lambda at: at.basis == 4, max_basis=10)
    assert all(at.refining is None for at in seen)
    assert model.sizes == (1, 2, 3, 4)


@pytest.mark.parametrize("design", ["fast", "accurate"])
def test_while_it_is_refined_the_best_so_far_is_kept(design):
    model, seen = stopped(design, lambda at: at.refining and at.refining.step == 3, max_basis=10)
    told = [at.refining for at in seen if at.refining]
    assert [r.step for r in told] == [1, 2, 3]
    assert told[0].steps >= 3
    assert told[0].loss > told[-1].loss
    plain = sgpc.build(design, max_basis=10, refiner="none").fit(X, y)
    whole = sgpc.build(design, max_basis=10).fit(X, y)
    record = model.trace.sizes[-1].predictive_loss
    assert whole.trace.sizes[-1].predictive_loss < record
    assert record < plain.trace.stages[-1].predictive_loss
    assert "cut short" in model.trace.notes[-1]


def test_expectation_propagation_can_be_stopped():
    model, seen = stopped(
        PLAIN, lambda at: at.refining and at.refining.step == 2, objective="none", refiner="ep"
    )
    assert [at.refining.step for at in seen if at.refining] == [1, 2]
    assert any("not converged after 2 sweeps" in note for note in model.trace.notes)


def test_while_sizes_are_tried_the_best_of_them_is_the_model():
    model, _ = stopped("fast", lambda at: at.max_basis == 20 and at.basis == 2, max_basis="auto")
    assert [record.size for record in model.trace.sizes] == [2, 40]
    assert len(model) == 40
    rows = [stage.row for stage in model.trace.stages]
    assert model.basis.tolist() == rows
    assert max(rows) > 160  # numbers among all rows, not among those that were not held out


def test_the_numbers_of_rows_are_those_of_the_whole_table():
    model, _ = stopped(PLAIN, lambda at: at.max_basis == 20, objective="none", max_basis="auto")
    assert np.array_equal(model.inputs, X[model.basis])


THREE = np.digitize(X[:, 10], [1.0, 3.0])


@pytest.mark.parametrize(
    ("n_jobs", "at_model", "sizes"),
    [
        (None, 1, [1, 0, 0]),
        (None, 2, [10, 1, 0]),
        (None, 3, [10, 10, 1]),
        (None, 4, [10, 10, 10]),
        (1, 2, [10, 10, 0]),
        (1, 5, [10, 10, 10]),
    ],
)
def test_of_many_models_those_that_there_are_are_kept(n_jobs, at_model, sizes):
    """In parallel a model is done when it is told of."""
    design = sgpc.build(PLAIN, objective="none", strategy="one-vs-rest")
    model = design.fit(X, THREE, progress=Until(lambda at: at.model == at_model), n_jobs=n_jobs)
    assert [len(one) for one in model.models] == sizes
    assert model.odds_share == 0.0
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    for position, one in enumerate(model.models):
        if not len(one):  # it knows how frequent its class is, and nothing else
            share = np.mean(position == THREE)
            np.testing.assert_allclose(one.predict_proba(X)[:, 1], share, atol=0.01)
            assert "stopped before this class" in one.trace.notes[0]


@pytest.mark.parametrize("refiner", ["none", "corrective"])
def test_other_exceptions_of_a_watcher_pass(refiner):
    def broken(at):
        if refiner == "none" or at.refining:
            raise RuntimeError("my mistake")

    with pytest.raises(RuntimeError, match="my mistake"):
        sgpc.build(PLAIN, refiner=refiner, max_iterations=1).fit(X, y, progress=broken)
