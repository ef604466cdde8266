"""Laws of the sizes that a model can be had in, whatever the refiner."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sgpc_framework as sgpc
from sgpc_framework.plugin.registry import default_registry
from sgpc_framework.testing import fit_laws as laws
from sgpc_framework.testing.strategies import FitToMake, components, likelihoods, problems

REFINERS = default_registry().names("refiner")
SLOW = settings(max_examples=40)

pytestmark = pytest.mark.filterwarnings("ignore::sgpc_framework.NumericalWarning")


@st.composite
def refined_fits(draw):
    """A problem, and a design with one pass of stages and a refiner at some sizes."""
    problem = draw(problems(min_rows=8))
    design = {
        "kernel": draw(components("kernel", features=problem.X.shape[1])),
        "likelihood": draw(likelihoods()),
        "refiner": draw(st.sampled_from(REFINERS)),
        "objective": "none",
        "max_basis": draw(st.integers(1, 7).map(lambda n: 8 - n)),
        "sizes": sorted(draw(st.sets(st.integers(1, 8), min_size=1, max_size=4))),
        "seed": draw(st.integers(0, 9)),
    }
    return FitToMake(problem, sgpc.build(design))


@SLOW
@given(refined_fits())
def test_sizes_ascend_and_each_can_be_had(made):
    laws.sizes_ascend_and_each_can_be_had(made)


@SLOW
@given(refined_fits())
def test_a_refined_size_is_a_fit_refined_at_that_size(made):
    laws.a_refined_size_is_a_fit_refined_at_that_size(made)


@SLOW
@given(refined_fits())
def test_a_file_keeps_every_size_to_the_bit(made):
    laws.a_file_keeps_every_size_to_the_bit(made)


@SLOW
@given(refined_fits(), st.sampled_from([2, 5, 1000]))
def test_replaying_the_log_makes_the_same_states(made, block_rows):
    design = sgpc.build(made.design.config, block_rows=block_rows)
    laws.replaying_the_log_makes_the_same_states(FitToMake(made.problem, design))
