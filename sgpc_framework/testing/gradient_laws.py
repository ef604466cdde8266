"""Laws of gradients: what comes with a value is its derivative. Each docstring is the law."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from sgpc_framework.engine.trial import Trial
from sgpc_framework.parts.hyperparameters import FreeVector, values
from sgpc_framework.protocols import Floats, HyperObjective
from sgpc_framework.testing.differences import slope

if TYPE_CHECKING:  # they need Hypothesis, which the laws do not
    from sgpc_framework.testing.strategies import FittedState

STEP = 2e-4
"""Four points, the nearest at half of this, so that a kernel with a sharp bend costs no more than
h⁴. A difference of values is known to |value| 1e-16 / h = |value| 1e-12."""


def gradient_equals_differences(
    function: Callable[[Floats], tuple[float, Floats]], point: Floats
) -> None:
    """The gradient that a function of a vector returns beside its value is that of the value."""
    value, gradient = function(point)

    def along(unit: Floats) -> float:
        return float(slope(lambda t: function(point + t * unit)[0], STEP)[0])

    differences = np.array([along(unit) for unit in np.eye(len(point))])
    scale = np.abs(gradient).max(initial=0.0) + 1e-4 * (1.0 + abs(value))
    np.testing.assert_allclose(gradient, differences, rtol=0, atol=1e-6 * scale)


def objectives_have_exact_gradients(objective: HyperObjective, fitted: FittedState) -> None:
    """What step 6 minimises comes with its derivatives in the optimiser's free coordinates, for
    every kernel, every likelihood and any sites."""
    state, rows = fitted.state, fitted.rows

    def function(free: Floats) -> tuple[float, Floats]:
        loss = objective.loss(Trial.at(free, state, rows, state))
        assert loss is not None
        return loss.value, loss.gradient

    gradient_equals_differences(function, FreeVector.of(state).free(values(state)))
