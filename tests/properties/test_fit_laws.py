"""Laws of whole fits, whatever the parts they are composed of."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sgpc_framework as sgpc
from sgpc_framework import datasets
from sgpc_framework.plugin.registry import default_registry
from sgpc_framework.testing import fit_laws as laws
from sgpc_framework.testing.strategies import FitToMake, Problem, components, fits, likelihoods

SELECTORS = default_registry().names("selector")
STATIONARY = ["squared-exponential", "matern-12", "matern-32", "matern-52", "rational-quadratic"]
DRAWING = ("adaptive-sampling", "random-sampling", "validation", "pool")

greedy = components("selector").filter(lambda selector: selector.name not in DRAWING)


@settings(max_examples=150)
@given(fits())
def test_any_composition_gives_probabilities(made):
    laws.gives_probabilities(made)


@given(fits())
def test_the_training_error_never_exceeds_its_bound(made):
    laws.training_error_never_exceeds_its_bound(made)


@given(fits(objective="none"), st.integers(1, 8))
def test_truncated_equals_a_fit_stopped_there(made, stages):
    laws.truncated_equals_a_fit_stopped_there(made, stages)


@given(fits())
def test_the_additive_view_is_the_model(made):
    laws.the_additive_view_is_the_model(made)


@settings(max_examples=30)
@given(fits())
def test_same_seed_same_bits(made):
    laws.same_seed_same_bits(made)


@settings(max_examples=15)
@given(fits(), st.floats(0.0, 1.0))
def test_a_fit_that_was_killed_is_resumed_to_the_same_bits(made, share):
    laws.a_fit_that_was_killed_is_resumed_to_the_same_bits(made, share)


@pytest.mark.parametrize("selector", SELECTORS)
def test_same_bits_on_one_and_two_threads_at_sizes_where_blas_would_use_both(selector):
    design = sgpc.build(selector=selector, max_basis=12, max_iterations=2)
    laws.same_seed_same_bits(FitToMake(Problem(*datasets.waveform(1500, seed=3)), design))


@settings(max_examples=10)
@given(st.integers(0, 1000), st.sampled_from(STATIONARY), st.sampled_from(SELECTORS))
def test_what_must_not_matter_does_not(seed, kernel, selector):
    X, y = datasets.waveform(60, seed=seed)
    design = sgpc.build(kernel=kernel, selector=selector, max_basis=10, objective="none")
    laws.relabelling_changes_nothing(design, X, y)
    order = np.random.default_rng(seed).permutation(X.shape[1])
    laws.permuting_features_changes_nothing(design, X, y, order)
    laws.shifting_inputs_changes_nothing(design, X, y, by=1000.0)


@settings(max_examples=15)
@given(
    st.integers(0, 1000),
    st.sampled_from(STATIONARY),
    st.sampled_from(SELECTORS),
    st.lists(st.integers(-150, 150), min_size=21, max_size=21),
)
def test_units_do_not_matter(seed, kernel, selector, powers):
    X, y = datasets.waveform(60, seed=seed)
    each = {"name": kernel, "lengthscale": "median-per-feature"}
    design = sgpc.build(kernel=each, selector=selector, max_basis=10, objective="none")
    laws.rescaling_features_changes_nothing(design, X, y, np.array(powers))


@settings(max_examples=40)
@given(st.integers(0, 1000), st.sampled_from(STATIONARY), likelihoods(), greedy)
def test_block_size_hardly_matters(seed, kernel, likelihood, selector):
    """On data without ties, which rounding would break in one way or another."""
    design = sgpc.build(
        kernel=kernel, likelihood=likelihood, selector=selector, objective="none", max_basis=8
    )
    laws.blocks_hardly_matter(FitToMake(Problem(*datasets.waveform(40, seed=seed)), design))


@given(fits(), st.sampled_from([2, 5, 1000]))
def test_replaying_the_log_makes_the_same_states(made, block_rows):
    design = sgpc.build(made.design.config, block_rows=block_rows)
    laws.replaying_the_log_makes_the_same_states(FitToMake(made.problem, design))
