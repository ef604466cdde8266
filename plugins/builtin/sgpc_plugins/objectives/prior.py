"""The prior that holds hyperparameters near their start."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def normal_prior(displacement: Floats, width: float) -> tuple[float, Floats]:
    """Minus the log density of N(0, width² I) without its constant, and the gradient."""
    gradient = displacement / width**2
    return 0.5 * float(displacement @ gradient), gradient
