"""Labels drawn from the prior, fitted with the true kernel: calibrated, and as good as can be.

The references are Markov chains and dense expectation propagation (``prior_draws``), of which only
the losses are kept. Each likelihood has a hundred thousand predictions.
"""

from __future__ import annotations

import json
from functools import cache

import numpy as np
import pytest
from prior_draws import (
    FUNCTIONS,
    LENGTHSCALE,
    PROBLEMS,
    REFERENCES,
    ROWS,
    TEST_ROWS,
    VARIANCE,
    problem,
    propagated_loss,
)

import sgpc_framework as sgpc
from sgpc_framework.metrics.merits import losses, reliability

KNOWN = json.loads(REFERENCES.read_text(encoding="utf-8"))
KERNEL = {"name": "matern-32", "variance": VARIANCE, "lengthscale": LENGTHSCALE}


REFINERS = {"probit": "ep", "logistic": "none", "multinomial-probit": "ep"}
"""One pass over the rows is enough for two classes. Several that share their precisions (their
calibration error is .05 after one pass) need sites that were fitted to each other."""

every_likelihood = pytest.mark.parametrize("likelihood", FUNCTIONS)


@cache
def predicted(likelihood):
    """Log probabilities and labels of all test rows of all problems, every row a basis vector."""
    design = sgpc.build(
        kernel=KERNEL,
        likelihood=likelihood,
        selector="entropy",
        objective="none",
        refiner=REFINERS[likelihood],
        max_basis=ROWS,
    )
    log_proba, truth = [], []
    for seed in range(PROBLEMS):
        given = problem(likelihood, seed)
        log_proba.append(design.fit(given.X, given.y).predict_log_proba(given.X_test))
        truth.append(given.y_test)
    return np.concatenate(log_proba), np.concatenate(truth)


@every_likelihood
def test_probabilities_come_true(likelihood):
    log_proba, truth = predicted(likelihood)
    assert len(truth) == PROBLEMS * TEST_ROWS >= 100_000
    assert reliability(np.exp(log_proba), truth).expected_calibration_error <= 0.02


@every_likelihood
def test_nobody_could_do_noticeably_better(likelihood):
    found = losses(*predicted(likelihood)).mean()
    assert abs(found - np.mean(KNOWN[likelihood]["sampled"])) <= 0.01


def test_two_classes_are_dense_expectation_propagation():
    each = losses(*predicted("probit")).reshape(PROBLEMS, TEST_ROWS).mean(axis=1)
    np.testing.assert_allclose(each, KNOWN["probit"]["propagated"], rtol=0, atol=1e-3)


def test_the_references_are_what_the_generator_makes():
    found = propagated_loss(problem("probit", 0))
    assert found == pytest.approx(KNOWN["probit"]["propagated"][0], abs=2e-5)


def test_a_wrong_kernel_is_noticed():
    """The judge can say no: a lengthscale a third as long loses more than the tolerance."""
    wrong = {**KERNEL, "lengthscale": LENGTHSCALE / 3.0}
    design = sgpc.build(kernel=wrong, selector="entropy", objective="none", max_basis=ROWS)
    found = []
    for seed in range(3):
        given = problem("probit", seed)
        log_proba = design.fit(given.X, given.y).predict_log_proba(given.X_test)
        found.append(losses(log_proba, given.y_test).mean())
    assert np.mean(found) - np.mean(KNOWN["probit"]["sampled"][:3]) > 0.01
