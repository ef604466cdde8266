"""A pass of ``distances`` as a compiled loop: the extra ``fast``."""

from __future__ import annotations

import numba
import numpy as np
from numba import float64, types
from numpy.typing import NDArray

from sgpc_framework.authors import compiler_options

Floats = NDArray[np.float64]

_row = types.Array(float64, 1, "C", readonly=True)  # takes a writable array as well


@numba.njit(types.void(float64[::1], _row, _row, float64), **compiler_options())
def add_norms(products: Floats, norms: Floats, nearly_zero: Floats, norm: float) -> None:
    for i in range(len(products)):
        squared = products[i] + norms[i] + norm
        products[i] = 0.0 if squared <= nearly_zero[i] else squared
