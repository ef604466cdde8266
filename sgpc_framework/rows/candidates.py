"""Candidates: the few rows that a stage considers, and their residual columns.

The residual column of row j is its posterior covariance with every row,

    k̃(., xⱼ) = k(., xⱼ) - Mᵀ M[:, j],

the basis function that including j would add. Columns are computed block by block on first use and
kept for the stage, unless all of them together would take more than ``KEPT_BYTES``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sgpc_framework.rows.view import Rows

if TYPE_CHECKING:
    from sgpc_framework.rows.posterior import Posterior

Floats = NDArray[np.float64]

KEPT_BYTES = 32 * 2**20


class Candidates:
    """Rows proposed by a selector, in ascending order.

    ``index`` holds their row numbers, ``at`` what the posterior says of them (a ``Rows`` of just
    these rows: ``at.y``, ``at.mean``, ``at.variance``, ``at.alpha``, ``at.nu``, ...).
    """

    def __init__(self, posterior: Posterior, index: NDArray[np.intp]) -> None:
        self.index = index
        self.at: Rows = posterior.at(index)
        self._posterior = posterior
        self._keep = len(index) * len(posterior) * 8 <= KEPT_BYTES
        self._columns: dict[int, Floats] = {}

    def __len__(self) -> int:
        return len(self.index)

    def __getitem__(self, position: int) -> Candidates:
        """One candidate alone; it shares what has been computed."""
        alone = Candidates(self._posterior, self.index[position : position + 1])
        for block, columns in self._columns.items():
            alone._columns[block] = columns[position : position + 1]
        return alone

    def column(self, position: int, block: int) -> Floats:
        """k̃ of one candidate with the rows of a block."""
        found = self._columns.get(block)
        if found is None:
            one = self.index[position : position + 1]
            found, position = self._posterior.residual_columns(one, block), 0
        column: Floats = found[position]
        return column

    def columns(self, block: int) -> Floats:
        """k̃ of every candidate (rows) with the rows of a block (columns)."""
        found = self._columns.get(block)
        if found is None:
            found = self._posterior.residual_columns(self.index, block)
            if self._keep:
                self._columns[block] = found
        return found
