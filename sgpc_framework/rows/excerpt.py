"""Excerpts: a few rows copied out of the shards, which is how candidates come to the driver."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from sgpc_framework.protocols import Inputs
from sgpc_framework.rows.view import read_only

Floats = NDArray[np.float64]


@attrs.define(eq=False)
class Excerpt:
    """Some rows as they are at the moment: all that including one of them takes.

    ``M`` has their columns of M, of shape (stages so far, rows); ``eligible`` says which of them
    can be included: not active, and with some variance left.
    """

    index: NDArray[np.intp]
    X: Inputs
    y: Floats
    mean: Floats
    variance: Floats
    eligible: NDArray[np.bool_]
    M: NDArray[np.floating]
    weight: Floats | None = None

    def __len__(self) -> int:
        return len(self.index)

    def __getitem__(self, which: Any) -> Excerpt:
        """Some of the rows, in the order asked for (a slice or an array of positions)."""
        return Excerpt(
            self.index[which],
            self.X[which],
            self.y[which],
            read_only(self.mean[..., which]),
            read_only(self.variance[which]),
            self.eligible[which],
            self.M[..., which],
            None if self.weight is None else self.weight[which],
        )


def concatenate(excerpts: Sequence[Excerpt]) -> Excerpt:
    """Several excerpts as one."""
    if len(excerpts) == 1:
        return excerpts[0]
    weights = [each.weight for each in excerpts if each.weight is not None]
    return Excerpt(
        np.concatenate([each.index for each in excerpts]),
        np.concatenate([each.X for each in excerpts]),
        np.concatenate([each.y for each in excerpts]),
        read_only(np.concatenate([each.mean for each in excerpts], axis=-1)),
        read_only(np.concatenate([each.variance for each in excerpts])),
        np.concatenate([each.eligible for each in excerpts]),
        np.concatenate([each.M for each in excerpts], axis=-1),
        np.concatenate(weights) if weights else None,
    )
