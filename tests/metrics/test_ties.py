"""One rule for ties: the first class, whoever turns probabilities into labels or errors."""

from __future__ import annotations

import numpy as np
import pytest

import sgpc_framework as sgpc
from sgpc_framework.metrics.figures_of_merit import Merits
from sgpc_framework.metrics.merits import (
    confusion,
    error,
    most_probable,
    reliability_of_labels,
)
from sgpc_framework.metrics.predictions import Predictions
from sgpc_framework.metrics.staged_merits import StagedMerits

FIRST, SECOND = np.full(6, -1.0), np.full(6, 1.0)


@pytest.fixture(scope="module")
def model():
    X = np.random.default_rng(0).normal(size=(20, 2))
    return sgpc.build(max_basis=2, objective="none").fit(X, np.sign(X[:, 0]))


@pytest.fixture(scope="module")
def far():
    """Rows so far from all others that the kernel is 0 there, and both classes as probable."""
    return np.full((6, 2), 1e6)


def test_these_rows_are_ties(model, far):
    proba = model.predict_log_proba(far)
    np.testing.assert_array_equal(proba[:, 0], proba[:, 1])


def test_a_model_and_the_metrics_have_one_rule(model, far):
    log_proba = model.predict_log_proba(far)
    np.testing.assert_array_equal(model.predict(far), FIRST)
    for proba in (log_proba, model.predict_proba(far)):
        np.testing.assert_array_equal(model.classes[most_probable(proba)], FIRST)
    first, second = np.zeros(6, np.intp), np.ones(6, np.intp)
    assert (error(log_proba, first), error(log_proba, second)) == (0.0, 1.0)
    np.testing.assert_array_equal(confusion(log_proba, second), [[0, 0], [6, 0]])
    assert reliability_of_labels(np.exp(log_proba), second).observed == [0.0]


def test_many_classes_have_it_too():
    y = np.array(["c", "a", "b"] * 6)
    X = np.random.default_rng(0).normal(size=(18, 2))
    model = sgpc.build(max_basis=2, objective="none").fit(X, y)
    assert set(model.predict(np.full((3, 2), 1e6))) == {"a"}


def test_predictions_and_stages_have_it_too(model, far):
    assert Predictions.of(model, far, FIRST).merits.error == 0.0
    assert Predictions.of(model, far, SECOND).merits.error == 1.0
    np.testing.assert_array_equal(StagedMerits.of(model, far, SECOND).error, 1.0)


def test_the_benchmarks_have_it_too():
    peers = pytest.importorskip("benchmarks.peers", reason="benchmarks are not in a wheel")
    assert peers.merits(np.full(6, 0.5), FIRST).error == 0.0
    assert peers.merits(np.full(6, 0.5), SECOND).error == 1.0


def test_merits_count_ties_as_errors_of_the_second_class():
    assert Merits.of(np.log([[0.5, 0.5], [0.5, 0.5]]), np.array([0, 1])).error == 0.5
