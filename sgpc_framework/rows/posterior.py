"""The data plane: every array with one entry a row lives here.

The state after some stages is q_u(f) = N(mean, A) with A = K - MᵀM, of which only mean, the
diagonal (variance) and M are kept. Plugins reach the rows through a handful of verbs and row-local
functions (see ``rows``):

    argmin(row_score)                the inactive row with the least score
    sample(row_weight, k, rng)       k distinct inactive rows
    total(row_value, ...)            a sum over rows, now or with candidates tried
    include(candidates, i, step)     one stage
    marginals()                      mean and variance of all rows

Rows are processed in blocks that fit a cache. No plugin can tell how many there are.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sgpc_framework.algebra.rounding import ROUNDING, Storage, settle
from sgpc_framework.algebra.sites import Sites, Steps
from sgpc_framework.parts.calls import blamed, kernel_columns, kernel_diag
from sgpc_framework.protocols import Inputs, Kernel, Likelihood
from sgpc_framework.rows.candidates import Candidates
from sgpc_framework.rows.loops import add_basis_function, running_sums, with_basis_functions
from sgpc_framework.rows.threads import over_blocks
from sgpc_framework.rows.view import Rows, read_only, repeated

Floats = NDArray[np.float64]
RowFunction = Callable[[Rows], NDArray[np.float64] | NDArray[np.bool_]]

TOGETHER = 1 << 16
"""Candidates are tried together up to so many rows: enough work between two lines of Python that
threads seldom meet there, and little enough to stay in a cache."""


class Posterior:
    """q_u(f) at the training rows, from the empty basis (step 2) to ``max_basis`` stages."""

    def __init__(
        self,
        X: Inputs,
        y: Floats,
        kernel: Kernel,
        likelihood: Likelihood,
        max_basis: int,
        block_rows: int = 8192,
        storage: Storage = "float64",
    ) -> None:
        n = len(y)
        self.X = X
        self.y = y
        self.kernel = kernel
        self.likelihood = likelihood
        self.basis: list[int] = []
        self.rounded_to_zero = 0
        """How many variances rounding took below zero so far (each was set to zero)."""
        self.blocks = [slice(at, min(at + block_rows, n)) for at in range(0, n, block_rows)]
        self._mean = np.zeros(n)
        self._prior = np.concatenate([kernel_diag(kernel, X[block]) for block in self.blocks])
        if not self._prior.min() >= 0.0 or not np.isfinite(self._prior.max()):
            raise blamed(
                "kernel",
                kernel,
                "diag",
                "wanted finite variances of at least 0, found entries between "
                f"{self._prior.min()} and {self._prior.max()}",
            )
        self._columns = [kernel_columns(kernel, X[block]) for block in self.blocks]
        self._variance = self._prior.copy()
        self._active = np.zeros(n, dtype=np.bool_)
        self._rounding = ROUNDING[storage]
        self._most_spent = self._rounding.spent * float(self._prior.max())
        self._eligible = self._not_spent()
        self._left = int(np.count_nonzero(self._eligible))
        self._M = np.empty((max_basis, n), dtype=storage)
        self._steps: list[tuple[float, float, float, float]] = []
        self._seen = (  # what plugins see: the same arrays, read-only
            read_only(y),
            read_only(self._mean),
            read_only(self._variance),
            read_only(self._active),
        )
        self._rows = [self.at(block) for block in self.blocks]

    def __len__(self) -> int:
        return len(self.y)

    @property
    def size(self) -> int:
        """How many basis vectors have been included."""
        return len(self.basis)

    # -- verbs for plugins ---------------------------------------------------------------------

    def argmin(self, row_score: RowFunction) -> int:
        """The inactive row with the least score; ties go to the lowest row number."""

        def least(number: int) -> tuple[float, int]:
            block = self.blocks[number]
            scores = np.where(
                self._eligible[block], _per_row(row_score, self._rows[number]), np.inf
            )
            position = int(scores.argmin())
            return float(scores[position]), block.start + position

        found = [least(number) for number in range(len(self.blocks))]
        for score, row in found:
            if math.isnan(score):
                raise ValueError(f"the score of row {row} is NaN, a number is wanted")
        score, row = min(found)
        return row if score < math.inf else int(np.argmax(self._eligible))

    def sample(
        self, row_weight: RowFunction, size: int, rng: np.random.Generator
    ) -> NDArray[np.intp]:
        """``size`` distinct inactive rows, drawn one after the other in proportion to weight.

        When fewer rows have a positive weight they are all taken, and the rest is drawn uniformly;
        when there are fewer inactive rows, all of them are.
        """
        parts = [_per_row(row_weight, rows) for rows in self._rows]
        weights = np.concatenate(parts) if len(parts) > 1 else parts[0]
        size = min(size, self._left)
        drawn = _drawn(weights, self._eligible, size, rng)
        if len(drawn) < size:
            others = np.ones(len(self))
            others[drawn] = 0.0
            drawn += _drawn(others, self._eligible, size - len(drawn), rng)
        return np.array(drawn, dtype=np.intp)

    def total(
        self,
        row_value: RowFunction,
        candidates: Candidates | None = None,
        steps: Steps | None = None,
    ) -> Floats:
        """Sum of a row-local value over all rows, active ones too.

        Without candidates: one sum, at the present state. With candidates and their steps: one sum
        for each, at the state that including it would make; ``rows.active`` then counts it in, and
        ``rows.column`` is its k̃. A value of shape (m, rows) gives m sums.
        """
        if candidates is None or steps is None:
            return np.asarray(sum(_summed(row_value(rows)) for rows in self._rows))

        if not len(candidates) == len(steps.coefficient) == len(steps.shrinkage):
            raise ValueError(f"wanted a step for each of {len(candidates)} rows, found {steps}")
        if not len(candidates):
            return np.empty(0)
        together = max(1, TOGETHER // len(self._rows[0]))
        groups = [slice(at, at + together) for at in range(0, len(candidates), together)]

        def tried(number: int) -> Floats:
            columns = candidates.columns(number)
            sums = []
            for some in groups:
                rows = self._tried(number, columns[some], candidates.index[some], steps[some])
                sums.append(_each_summed(row_value(rows), len(columns[some]), len(rows)))
            return np.concatenate(sums)

        # The one verb with enough work between two lines of Python for threads to pay.
        sums = list(over_blocks(tried, range(len(self.blocks)), len(self)))
        return np.asarray(np.sum(sums, axis=0))

    def candidates(self, index: NDArray[np.intp]) -> Candidates:
        """Candidates for inclusion, with their residual columns computed when needed."""
        return Candidates(self, np.sort(index) if len(index) > 1 else index)

    def include(self, candidates: Candidates, position: int, step: Steps) -> None:
        """One stage: add a basis vector with its site (steps 4 and 5, eqs. 3 and 7).

        mean     += coefficient k̃
        variance -= shrinkage k̃²
        M gains the row √shrinkage k̃
        """
        row = int(candidates.index[position])
        coefficient, shrinkage = float(step.coefficient[0]), float(step.shrinkage[0])
        before = float(self._mean[row]), float(self._variance[row])
        least_of_all = math.inf
        for number, block in enumerate(self.blocks):
            column = candidates.column(position, number)
            mean, variance = self._mean[block], self._variance[block]
            least = add_basis_function(
                column, coefficient, shrinkage, mean, variance, self._M[self.size, block]
            )
            if not math.isfinite(least):
                self._check_finite(column)
            prior = self._prior[block]
            self.rounded_to_zero += settle(variance, prior, least, self._rounding)
            least_of_all = min(least_of_all, least)
        self._active[row] = True
        self._left -= int(self._eligible[row])
        self._eligible[row] = False
        if least_of_all <= self._most_spent:  # a variance only falls: seldom do others drop out
            self._eligible &= self._not_spent()
            self._left = int(np.count_nonzero(self._eligible))
        self.basis.append(row)
        precision = shrinkage / (1.0 - shrinkage * before[1])
        self._steps.append((precision, before[0] + coefficient / shrinkage, coefficient, shrinkage))
        # Who asked for all moments at this stage will do so at the next: compute them in one pass.
        self._rows = [
            self.at(block, all_moments=rows.has_moments)
            for block, rows in zip(self.blocks, self._rows, strict=True)
        ]

    def marginals(self) -> tuple[Floats, Floats]:
        """Posterior mean and variance of every row (read-only)."""
        return self._seen[1], self._seen[2]

    # -- for the engine ------------------------------------------------------------------------

    @property
    def sites(self) -> Sites:
        """The sites included so far."""
        return Sites(*np.array(self._steps).reshape(-1, 4).T.copy())

    @property
    def last_site(self) -> tuple[float, float, float, float]:
        """Precision, mean, coefficient and shrinkage of the newest basis vector."""
        return self._steps[-1]

    def at(self, which: slice | NDArray[np.intp], all_moments: bool = False) -> Rows:
        """What the posterior says of some rows."""
        y, mean, variance, active = self._seen  # a slice of what is read-only is read-only
        return Rows(
            y[which],
            mean[which],
            variance[which],
            active[which],
            self.likelihood,
            all_moments=all_moments,
        )

    @property
    def exhausted(self) -> bool:
        """Whether no row can be included any more."""
        return self._left == 0

    def eligible(self, which: slice | NDArray[np.intp]) -> NDArray[np.bool_]:
        """Which rows can still be included: not active, and with some variance left."""
        return read_only(self._eligible)[which]

    def residual_columns(self, index: NDArray[np.intp], block: int) -> Floats:
        """k̃ of the given rows with the rows of a block."""
        rows = self.blocks[block]
        columns = self._columns[block](self.X[index])
        if len(index) > 1:  # a single column is about to be included, where this shows
            self._check_finite(columns)
        if not self.size:
            return np.ascontiguousarray(columns)
        M = self._M[: self.size, rows]
        if len(index) == 1:
            explained = (self._M[: self.size, index[0]] @ M)[None]  # a product with a vector
        else:
            explained = self._M[: self.size, index].T @ M
        own = explained if explained.dtype == np.float64 else None  # the kernel's array is not ours
        residual: Floats = np.subtract(columns, explained, out=own)
        return residual

    def _not_spent(self) -> NDArray[np.bool_]:
        """Which rows have some variance left to give."""
        return self._variance > self._rounding.spent * self._prior

    def _check_finite(self, columns: Floats) -> None:
        # The sum of what is not finite is not finite: one pass, and no array of booleans.
        if not math.isfinite(columns.sum()) and not np.all(np.isfinite(columns)):
            found = f"wanted finite values, found {columns[~np.isfinite(columns)][0]}"
            raise blamed("kernel", self.kernel, "__call__", found)

    def _tried(self, number: int, columns: Floats, index: NDArray[np.intp], steps: Steps) -> Rows:
        """The rows of a block as they would be with one more row included, once for each of some
        candidates, one after the other: what is row-local does not see where one trial ends."""
        now = self._rows[number]
        mean, variance = with_basis_functions(
            columns, steps.coefficient, steps.shrinkage, now.mean, now.variance
        )
        active = repeated(now.active, len(index))
        start, stop = self.blocks[number].start, self.blocks[number].stop
        for trial, row in enumerate(index.tolist()):
            if start <= row < stop:
                active[trial * len(now) + row - start] = True
        return Rows(
            now.y if len(index) == 1 else read_only(repeated(now.y, len(index))),
            read_only(mean),
            read_only(variance),
            read_only(active),
            self.likelihood,
            read_only(columns.reshape(-1)),
        )


def _summed(values: object) -> Any:
    """The sum over rows, the last axis; a condition is counted."""
    array = np.asarray(values)
    if array.dtype == np.bool_ and array.ndim == 1:
        return np.count_nonzero(array)
    return array.sum(axis=-1)


def _each_summed(values: object, trials: int, rows: int) -> Floats:
    """The sums of each trial (first axis), of rows that stand one trial after the other."""
    array = np.asarray(values)
    if array.shape[-1:] != (rows,):
        raise ValueError(
            f"a row-local function must return a number for each of {rows} rows along its last "
            f"axis, found shape {array.shape}"
        )
    sums = array.reshape(*array.shape[:-1], trials, -1).sum(axis=-1)
    return sums if sums.ndim == 1 else np.moveaxis(sums, -1, 0)


def _per_row(row_function: RowFunction, rows: Rows) -> Floats:
    values = np.asarray(row_function(rows), dtype=np.float64)
    if values.shape != (len(rows),):
        raise ValueError(
            f"a row-local function must return one number for each of {len(rows)} rows, "
            f"found shape {values.shape}"
        )
    return values


def _drawn(
    weights: Floats, eligible: NDArray[np.bool_], size: int, rng: np.random.Generator
) -> list[int]:
    """Up to ``size`` distinct positions.

    A draw with replacement that discards repeats has the law of a draw without replacement. What
    has been drawn is removed between rounds, so every round finds at least one new position.
    """
    drawn: list[int] = []
    while True:
        sums, least = running_sums(weights, eligible)
        total = float(sums[-1])
        if not least >= 0.0 or not math.isfinite(total):
            raise _improper(weights, eligible)
        if total == 0.0:
            return drawn
        points = np.minimum(rng.random(size - len(drawn)) * total, math.nextafter(total, 0.0))
        drawn += dict.fromkeys(sums.searchsorted(points, side="right").tolist())
        if len(drawn) == size:
            return drawn
        weights = weights.copy()
        weights[drawn] = 0.0


def _improper(weights: Floats, eligible: NDArray[np.bool_]) -> ValueError:
    wrong = np.flatnonzero(eligible & ~(np.isfinite(weights) & (weights >= 0.0)))
    if not len(wrong):
        return ValueError("the weights are so large that their sum is not finite")
    row = wrong[0]
    return ValueError(f"the weight of row {row} is {weights[row]}, a finite number >= 0 is wanted")
