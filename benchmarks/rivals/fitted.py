"""What a rival has learnt at some point of its fit."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np


class Fitted(NamedTuple):
    """The probability of each class for given rows (a column each), what one would pickle to
    predict elsewhere, and after how many steps it was, of a method that has steps."""

    predict: Callable[[np.ndarray], np.ndarray]
    state: object
    steps: int | None = None
