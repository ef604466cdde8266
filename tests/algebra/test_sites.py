"""Steps of one candidate or of some, for one latent function or for several."""

from __future__ import annotations

import numpy as np
import pytest

from sgpc_framework.algebra.sites import Steps

ONE = Steps([1.0, 2.0, 3.0], [0.1, 0.2, 0.3])
TWO = Steps(np.arange(6.0).reshape(2, 3), np.ones((2, 3)))


@pytest.mark.parametrize("which", [0, 2, -1, -3, np.intp(1), np.intp(-1)])
@pytest.mark.parametrize("steps", [ONE, TWO])
def test_the_step_of_a_candidate_is_one_step(steps, which):
    one = steps[which]
    assert len(one) == 1
    np.testing.assert_array_equal(one.coefficient[..., 0], steps.coefficient[..., which])
    np.testing.assert_array_equal(one.shrinkage[..., 0], steps.shrinkage[..., which])


@pytest.mark.parametrize("which", [slice(1, 3), np.array([2, 0])])
@pytest.mark.parametrize("steps", [ONE, TWO])
def test_some_steps_are_as_many(steps, which):
    some = steps[which]
    assert len(some) == 2
    np.testing.assert_array_equal(some.coefficient, steps.coefficient[..., which])
