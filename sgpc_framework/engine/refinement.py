"""What a refiner receives and returns."""

from __future__ import annotations

import attrs
import numpy as np
from numpy.typing import NDArray

from sgpc_framework.protocols import Inputs, Kernel, Likelihood

Floats = NDArray[np.float64]


@attrs.frozen(eq=False)
class Refinable:
    """A classifier and the rows it was fitted to.

    A refiner may change ``basis_inputs`` (not their number), ``precision``, ``mean``, ``kernel``
    and ``likelihood``, with ``attrs.evolve``; ``X`` and ``y`` (-1 or +1) are the training rows, and
    ``block_rows`` how many of them to process at a time.
    """

    X: Inputs
    y: Floats
    basis_inputs: Inputs
    precision: Floats
    mean: Floats
    kernel: Kernel
    likelihood: Likelihood
    block_rows: int
