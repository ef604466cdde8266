"""Many classes as one model: what every part does with several latent functions."""

from __future__ import annotations

import numpy as np
import pytest

import sgpc_framework as sgpc
from sgpc_framework.plugin.registry import default_registry

RNG = np.random.default_rng(0)
CODES = np.arange(90) % 3
CENTRES = np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 3.0]])
X = CENTRES[CODES] + RNG.normal(size=(90, 2))
NAMES = np.array(["fox", "owl", "bee"])[CODES]
FAR = 1e6 * RNG.normal(size=(5, 2))
QUICK = {"name": "corrective", "penalty": 1.0, "iterations": 30}


def names(kind):
    registry = default_registry()
    return [name for name in registry.names(kind) if _built_in(registry, kind, name)]


def _built_in(registry, kind, name):
    return registry.get(kind, name).__module__.startswith("sgpc_plugins")


def check(model):
    """It is one model, its probabilities are such, and they know something."""
    assert isinstance(model, sgpc.Model)
    assert model.sites.mean.shape == (3, len(model))
    for inputs in (X, FAR):
        log_proba = model.predict_log_proba(inputs)
        assert np.isfinite(log_proba).all()
        np.testing.assert_allclose(np.exp(log_proba).sum(axis=1), 1.0, atol=1e-12)
        np.testing.assert_allclose(model.predict_proba(inputs), np.exp(log_proba), atol=1e-15)
    assert np.mean(model.predict(X) == NAMES) > 0.6


@pytest.mark.parametrize("selector", names("selector"))
def test_every_selector_can_do_it(selector):
    check(sgpc.build(selector=selector, objective="none", max_basis=8).fit(X, NAMES))


@pytest.mark.parametrize("sites", names("sites"))
def test_every_site_estimator_can(sites):
    check(sgpc.build(sites=sites, objective="none", max_basis=8).fit(X, NAMES))


@pytest.mark.parametrize("objective", names("objective"))
def test_every_objective_can(objective):
    check(sgpc.build(objective=objective, max_basis=8, max_iterations=2).fit(X, NAMES))


@pytest.mark.parametrize("refiner", names("refiner"))
def test_every_refiner_can(refiner):
    design = sgpc.build(refiner=refiner, objective="none", max_basis=6)
    check(design.fit(X, NAMES))


def test_sites_by_predictive_loss_beat_moment_matching_at_the_first_stage():
    first = [
        sgpc.build(sites=sites, objective="none", max_basis=1).fit(X, NAMES).trace.stages[0]
        for sites in ("predictive-loss", "moment-matching")
    ]
    assert first[0].row == first[1].row
    assert first[0].predictive_loss < first[1].predictive_loss


def test_expectation_propagation_makes_sites_agree():
    model = sgpc.build(refiner="ep", objective="none", max_basis=6).fit(X, NAMES)
    assert any("refiner ep: converged" in note for note in model.trace.notes)


def test_a_prediction_evaluates_the_kernel_once(monkeypatch):
    model = sgpc.build(objective="none", max_basis=6).fit(X, NAMES)
    calls = []
    kernel = type(model.kernel)
    plain = kernel.__call__

    def counted(self, *inputs):
        calls.append(len(inputs[1]))
        return plain(self, *inputs)

    monkeypatch.setattr(kernel, "__call__", counted)
    model.predict_proba(X)
    assert calls.count(90) == 1
    assert sum(calls) < 95  # but for a look at the first row


@pytest.mark.parametrize("refiner", ["none", QUICK])
def test_names_of_classes_do_not_matter(refiner):
    design = sgpc.build(refiner=refiner, objective="none", max_basis=6)
    order = np.array([2, 0, 1])
    one, other = design.fit(X, CODES), design.fit(X, order[CODES])
    np.testing.assert_array_equal(one.basis, other.basis)
    np.testing.assert_allclose(
        one.predict_proba(X), other.predict_proba(X)[:, order], rtol=1e-5, atol=1e-7
    )


def test_two_labels_make_one_latent_function():
    model = sgpc.build(max_basis=6, max_iterations=1).fit(X, CODES == 1)
    assert model.likelihood.name == "probit"
    assert model.sites.mean.shape == (6,)


def test_two_latent_functions_agree_with_one():
    """Of the refined models: the stages share information between the two functions."""
    two = sgpc.build(refiner=QUICK, objective="none", max_basis=6)
    one, both = (
        sgpc.build(two.config, likelihood=likelihood).fit(X, CODES == 1)
        for likelihood in ("probit", "multinomial-probit")
    )
    assert both.sites.mean.shape == (2, 6)
    apart = np.abs(one.predict_proba(X) - both.predict_proba(X))
    assert apart.mean() < 0.03


def test_a_likelihood_for_two_classes_makes_a_model_for_each():
    found = sgpc.build(likelihood="logistic", objective="none", max_basis=4).fit(X, NAMES)
    assert isinstance(found, sgpc.OneVsRest)


def test_a_fit_that_is_stopped_has_what_there_is():
    def stop(at):
        if at.basis == 4:
            raise sgpc.StopFitting

    model = sgpc.build(objective="none", max_basis=6).fit(X, NAMES, progress=stop)
    assert len(model) == 4
    assert model.predict_proba(X).shape == (90, 3)


def test_stopped_while_it_is_refined_it_has_the_best_so_far():
    def stop(at):
        if at.refining and at.refining.step == 3:
            raise sgpc.StopFitting

    design = sgpc.build(refiner={**QUICK, "iterations": 50}, objective="none", max_basis=6)
    model = design.fit(X, NAMES, progress=stop)
    loss = model.trace.sizes[-1].predictive_loss
    assert design.fit(X, NAMES).trace.sizes[-1].predictive_loss < loss
    assert loss < model.trace.stages[-1].predictive_loss
    assert "cut short" in model.trace.notes[-1]


def test_held_out_rows_choose_the_size():
    model = sgpc.build("fast", max_basis="auto").fit(X, NAMES)
    assert any('max_basis "auto" chose' in note for note in model.trace.notes)
    check(model)


def test_a_fit_can_start_where_another_ended():
    design = sgpc.build(max_basis=6, max_iterations=1)
    first = design.fit(X, NAMES)
    begun = design.fit(X, NAMES, start=first).trace.iterations[0].hyperparameters
    assert begun["kernel.lengthscale"] == first.kernel.lengthscale
    assert begun["likelihood.bias[1]"] == first.likelihood.bias[1]
    fewer = design.fit(X, CODES == 1, start=first).trace.iterations[0].hyperparameters
    assert fewer["kernel.lengthscale"] == first.kernel.lengthscale


def test_a_part_that_knows_one_function_is_told_what_to_do():
    class OneFunction:
        name = "one-function"

        def propose(self, posterior, rng):
            return posterior.argmin(lambda rows: -rows.nu)

    with pytest.raises(sgpc.PluginError, match=r"3 latent functions .* strategy = .one-vs-rest"):
        sgpc.build(selector=OneFunction(), objective="none", max_basis=2).fit(X, NAMES)
