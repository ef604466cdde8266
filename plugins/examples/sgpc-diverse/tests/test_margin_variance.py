"""What every selector must do, and what this one is for."""

import numpy as np
import pytest
import sgpc_framework as sgpc
from sgpc_framework.authors import Posterior, Steps, TrainingRows
from sgpc_framework.datasets import twonorm
from sgpc_framework.testing import parametrize_with_checks

from sgpc_diverse import MarginVariance


@parametrize_with_checks([MarginVariance(), MarginVariance(working_set=1)])
def test_conformance(check):
    check()


def posterior(X, y, block_rows: int = 8192) -> Posterior:
    """A posterior over rows that all are undecided and have variance one."""
    config = sgpc.build(kernel={"name": "squared-exponential", "lengthscale": 1.0}).config
    return TrainingRows.of(X, y, block_rows).posterior(config.kernel, config.likelihood, len(y))


def include(state: Posterior, row: int, coefficient: float) -> None:
    """Make a row a basis vector that takes nearly all of its variance."""
    state.include(state.candidates(np.array([row])), 0, Steps(coefficient, 0.99))


def frequencies(state: Posterior, draws: int = 4000) -> np.ndarray:
    """How often each row is drawn."""
    rng = np.random.default_rng(0)
    drawn = [MarginVariance(working_set=1).propose(state, rng)[0] for _ in range(draws)]
    return np.bincount(drawn, minlength=len(state)) / draws


def test_at_first_every_row_is_as_good_as_any():
    state = posterior(np.arange(5.0)[:, None] * 10, np.ones(5))
    np.testing.assert_allclose(frequencies(state), 0.2, atol=0.03)


def test_a_twin_of_a_basis_vector_is_hardly_ever_drawn():
    X = np.array([[0.0], [0.0], [50.0]])
    state = posterior(X, np.ones(3))
    include(state, 0, coefficient=0.0)
    assert frequencies(state)[1] < 0.02


@pytest.mark.parametrize("label", [-1.0, 1.0])
def test_a_confident_row_is_drawn_rarely_whether_right_or_wrong(label):
    # Row 1 is the basis vector's neighbour: its mean is large, and much of its variance is left.
    X = np.array([[0.0], [1.0], [50.0]])
    state = posterior(X, np.array([1.0, label, 1.0]))
    include(state, 0, coefficient=8.0)
    mean, variance = state.marginals()
    assert mean[1] > 4.0
    assert variance[1] > 0.5
    assert frequencies(state)[1] < 0.01


def test_blocks_make_no_difference_to_how_often_a_row_is_drawn():
    X = np.arange(6.0)[:, None]
    whole, blocks = posterior(X, np.ones(6)), posterior(X, np.ones(6), block_rows=2)
    for state in (whole, blocks):
        include(state, 2, coefficient=1.0)
    np.testing.assert_allclose(frequencies(whole), frequencies(blocks), atol=0.03)


def test_wrong_labels_do_little_harm():
    X, y = twonorm(1500, seed=3)
    labels = np.where(np.random.default_rng(3).random(500) < 0.15, -y[:500], y[:500])
    design = sgpc.build(selector="margin-variance", max_basis=20, max_iterations=3)
    model = design.fit(X[:500], labels)
    assert np.mean(model.predict(X[500:]) != y[500:]) < 0.07
