"""A posterior that watches whether the functions it is given are row-local.

It has the verbs of a posterior. Each function is evaluated with all rows in one block and with the
same rows in several, and must say the same of every row, up to rounding.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sgpc_framework.algebra.sites import Steps
from sgpc_framework.protocols import Floats
from sgpc_framework.rows.candidates import Candidates
from sgpc_framework.rows.posterior import Posterior
from sgpc_framework.rows.view import Rows
from sgpc_framework.testing.situations import Situation
from sgpc_framework.testing.verdict import require_close, scale_of

RowFunction = Callable[[Rows], Any]


class LocalityProbe:
    """The verbs of a posterior, each of which compares one block with blocks of so many rows."""

    def __init__(self, situation: Situation, block_rows: int) -> None:
        self._whole = situation.posterior()
        self._parts = situation.posterior(block_rows)
        self._where = f"blocks of {block_rows} rows, {situation.title}"
        self.kernel, self.likelihood = self._whole.kernel, self._whole.likelihood
        self.basis, self.size = self._whole.basis, self._whole.size
        self.exhausted, self.total_weight = self._whole.exhausted, self._whole.total_weight

    def __len__(self) -> int:
        return len(self._whole)

    def argmin(self, row_score: RowFunction) -> int:
        """As that of a posterior."""
        self._compare(row_score)
        return self._whole.argmin(row_score)

    def sample(
        self, row_weight: RowFunction, size: int, rng: np.random.Generator
    ) -> NDArray[np.intp]:
        """As that of a posterior."""
        self._compare(row_weight)
        return self._whole.sample(row_weight, size, rng)

    def total(
        self,
        row_value: RowFunction,
        candidates: Candidates | None = None,
        steps: Steps | None = None,
    ) -> Floats:
        """As that of a posterior."""
        wanted = self._whole.total(row_value, candidates, steps)
        others = None if candidates is None else self._parts.candidates(candidates.index)
        self._require_same(self._parts.total(row_value, others, steps), wanted, "a sum over rows")
        return wanted

    def candidates(self, index: NDArray[np.intp]) -> Candidates:
        """As that of a posterior."""
        return self._whole.candidates(index)

    def marginals(self) -> tuple[Floats, Floats]:
        """As that of a posterior."""
        return self._whole.marginals()

    def eligible(self) -> NDArray[np.bool_]:
        """As that of a posterior."""
        return self._whole.eligible()

    def _compare(self, function: RowFunction) -> None:
        wanted = _values(self._whole, function)
        self._require_same(_values(self._parts, function), wanted, "a row's number")

    def _require_same(self, values: Floats, wanted: Floats, what: str) -> None:
        tolerance = 1e-8 * (1.0 + scale_of(wanted))
        require_close(values, wanted, tolerance, what, self._where)


def _values(posterior: Posterior, function: RowFunction) -> Floats:
    """What a function says of each row."""
    values = np.concatenate(posterior.evaluated(lambda rows: np.zeros(len(rows)) + function(rows)))
    return np.where(np.isfinite(values), values, 0.0)
