"""Exact gradients equal central differences: every objective, kernel and likelihood."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sgpc_framework.engine.slopes import FixedSites
from sgpc_framework.engine.step6 import Theta
from sgpc_framework.parts.hyperparameters import FreeVector, replaced, values
from sgpc_framework.plugin.registry import default_registry
from sgpc_framework.testing.strategies import components, problems

OBJECTIVES = [name for name in default_registry().names("objective") if name != "none"]


@st.composite
def fixed_sites(draw):
    """A training set, a basis in it, arbitrary sites, and hyperparameters."""
    problem = draw(problems(min_rows=4))
    rows = len(problem.y)
    basis = draw(st.lists(st.integers(0, rows - 1), min_size=1, max_size=5, unique=True))
    numbers = st.lists(st.floats(0.05, 5.0), min_size=len(basis), max_size=len(basis))
    sites = FixedSites(
        X=problem.X,
        y=problem.y,
        basis=np.array(basis, dtype=np.intp),
        precision=np.array(draw(numbers)),
        mean=np.array(draw(numbers)) * problem.y[basis],
        block_rows=draw(st.sampled_from([2, 1000])),
    )
    kernel = draw(components("kernel", features=problem.X.shape[1]))
    return sites, Theta(kernel, draw(components("likelihood")))


@pytest.mark.parametrize("name", OBJECTIVES)
@settings(max_examples=60)
@given(fixed_sites())
def test_gradient_equals_differences(name, drawn):
    sites, theta = drawn
    objective = default_registry().get("objective", name)()
    box = FreeVector.of(theta)
    natural = values(theta)
    _, gradient = sites.value_and_gradient(objective, theta.kernel, theta.likelihood)
    gradient = box.chain(natural, gradient)

    def value(free):
        moved = replaced(theta, box.natural(free))
        return sites.value_and_gradient(objective, moved.kernel, moved.likelihood)[0]

    # Four points, so that a kernel with a sharp bend costs no more than h⁴. A difference of values
    # is known to |value| 1e-16 / h = |value| 1e-12.
    free, h = box.free(natural), 1e-4
    differences = np.array(
        [
            (
                8.0 * (value(free + h * unit) - value(free - h * unit))
                - (value(free + 2.0 * h * unit) - value(free - 2.0 * h * unit))
            )
            / (12.0 * h)
            for unit in np.eye(len(free))
        ]
    )
    scale = np.abs(gradient).max() + 1e-4 * (1.0 + abs(value(free)))
    np.testing.assert_allclose(gradient, differences, rtol=0, atol=1e-6 * scale)
