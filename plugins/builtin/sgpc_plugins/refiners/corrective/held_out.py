"""Rows to try things on, and rows to judge them by."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from sgpc_framework.protocols import Inputs
from sgpc_framework.rows.holding_out import kinds

Numbers = NDArray[np.intp]

SKETCH = 1000
"""The most rows that are tried on: enough to rank a few penalties, and cheap."""

JUDGES = 100
"""How many rows must have judged; when a fifth of all rows is less, several fifths take turns."""

SAMPLE = 5 * SKETCH
"""The most rows that take part at all."""

FEWEST = 20
"""With fewer distinct rows than this nothing is held out."""


def splits(X: Inputs, rng: np.random.Generator) -> Iterator[tuple[Numbers, Numbers]]:
    """Pairs of row numbers: those to try on and those to judge by, at least a fifth of all.

    Equal rows stay together: a copy of a training row would praise whoever learned it by heart.
    """
    sample = rng.permutation(len(X))[:SAMPLE]
    kind = kinds(X, sample)
    if kind.max(initial=-1) + 1 < FEWEST:
        return
    order = sample[np.argsort(kind, kind="stable")]
    judges = max(len(order) - SKETCH, len(order) // 5)
    for turn in range(min(5, -(-JUDGES // judges))):
        turned = np.roll(order, -turn * judges)
        yield np.sort(turned[judges:]), np.sort(turned[:judges])
