"""Adam: descending in a box by gradients that are seen through a few rows at a time.

    m ← β₁ m + (1 - β₁) g        v ← β₂ v + (1 - β₂) g²
    x ← x - rate · m̂ / (√v̂ + ε)

where m̂ and v̂ are m and v without the bias of their start at zero (Kingma and Ba, 2015). The rate
rises over the first steps and then falls to zero in a straight line, so that the noise of the
gradients has died out at the end. That noise is also what carries the search out of poor minima.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from sgpc_framework.errors import NumericalError

Floats = NDArray[np.float64]

BETA_1, BETA_2, EPSILON = 0.9, 0.99, 1e-10
"""How long m and v remember; v for a hundred steps, because there are only some hundreds."""

RISE = 20
"""Over how many steps the rate rises."""

RETREATS = 8
"""How often the search may come to where the function does not exist. It then goes back to the last
point where it did, and goes on from there more slowly."""


def descend(
    function: Callable[[Floats], tuple[float, Floats]],
    start: Floats,
    lower: Floats,
    upper: Floats,
    steps: int,
    rate: float,
    go_on: Callable[[int, float], bool] = lambda step, value: True,
) -> Floats:
    """Where ``steps`` evaluations lead from ``start``; each may see other rows.

    ``go_on`` is asked after each with its number and the value.
    """
    point = sound = np.clip(start, lower, upper)
    m, v = np.zeros_like(point), np.zeros_like(point)
    age = retreats = 0
    for step in range(1, steps + 1):
        try:
            value, gradient = _finite(*function(point))
        except NumericalError:
            retreats += 1
            if retreats > RETREATS:
                break
            point, rate = sound, 0.5 * rate
            m, v, age = np.zeros_like(point), np.zeros_like(point), 0
            continue
        sound, age = point, age + 1
        if not go_on(step, value):
            break
        m += (1.0 - BETA_1) * (gradient - m)
        v += (1.0 - BETA_2) * (gradient**2 - v)
        direction = (m / (1.0 - BETA_1**age)) / (np.sqrt(v / (1.0 - BETA_2**age)) + EPSILON)
        pace = rate * min(1.0, age / RISE) * (1.0 - step / steps)
        point = np.clip(point - pace * direction, lower, upper)
    return sound


def _finite(value: float, gradient: Floats) -> tuple[float, Floats]:
    if not (np.isfinite(value) and np.all(np.isfinite(gradient))):
        raise NumericalError(f"value {value}, gradient {gradient}")
    return value, gradient
