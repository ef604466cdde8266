"""How sure a figure is that is no mean: the same figure of rows that are drawn again.

A bootstrap draws n of the n rows with replacement. That is the same as giving each row a whole
number as its weight, so that a figure of weighted rows is computed for many draws at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import attrs
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Statistic = Callable[[Floats], Floats]
"""From weights of shape (draws, rows) to a figure for each draw."""

DRAWS = 1000
AT_ONCE = 2_000_000
"""So many weights are held at a time."""
FEWEST, MOST_WEIGHTS = 100, 10_000_000
"""Of very many rows, whose figures are sure enough, fewer draws are made."""


@attrs.frozen
class Interval:
    """A figure with its standard error, and the interval that has it nineteen times in twenty.

    ``low`` and ``high`` are by the basic bootstrap, 2 θ - q with q the upper and the lower quantile
    of the draws: a figure that noise only raises, such as a calibration error, is lowered again.
    """

    value: float
    error: float
    low: float
    high: float


def interval(
    statistic: Statistic,
    rows: int,
    *,
    least: float = -np.inf,
    most: float = np.inf,
    seed: int = 0,
) -> Interval:
    """The figure of all rows, with its interval, which stays between ``least`` and ``most``.

    >>> heights = np.array([1.0, 2.0, 3.0, 4.0])
    >>> mean = interval(lambda w: w @ heights / w.sum(axis=1), 4)
    >>> mean.value, 0.53 < mean.error < 0.59  # √(1.25 / 4) = 0.56
    (2.5, True)
    """
    value = float(statistic(np.ones((1, rows)))[0])
    draws = np.concatenate([statistic(weights) for weights in _weights(rows, seed)])
    draws = draws[np.isfinite(draws)]  # a draw may lack a class
    if len(draws) < 2 or not np.isfinite(value):
        return Interval(value, np.nan, np.nan, np.nan)
    low, high = np.quantile(draws, [0.025, 0.975])
    ends = np.clip([2.0 * value - high, 2.0 * value - low], least, most).tolist()
    return Interval(value, float(draws.std(ddof=1)), *ends)


def _weights(rows: int, seed: int) -> Iterator[Floats]:
    """How often each row is drawn, for some draws at a time."""
    rng = np.random.default_rng(seed)
    left = int(np.clip(MOST_WEIGHTS // rows, FEWEST, DRAWS))
    while left > 0:
        some = min(left, max(1, AT_ONCE // rows))
        drawn = rng.integers(rows, size=(some, rows))
        drawn += rows * np.arange(some)[:, None]
        counts = np.bincount(drawn.ravel(), minlength=some * rows)
        yield counts.reshape(some, rows).astype(np.float64)
        left -= some
