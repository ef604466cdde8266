"""Drawing rows in proportion to weights that nobody gathers.

Every block draws for itself, as if its rows arrived at a counter at the rate of their weights, and
says when each of its first few arrived. The earliest of all blocks are the draw: a row is first
with a probability in proportion to its weight, wherever the blocks are. Who has arrived before does
not count again, so that this is a draw without replacement. Where many blocks are at one place,
only those leave it that can be among the earliest.
"""

from __future__ import annotations

import math
from bisect import bisect_right

import attrs
import numpy as np
from numpy.typing import NDArray

from sgpc_framework.rows.excerpt import Excerpt
from sgpc_framework.rows.loops import place_of, running_sums

Floats = NDArray[np.float64]


@attrs.define(eq=False)
class Arrivals:
    """The first arrivals of a block: when, and which rows. ``more`` says that others may follow."""

    times: list[float]
    excerpt: Excerpt
    more: bool

    @property
    def last(self) -> float:
        """When the last of them arrived."""
        return self.times[-1] if self.times else 0.0


@attrs.define(eq=False)
class Early:
    """Of the first arrivals of some blocks those that can be among the ``size`` earliest of all.

    Blocks are known by the numbers of their first rows. Those of two sets of blocks can be added:
    what comes too late is left out.
    """

    size: int
    of_block: dict[int, Arrivals]

    def __add__(self, other: Early) -> Early:
        both = {**self.of_block, **other.of_block}
        times = sorted(time for each in both.values() for time in each.times)
        if len(times) <= self.size:
            return Early(self.size, both)
        horizon = times[self.size - 1]
        early = {}
        for block, each in both.items():
            count = bisect_right(each.times, horizon)
            if count == len(each.times):
                early[block] = each
            elif count:
                early[block] = Arrivals(each.times[:count], each.excerpt[:count], more=False)
        return Early(self.size, early)


def arrivals(
    weights: Floats, eligible: NDArray[np.bool_], uniforms: Floats, since: float
) -> tuple[list[int], list[float], bool]:
    """The positions of the next rows to arrive after some time, when they do, and whether others
    may follow.

    ``uniforms`` is all the randomness there is: two numbers of [0, 1) for each row to be drawn, for
    its time and for its place. Draws with replacement of which repeats are discarded are a draw
    without. What has been drawn is removed between rounds, so every round has at least one new
    position; its uniforms are made from the first.
    """
    count = uniforms.shape[1]
    if count == 1:
        wait, place = uniforms[:, 0].tolist()
        return _one_arrival(weights, eligible, wait, place, since)
    times: dict[int, float] = {}
    rng = None
    while True:
        sums, least = running_sums(weights, eligible)
        total = float(sums[-1])
        if not least >= 0.0 or not math.isfinite(total):
            raise ImproperWeight(weights, eligible)
        if total == 0.0:
            break
        waits, places = uniforms
        points = np.minimum(places * total, math.nextafter(total, 0.0))
        rows = sums.searchsorted(points, side="right").tolist()
        for row, wait in zip(rows, waits.tolist(), strict=True):
            since -= math.log1p(-wait) / total
            times.setdefault(row, since)
        if len(times) == count:
            break
        rng = rng or np.random.default_rng(int(2.0**53 * uniforms[0, 0]))
        uniforms = rng.random((2, count - len(times)))
        weights = weights.copy()
        weights[list(times)] = 0.0
    return list(times), list(times.values()), len(times) == count


def _one_arrival(
    weights: Floats, eligible: NDArray[np.bool_], wait: float, place: float, since: float
) -> tuple[list[int], list[float], bool]:
    """The same for one row, which most stages want, without arrays of one number."""
    row, total, least = place_of(weights, eligible, place)
    if not least >= 0.0 or not math.isfinite(total):
        raise ImproperWeight(weights, eligible)
    if total == 0.0:
        return [], [], False
    return [row], [since - math.log1p(-wait) / total], True


class ImproperWeight(ValueError):
    """A weight that is not a finite number of at least zero; ``position`` is its place, if any."""

    def __init__(self, weights: Floats, eligible: NDArray[np.bool_]) -> None:
        wrong = np.flatnonzero(eligible & ~(np.isfinite(weights) & (weights >= 0.0)))
        self.position = int(wrong[0]) if len(wrong) else None
        self.weight = float(weights[wrong[0]]) if len(wrong) else math.inf
        super().__init__("the weights are so large that their sum is not finite")
