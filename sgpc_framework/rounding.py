"""What rounding may do to a variance, and what it may not.

A posterior variance is a difference, k(x, x) minus what the basis explains, and never negative in
exact arithmetic. Rounding can take it below zero by a few units in the last place of k(x, x).
That much is set to zero and counted. More means that the kernel is not positive semidefinite.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from sgpc_framework.errors import NumericalError

Floats = NDArray[np.float64]

ROUNDING = 1e-8
"""The most, relative to the prior variance, by which rounding can make a variance negative."""

SPENT = 1e-10
"""A row whose variance is below this fraction of its prior variance has nothing left to give."""


def settle(variance: Floats, prior: Floats, least: float | None = None) -> int:
    """Set to zero, in place, what rounding took below zero; return how many rows that were.

    ``least`` is the smallest of the variances, for those who know it already.
    """
    if least is None:
        least = float(variance.min(initial=0.0))
    if not math.isfinite(least):
        raise NumericalError("a posterior variance is not finite")
    if least >= 0.0:
        return 0
    below = variance < 0.0
    worst = float(np.max(-variance[below] / np.maximum(prior[below], np.finfo(np.float64).tiny)))
    if worst > ROUNDING:
        raise NumericalError(
            f"a posterior variance fell to {-worst:.3g} times its prior variance, "
            "which rounding cannot explain: the kernel is not positive semidefinite there"
        )
    variance[below] = 0.0
    return int(np.count_nonzero(below))
