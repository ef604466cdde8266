"""Algorithm 1 in the browser is Algorithm 1 of the engine: the same basis, the same numbers."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import log_ndtr

import sgpc_framework as sgpc

KERNELS = ["squared-exponential", "matern-52", "matern-32", "matern-12"]
GREEDY = ["entropy", "information-gain", "most-violated", "conditional-variance"]
SAMPLING = ["adaptive-sampling", "random-sampling", "validation"]
FIT = """
    const fit = new algorithm1.Fit(given.X, given.y, given.settings);
    for (let t = 0; t < given.stages; t++) fit.stage();
    const grid = new algorithm1.Points(given.grid, fit.k);
    fit.steps.forEach((step) => grid.include(step));
    return {
        basis: fit.basis, trace: fit.trace, mean: [...grid.mean], variance: [...grid.variance],
        precision: fit.steps.map((step) => step.precision),
        sites: fit.steps.map((step) => step.mean),
        probability: [...grid.mean].map((m, i) => algorithm1.probability(m, grid.variance[i])),
    };
"""


class Replay:
    """Proposes what the browser has drawn, so that the engine chooses from the same rows."""

    name = "replay"

    def __init__(self, working_sets):
        self.working_sets = working_sets

    def propose(self, posterior, rng):
        return np.array(self.working_sets[posterior.size])


class ReplayValidation(Replay):
    def score(self, posterior, candidates, steps):
        def inactive(rows):
            return np.where(rows.active, 0.0, rows.log_z)

        return -posterior.total(inactive, candidates, steps)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(3)
    X = rng.uniform(-2.0, 2.0, size=(90, 2))
    y = np.where(np.sin(2.0 * X[:, 0]) + X[:, 1] + 0.4 * rng.normal(size=90) > 0.0, 1, -1)
    return X, y, rng.uniform(-3.0, 3.0, size=(40, 2))


def in_javascript(node, data, selector, kernel, working_set=2, stages=20):
    X, y, grid = data
    settings = {
        "selector": selector,
        "kernel": kernel,
        "lengthscale": 0.8,
        "variance": 1.3,
        "workingSet": working_set,
        "seed": 5,
    }
    given = {"X": X.tolist(), "y": y.tolist(), "grid": grid.tolist(), "stages": stages}
    return node(FIT, {**given, "settings": settings})


def in_python(data, selector, kernel, stages=20):
    X, y, _ = data
    kernel = {"name": kernel, "lengthscale": 0.8, "variance": 1.3}
    design = sgpc.build(
        kernel=kernel, selector=selector, objective="none", max_basis=stages, max_iterations=1
    )
    return design.fit(X, y)


def same(found, model, data):
    close = {"rtol": 1e-8, "atol": 1e-8}
    assert found["basis"] == model.basis.tolist()
    np.testing.assert_allclose(found["precision"], model.sites.precision, **close)
    np.testing.assert_allclose(found["sites"], model.sites.mean, **close)
    mean, variance = model.predict_latent(data[2])
    np.testing.assert_allclose(found["mean"], mean, **close)
    np.testing.assert_allclose(found["variance"], variance, **close)
    np.testing.assert_allclose(found["probability"], model.predict_proba(data[2])[:, 1], **close)
    losses = [stage["loss"] for stage in found["trace"][1:]]
    np.testing.assert_allclose(losses, model.trace.column("predictive_loss"), **close)
    errors = [stage["error"] for stage in found["trace"][1:]]
    np.testing.assert_allclose(errors, model.trace.column("training_error"))
    assert all(stage["error"] <= stage["bound"] for stage in found["trace"])


@pytest.mark.parametrize("selector", GREEDY)
def test_greedy_selectors_find_the_same_model(node, data, selector):
    found = in_javascript(node, data, selector, "squared-exponential")
    same(found, in_python(data, selector, "squared-exponential"), data)


@pytest.mark.parametrize("kernel", KERNELS)
def test_every_kernel_gives_the_same_model(node, data, kernel):
    same(in_javascript(node, data, "entropy", kernel), in_python(data, "entropy", kernel), data)


@pytest.mark.parametrize("selector", SAMPLING)
def test_the_best_of_the_same_working_set_is_the_same(node, data, selector):
    found = in_javascript(node, data, selector, "squared-exponential", working_set=7)
    drawn = [stage["candidates"] for stage in found["trace"][1:]]
    assert {len(rows) for rows in drawn} == {7}
    replay = (ReplayValidation if selector == "validation" else Replay)(drawn)
    same(found, in_python(data, replay, "squared-exponential"), data)


def test_adaptive_sampling_prefers_rows_that_are_wrong(node, data):
    """Of a thousand draws of one row, as many as its chance of error wants (eq. 11)."""
    chances = node(
        """
        const weights = [0.5, 0.3, 0.15, 0.05];
        const rows = weights.map((weight, index) => ({ index, logZ: Math.log1p(-weight) }));
        const random = algorithm1.generator(0), counts = [0, 0, 0, 0];
        for (let i = 0; i < 4000; i++) {
            const weight = algorithm1.SAMPLING["adaptive-sampling"].weight;
            counts[algorithm1.draw(rows, weight, 1, random)[0]] += 1 / 4000;
        }
        return counts;
        """
    )
    np.testing.assert_allclose(chances, [0.5, 0.3, 0.15, 0.05], atol=0.03)  # four deviations


def test_log_phi_holds_in_both_tails(node):
    z = np.concatenate([np.linspace(-40.0, 8.0, 481), [-1e8, -1e4, 30.0, 40.0]])
    found = node("return given.map((z) => algorithm1.logCdf(z))", z.tolist())
    np.testing.assert_allclose([each["value"] for each in found], log_ndtr(z), rtol=1e-11)
    assert all(0.0 <= each["bend"] < 1.0 for each in found)


def test_the_stages_end_when_every_row_is_in(node, data):
    few = data[0][:6], data[1][:6], data[2]
    found = in_javascript(node, few, "random-sampling", "matern-12", working_set=59, stages=9)
    assert sorted(found["basis"]) == list(range(6))
