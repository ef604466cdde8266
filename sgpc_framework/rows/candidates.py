"""Candidates: the few rows that a stage considers.

The residual column of row j is its posterior covariance with every row,

    k̃(., xⱼ) = k(., xⱼ) - Mᵀ M[:, j],

the basis function that including j would add. Shards compute columns when they are first needed and
keep them for the stage, unless all of them together would take more than ``KEPT_BYTES``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sgpc_framework.protocols import Likelihood
from sgpc_framework.rows.answers import Selection
from sgpc_framework.rows.excerpt import Excerpt
from sgpc_framework.rows.view import Rows, read_only

KEPT_BYTES = 32 * 2**20

_FIRST = read_only(np.zeros(1, dtype=np.intp))
_INACTIVE = read_only(np.zeros(1, dtype=np.bool_))


class Candidates:
    """Rows proposed by a selector, in ascending order.

    ``index`` holds their row numbers, ``eligible`` which can be included, ``at`` what the posterior
    says of them (a ``Rows`` of just these rows: ``at.y``, ``at.mean``, ``at.alpha``, ...).
    """

    def __init__(self, selection: Selection, rows: Excerpt, likelihood: Likelihood) -> None:
        self.selection = selection
        self.index = rows.index
        self.eligible = rows.eligible
        self.at = Rows(
            rows.y,
            rows.mean,
            rows.variance,
            _INACTIVE if len(rows) == 1 else np.zeros(len(rows), dtype=np.bool_),
            likelihood,
            all_moments=True,
            origin=rows,
        )

    @classmethod
    def of(cls, number: int, rows: Excerpt, entries: int, likelihood: Likelihood) -> Candidates:
        """All rows of an excerpt. A column has so many ``entries``, over all functions."""
        keep = len(rows) * entries * 8 <= KEPT_BYTES
        positions = _FIRST if len(rows) == 1 else np.arange(len(rows))
        return cls(Selection(number, rows, positions, keep), rows, likelihood)

    def __len__(self) -> int:
        return len(self.index)

    def __getitem__(self, positions: int | NDArray[np.intp]) -> Candidates:
        """One of the candidates, or some; they share what has been computed."""
        if len(self) == 1 and isinstance(positions, int) and positions == 0:
            return self
        chosen = np.atleast_1d(self.selection.positions[positions])
        some = self.selection.whole[chosen]
        selection = self.selection._replace(positions=chosen, everything=False)
        return Candidates(selection, some, self.at.likelihood)
