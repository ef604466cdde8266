"""Memory through the stages, an early end, and the same choices as a look at every row."""

import numpy as np
import pytest
import sgpc_framework as sgpc
from sgpc_framework.datasets import twonorm
from sgpc_framework.testing import parametrize_with_checks

from sgpc_diverse import LazyEntropy


@parametrize_with_checks([LazyEntropy(), LazyEntropy(pool=5, batch=2, least_gain=0.1)])
def test_conformance(check):
    check()


def fit(selector, X, y, **settings):
    settings = {"objective": "none", "max_basis": 25, **settings}
    return sgpc.build(selector=selector, **settings).fit(X, y)


def test_with_every_row_in_the_pool_it_does_what_entropy_does():
    X, y = twonorm(200, seed=3)
    lazy = fit(LazyEntropy(pool=200, batch=200), X, y)
    eager = fit("entropy", X, y)
    np.testing.assert_array_equal(lazy.basis, eager.basis)


def test_looking_at_a_few_rows_at_a_time_loses_little():
    X, y = twonorm(400, seed=1)
    X_new, y_new = twonorm(2000, seed=2)
    errors = [
        np.mean(fit(selector, X, y).predict(X_new) != y_new)
        for selector in (LazyEntropy(pool=400, batch=5), "entropy")
    ]
    assert errors[0] < errors[1] + 0.02


def test_the_stages_end_when_nothing_is_to_be_gained():
    X, y = twonorm(300, seed=1)
    model = fit(LazyEntropy(least_gain=0.05), X, y, max_basis=200)
    assert 5 < len(model) < 200
    assert model.trace.iterations[0].ended == (f"after {len(model)} stages the selector had enough")


@pytest.mark.filterwarnings("ignore:the model is no better than the class frequencies")
def test_no_row_is_taken_that_gains_less():
    X, y = twonorm(300, seed=1)
    for batch in (2, 8):
        assert len(fit(LazyEntropy(pool=8, batch=batch, least_gain=100.0), X, y)) == 0


def test_only_rows_of_the_pool_are_taken():
    X, y = twonorm(300, seed=1)
    model = fit(LazyEntropy(pool=8), X, y)
    assert len(model) <= 8
