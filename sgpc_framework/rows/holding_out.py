"""Rows to judge by, kept apart from the rows to fit to."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sgpc_framework.protocols import Inputs

Numbers = NDArray[np.intp]


def kinds(X: Inputs, sample: Numbers) -> Numbers:
    """A number for each row of a sample: equal rows have equal numbers, new rows the next."""
    seen: dict[object, int] = {}
    rows = (X[i] for i in sample)
    keys = (row.tobytes() if isinstance(row, np.ndarray) else repr(row) for row in rows)
    return np.array([seen.setdefault(key, len(seen)) for key in keys], dtype=np.intp)


def a_fifth(
    X: Inputs, y: NDArray[np.float64], rng: np.random.Generator, fewest: int
) -> NDArray[np.bool_]:
    """True for about a fifth of the rows of each label; for none if few of the rows differ.

    Equal rows stay together: a copy of a training row would praise whoever learned it by heart.
    With fewer than ``fewest`` different rows nothing is held out.
    """
    order = rng.permutation(len(y))
    kind = kinds(X, order)
    _, first, copies = np.unique(kind, return_index=True, return_counts=True)
    judges = np.zeros(len(first), dtype=np.bool_)
    if len(first) >= fewest:
        label = y[order[first]]
        for sign in (-1.0, 1.0):
            those = np.flatnonzero(label == sign)
            by_copies = those[np.argsort(copies[those], kind="stable")]
            judges[by_copies[2::5]] = True  # the middle one of each five with about as many copies
    held_out = np.empty(len(y), dtype=np.bool_)
    held_out[order] = judges[kind]
    return held_out
