"""What rounding may do to a variance, and what it may not.

A posterior variance is a difference, k(x, x) minus what the basis explains, and never negative in
exact arithmetic. Rounding can take it below zero by a few units in the last place of k(x, x).
That much is set to zero and counted. More means that the kernel is not positive semidefinite.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal

import attrs
import numpy as np
from numpy.typing import NDArray

from sgpc_framework.errors import NumericalError

Floats = NDArray[np.float64]

Storage = Literal["float64", "float32", "disk"]
"""How M is kept: ``disk`` has float64 in files that memory is mapped to."""


@attrs.frozen
class Rounding:
    """What rounding can do, in units of the prior variance.

    ``below_zero``   the most by which it can make a variance negative
    ``spent``        a row with less variance than this has nothing left to give
    ``smallest``     the least prior variance whose products M still has digits for
    """

    below_zero: float
    spent: float
    smallest: float = 0.0


ROUNDING: Mapping[Storage, Rounding] = {
    "float64": Rounding(1e-8, 1e-10),
    "float32": Rounding(1e-4, 1e-5, smallest=1e-30),
    "disk": Rounding(1e-8, 1e-10),
}


def settle(
    variance: Floats,
    prior: Floats,
    least: float | None = None,
    rounding: Rounding = ROUNDING["float64"],
) -> int:
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
    shares = -variance[below] / np.maximum(prior[below], np.finfo(np.float64).tiny)
    worst = float(np.max(shares))
    if worst > rounding.below_zero:
        of_worst = float(prior[below][shares.argmax()])
        if 0.0 < of_worst < rounding.smallest:
            raise NumericalError(
                f"a prior variance of {of_worst:.3g} is too small for an M in single precision, "
                f"which has digits down to {rounding.smallest:g}: set storage = 'float64', or give "
                "the features in smaller units"
            )
        raise NumericalError(
            f"a posterior variance fell to {-worst:.3g} times its prior variance, "
            "which rounding cannot explain: the kernel is not positive semidefinite there"
        )
    variance[below] = 0.0
    return int(np.count_nonzero(below))
