"""What a selector picked: which rows in which order, how many with wrong labels, how spread out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import attrs
import numpy as np
from numpy.typing import NDArray

from sgpc_framework.datasets import Benchmark
from sgpc_framework.model.trace import Trace

JUDGES = 500
"""How many test rows measure the distance to the nearest pick."""


def _numbers(rows: Iterable[int]) -> tuple[int, ...]:
    return tuple(rows)


@attrs.frozen
class Picks:
    """The basis of the returned model, as stages chose it."""

    rows: tuple[int, ...] = attrs.field(converter=_numbers)
    """The numbers of the training rows, in the order of the stages."""

    wrong: float | None
    """The share of them whose label the best classifier would not give, where that is known,"""
    wrong_rows: float | None
    """and that of all training rows."""

    distance: float | None
    """From a test row to the nearest pick, on average, beside what as many random rows have: below
    1 the picks cover the data better than chance."""

    @classmethod
    def of(cls, trace: Trace, data: Benchmark, wrong: NDArray[np.bool_] | None) -> Picks:
        rows = [stage.row for stage in trace.stages]
        mislabelled = None if wrong is None or not rows else float(wrong[rows].mean())
        overall = None if wrong is None else float(wrong.mean())
        return cls(tuple(rows), mislabelled, overall, _relative_distance(rows, data))


def _relative_distance(rows: Sequence[int], data: Benchmark) -> float | None:
    if not rows:
        return None
    rng = np.random.default_rng(0)
    scale = data.X.std(axis=0)
    scale[scale == 0.0] = 1.0
    judges = data.X_test[:JUDGES] / scale
    chance = rng.choice(len(data.X), size=min(len(rows), len(data.X)), replace=False)
    own, others = (_nearest(judges, data.X[some] / scale) for some in (rows, chance))
    return own / others if others > 0.0 else None


def _nearest(X: NDArray[np.float64], Z: NDArray[np.float64]) -> float:
    squares = (X**2).sum(axis=1)[:, None] + (Z**2).sum(axis=1)[None, :] - 2.0 * X @ Z.T
    return float(np.sqrt(np.maximum(squares, 0.0)).min(axis=1).mean())


def overlap(first: Sequence[int], second: Sequence[int]) -> float:
    """The share of rows that both have, of the shorter of the two.

    >>> overlap([1, 2, 3, 4], [4, 9, 1, 7])
    0.5
    """
    least = min(len(first), len(second))
    return len({*first} & {*second}) / least if least else 0.0


def order_agreement(first: Sequence[int], second: Sequence[int]) -> float | None:
    """Kendall's τ between the two orders of the rows that both have; None below six rows, of which
    it would be noise.

    >>> round(order_agreement([1, 2, 3, 4, 5, 6, 9], [6, 5, 4, 3, 2, 1, 7]), 9)
    -1.0
    """
    shared = [row for row in first if row in {*second}]
    if len(shared) < 6:
        return None
    from scipy.stats import kendalltau

    place = {row: position for position, row in enumerate(second)}
    return float(kendalltau(range(len(shared)), [place[row] for row in shared]).statistic)
