"""The selectors of the literature: what every selector must do, and what their formulas say."""

import numpy as np
import pytest
import sgpc_framework as sgpc
from sgpc_framework.authors import Steps, TrainingRows
from sgpc_framework.datasets import twonorm
from sgpc_framework.testing import parametrize_with_checks

from sgpc_diverse import (
    ActiveSet,
    GradientPursuit,
    KernelKmeans,
    MatchingPursuit,
    Novelty,
    PivotedCholesky,
    QualityDiversity,
    RidgeLeverage,
)

SELECTORS = [
    ActiveSet(),
    GradientPursuit(working_set=5),
    KernelKmeans(),
    MatchingPursuit(working_set=5),
    Novelty(),
    Novelty(tolerance=1e-6, batch=3),
    PivotedCholesky(),
    QualityDiversity(),
    RidgeLeverage(pool=20),
]


@parametrize_with_checks(SELECTORS)
def test_conformance(check):
    check()


@parametrize_with_checks([ActiveSet(), Novelty()], level="thorough")
def test_thorough_conformance(check):
    check()


def posterior(X, y, lengthscale=1.0):
    config = sgpc.build(kernel={"name": "squared-exponential", "lengthscale": lengthscale}).config
    return TrainingRows.of(X, y).posterior(config.kernel, config.likelihood, len(y))


def include(state, row, coefficient=0.3, shrinkage=0.9):
    state.include(state.candidates(np.array([row])), 0, Steps(coefficient, shrinkage))


@pytest.fixture
def state():
    X, y = twonorm(60, seed=2)
    made = posterior(X, y, lengthscale=4.0)
    for row in (3, 17, 40):
        include(made, row)
    return made


def test_the_pursuits_have_the_slope_and_curvature_of_nlp(state):
    candidates = state.candidates(np.array([0, 5, 9]))

    def nlp(t):
        steps = Steps(np.full(3, t), np.zeros(3))
        return -state.total(lambda rows: rows.log_z, candidates, steps)

    h = 1e-3
    slope, curvature = (nlp(h) - nlp(-h)) / (2 * h), (nlp(h) - 2 * nlp(0.0) + nlp(-h)) / h**2
    steps = Steps(np.zeros(3), np.zeros(3))
    found = MatchingPursuit().score(state, candidates, steps)
    np.testing.assert_allclose(found, -(slope**2) / (2 * curvature), rtol=1e-4)
    found = GradientPursuit().score(state, candidates, steps)
    np.testing.assert_allclose(found, -np.abs(slope) / np.sqrt(candidates.at.variance), rtol=1e-4)


def test_novelty_takes_no_row_in_the_span_of_the_basis():
    X = np.array([[0.0], [0.0], [50.0], [0.0], [50.0]])
    state = posterior(X, np.ones(5))
    rng = np.random.default_rng(0)
    memory = Novelty().begun(state, rng)
    taken = []
    while (row := Novelty().propose(state, rng, memory)) is not None:
        taken.append(float(X[row, 0]))
        include(state, row)
    assert sorted(taken) == [0.0, 50.0]


def test_kernel_kmeans_goes_where_no_basis_vector_is():
    X = np.concatenate([np.zeros(20), [50.0]])[:, None]
    state = posterior(X, np.ones(21))
    rng = np.random.default_rng(0)
    memory = KernelKmeans().begun(state, rng)
    include(state, 0)
    assert KernelKmeans().propose(state, rng, memory) == 20


def test_leverage_is_high_where_a_row_stands_alone():
    X = np.concatenate([np.zeros(200), [50.0]])[:, None]
    state = posterior(X, np.ones(201))
    first = [
        int(RidgeLeverage().begun(state, np.random.default_rng(seed))[0]) for seed in range(40)
    ]
    assert first.count(200) > 5


def test_the_active_set_is_done_when_nothing_is_predicted_badly():
    X, y = twonorm(200, seed=1)
    design = sgpc.build(selector=ActiveSet(threshold=0.51), objective="none", max_basis=150)
    model = design.fit(X, y)
    assert 2 < len(model) < 150
    assert "the selector had enough" in model.trace.iterations[0].ended


def test_quality_and_diversity():
    X = np.array([[0.0], [0.0], [1.0], [50.0]])
    state = posterior(X, np.array([1.0, 1.0, -1.0, 1.0]))
    include(state, 0, coefficient=2.0)
    assert QualityDiversity(quality=1e-6).propose(state, np.random.default_rng(0)) == 3
    assert QualityDiversity(quality=4.0).propose(state, np.random.default_rng(0)) == 2
