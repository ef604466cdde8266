"""Laws of the sizes that a model can be had in, whatever the refiner."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sgpc_framework as sgpc
from sgpc_framework.plugin.registry import default_registry
from sgpc_framework.testing.strategies import components, problems

REFINERS = default_registry().names("refiner")
SLOW = settings(max_examples=40)


@st.composite
def refined_fits(draw):
    """A problem, and a design with one pass of stages and a refiner at some sizes."""
    problem = draw(problems(min_rows=8))
    design = {
        "kernel": draw(components("kernel", features=problem.X.shape[1])),
        "likelihood": draw(components("likelihood")),
        "refiner": draw(st.sampled_from(REFINERS)),
        "objective": "none",
        "max_basis": draw(st.integers(1, 7).map(lambda n: 8 - n)),
        "sizes": sorted(draw(st.sets(st.integers(1, 8), min_size=1, max_size=4))),
        "seed": draw(st.integers(0, 9)),
    }
    return problem, sgpc.build(design)


@SLOW
@pytest.mark.filterwarnings("ignore::sgpc_framework.NumericalWarning")
@given(refined_fits())
def test_sizes_ascend_and_each_can_be_had(fit):
    problem, design = fit
    model = design.fit(problem.X, problem.y)
    assert list(model.sizes) == sorted(set(model.sizes))
    assert model.sizes[-1:] == ((len(model),) if len(model) else ())
    staged = list(model.staged_predict_proba(problem.X))
    assert len(staged) == len(model.sizes)
    for size, proba in zip(model.sizes, staged, strict=True):
        small = model.truncated(size)
        assert len(small) == size
        np.testing.assert_array_equal(small.basis, model.basis[:size])
        np.testing.assert_allclose(small.predict_proba(problem.X), proba, rtol=0, atol=1e-9)
    for other in {*range(-1, len(model) + 2)} - {*model.sizes}:
        with pytest.raises(sgpc.InputError):
            model.truncated(other)


@SLOW
@pytest.mark.filterwarnings("ignore::sgpc_framework.NumericalWarning")
@given(refined_fits())
def test_a_refined_size_is_a_fit_refined_at_that_size(fit):
    """The stages are the same, and the refiner starts from them with the same generator."""
    problem, design = fit
    model = design.fit(problem.X, problem.y)
    if model.smaller is None:
        return
    for size in model.sizes:
        alone = sgpc.build(design.config, max_basis=size, sizes=[]).fit(problem.X, problem.y)
        ours, theirs = (m.predict_proba(problem.X) for m in (model.truncated(size), alone))
        np.testing.assert_array_equal(ours, theirs)


@SLOW
@pytest.mark.filterwarnings("ignore::sgpc_framework.NumericalWarning")
@given(refined_fits())
def test_a_file_keeps_every_size_to_the_bit(fit):
    problem, design = fit
    model = design.fit(problem.X, problem.y)
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "m")
        loaded = sgpc.load(Path(folder) / "m")
    assert loaded.sizes == model.sizes
    assert loaded.trace.sizes == model.trace.sizes
    for ours, theirs in zip(
        loaded.staged_predict_proba(problem.X),
        model.staged_predict_proba(problem.X),
        strict=True,
    ):
        np.testing.assert_array_equal(ours, theirs)
