"""A shard: one block of rows with its part of the posterior, and the arithmetic of a stage on it.

The state after some stages is q_u(f) = N(mean, A) with A = K - MᵀM, of which only mean, the
diagonal (variance) and M are kept. Several latent functions have a mean each, and share A.
Everything with an entry a row is here and stays here: a shard is called, and returns a few numbers.
It does not know where it is, nor that there are others.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sgpc_framework.algebra.rounding import ROUNDING, Storage, settle
from sgpc_framework.algebra.sites import Steps
from sgpc_framework.parts.calls import fault, kernel_columns, kernel_diag
from sgpc_framework.protocols import Kernel, Likelihood
from sgpc_framework.rows.answers import Inclusion, Least, Selection
from sgpc_framework.rows.blocks import Block, Numbers
from sgpc_framework.rows.drawing import Arrivals, Early, ImproperWeight, arrivals
from sgpc_framework.rows.excerpt import Excerpt
from sgpc_framework.rows.loops import (
    add_basis_function,
    sum_and_count,
    with_basis_functions,
)
from sgpc_framework.rows.placement import changes_its_thing
from sgpc_framework.rows.room import room
from sgpc_framework.rows.row_functions import (
    RowFunction,
    check_likelihood,
    one_a_row,
    sums_of_trials,
)
from sgpc_framework.rows.state import latent_functions
from sgpc_framework.rows.view import Rows, read_only, tile

Floats = NDArray[np.float64]

LOG_2 = math.log(2.0)

TOGETHER = 1 << 16
"""Candidates are tried together up to so many rows: enough work between two lines of Python that
threads seldom meet there, and little enough to stay in a cache."""


class Shard:
    """q_u(f) at the rows of a block, from the empty basis (step 2) to ``max_basis`` stages."""

    def __init__(
        self,
        block: Block,
        kernel: Kernel,
        likelihood: Likelihood,
        max_basis: int,
        storage: Storage = "float64",
    ) -> None:
        functions, rows = latent_functions(likelihood), len(block)
        self._block = block
        self._kernel = kernel
        self._likelihood = likelihood
        self._prior = _prior(kernel, block)
        self._kernel_columns = kernel_columns(kernel, block.X)
        self._rounding = ROUNDING[storage]
        self._most_spent = self._rounding.spent * float(self._prior.max())
        self._size = 0
        self._means = np.zeros((functions, rows))
        self._variance = self._prior.copy()
        kind = "float64" if storage == "disk" else storage
        self._M = room((max_basis, rows), kind, on_disk=storage == "disk")
        self._active = np.zeros(rows, dtype=np.bool_)
        self._eligible = self._not_spent()
        self._left = int(np.count_nonzero(self._eligible))
        self._kept: tuple[int, Floats] = (-1, np.empty((0, 0)))
        self._row_arrays = (  # what plugins see: the same arrays, read-only
            read_only(block.y),
            read_only(self._means[0] if functions == 1 else self._means),
            read_only(self._variance),
            read_only(self._active),
        )
        self._rows = self._view(all_moments=False)

    # -- what a selector asks ------------------------------------------------------------------

    def eligible_count(self) -> int:
        """How many rows can be included: not active, and with some variance left."""
        return self._left

    def least(self, row_score: RowFunction) -> Least:
        """The eligible row with the least score."""
        scores = np.where(self._eligible, one_a_row(row_score, self._rows), np.inf)
        position = int(scores.argmin())
        score = float(scores[position])
        if score == math.inf:
            position = int(self._eligible.argmax())  # the first, if there is any
        if math.isnan(score):
            row = self._block.start + position
            raise ValueError(f"the score of row {row} is NaN, a number is wanted")
        return Least(score, self._excerpt([position] if self._eligible[position] else []))

    def arrivals(
        self, row_weight: RowFunction, size: int, taken: Numbers, uniforms: Floats, since: float
    ) -> Early:
        """The next rows of a draw of ``size`` in proportion to weights (``drawing``); ``taken`` do
        not come.

        What the function says is multiplied by the weight of the row itself: a row that counts
        as two is drawn as often as two.
        """
        weights = self._rows.weighed(one_a_row(row_weight, self._rows))
        if len(taken):
            weights = weights.copy()
            weights[taken - self._block.start] = 0.0
        try:
            positions, times, more = arrivals(weights, self._eligible, uniforms, since)
        except ImproperWeight as error:
            if error.position is None:
                raise
            raise ValueError(
                f"the weight of row {self._block.start + error.position} is {error.weight}, "
                "a finite number >= 0 is wanted"
            ) from None
        return Early(size, {self._block.start: Arrivals(times, self._excerpt(positions), more)})

    def excerpt(self, numbers: Numbers) -> Excerpt:
        """The rows with these numbers as they are."""
        return self._excerpt((numbers - self._block.start).tolist())

    # -- sums over rows ------------------------------------------------------------------------

    def total(self, row_value: RowFunction) -> Any:
        """The sum of a row-local value over all rows, each times its weight, at the present
        state."""
        values = self._rows.weighed(np.asarray(row_value(self._rows)))
        if values.dtype == np.bool_ and values.ndim == 1:
            return np.count_nonzero(values)
        return values.sum(axis=-1)

    def trial_totals(self, row_value: RowFunction, selection: Selection, steps: Steps) -> Floats:
        """The sum for each candidate, at the state that including it would make."""
        columns = self._columns(selection)
        index = selection.whole.index[selection.positions]
        together = max(1, TOGETHER // len(self._rows))
        sums = []
        for at in range(0, len(index), together):
            some = slice(at, at + together)
            tried = self._trial_view(columns[some], index[some], steps[some])
            sums.append(sums_of_trials(row_value(tried), len(index[some]), tried))
        return np.concatenate(sums)

    # -- one stage -----------------------------------------------------------------------------

    @changes_its_thing
    def include(
        self, selection: Selection, coefficients: list[float], shrinkage: float
    ) -> Inclusion:
        """Add a basis vector with its site (steps 4 and 5, eqs. 3 and 7).

        Each latent function has a coefficient.

        mean     += coefficient k̃
        variance -= shrinkage k̃²
        M gains the row √shrinkage k̃
        """
        row = int(selection.whole.index[selection.positions[0]])
        column = self._columns(selection)[0]
        first, *others = coefficients
        least = add_basis_function(
            column, first, shrinkage, self._means[0], self._variance, self._M[self._size]
        )
        if not math.isfinite(least):
            self._check_finite(column)
        for mean, coefficient in zip(self._means[1:], others, strict=True):
            mean += coefficient * column
        rounded = settle(self._variance, self._prior, least, self._rounding)
        self._size += 1
        position = row - self._block.start
        if 0 <= position < len(self._active):
            self._active[position] = True
            self._left -= int(self._eligible[position])
            self._eligible[position] = False
        if least <= self._most_spent:  # a variance only falls: seldom do others drop out
            self._eligible &= self._not_spent()
            self._left = int(np.count_nonzero(self._eligible))
        # Who asked for all moments at this stage will do so at the next: compute them in one pass.
        self._rows = self._view(all_moments=self._rows.has_moments)
        return Inclusion(*self._worth(), self._left, rounded)

    # -- for those who insist ------------------------------------------------------------------

    def marginals(self) -> tuple[Floats, Floats, NDArray[np.bool_]]:
        """Mean, variance and eligibility of every row."""
        return self._row_arrays[1], self._row_arrays[2], read_only(self._eligible)

    def evaluated(self, function: Callable[[Rows], Any]) -> Any:
        """What a function says of the rows as they are."""
        return function(self._rows)

    def check_likelihood(self) -> None:
        """Called when a sum is not finite: if a moment is not, it is the likelihood's fault."""
        check_likelihood(self._rows)

    # -- for who makes a lost shard again ------------------------------------------------------

    @property
    def computes_all_moments(self) -> bool:
        """Whether all moments have been asked for, after which they are computed in one pass: what
        a shard remembers besides its basis functions."""
        return self._rows.has_moments

    def compute_all_moments(self) -> None:
        """As if somebody asked for all moments."""
        self._rows.moments  # noqa: B018

    # -- inside --------------------------------------------------------------------------------

    def _worth(self) -> tuple[float, float]:
        """The first two of ``Inclusion``."""
        log_z, weight = self._rows.log_z, self._block.weight
        if weight is None:
            return sum_and_count(log_z, -LOG_2)
        return float(np.sum(weight * log_z)), float(np.sum(weight[log_z <= -LOG_2]))

    def _view(self, all_moments: bool) -> Rows:
        return Rows(
            *self._row_arrays, self._likelihood, all_moments=all_moments, origin=self._block
        )

    def _excerpt(self, positions: list[int]) -> Excerpt:
        """Rows at some positions of the block, copied: they leave the shard."""
        y, mean, variance, _ = self._row_arrays
        weight = self._block.weight
        start = self._block.start
        # Of a single row: a slice is several times faster, and what it shows stays.
        some = slice(positions[0], positions[0] + 1) if len(positions) == 1 else positions
        return Excerpt(
            np.array([start + position for position in positions], dtype=np.intp),
            self._block.X[some],
            y[some],
            _read_only_copy(mean[..., some]),
            _read_only_copy(variance[some]),
            self._eligible[some].copy(),
            self._M[: self._size, some],
            None if weight is None else weight[some],
        )

    def _columns(self, selection: Selection) -> Floats:
        """k̃ of the tried candidates (rows) with the rows of the block (columns)."""
        if selection.keep and self._kept[0] != selection.number:
            self._kept = selection.number, self._residual_columns(selection.whole)
        if self._kept[0] == selection.number:
            columns = self._kept[1]
            return columns if selection.everything else columns[selection.positions]
        return self._residual_columns(
            selection.whole if selection.everything else selection.whole[selection.positions]
        )

    def _residual_columns(self, rows: Excerpt) -> Floats:
        columns = self._kernel_columns(rows.X)
        if len(rows) > 1:  # a single column is about to be included, where this shows
            self._check_finite(columns)
        if not self._size:
            return np.ascontiguousarray(columns)
        M = self._M[: self._size]
        # a product with a vector is faster than one with a matrix of one row
        explained = (rows.M[:, 0] @ M)[None] if len(rows) == 1 else rows.M.T @ M
        own = explained if explained.dtype == np.float64 else None  # the kernel's is not ours
        residual: Floats = np.subtract(columns, explained, out=own)
        return residual

    def _trial_view(self, columns: Floats, index: Numbers, steps: Steps) -> Rows:
        """The rows as they would be with one more row included, once for each of some candidates,
        one after the other: what is row-local does not see where one trial ends."""
        y, _, _, active = self._row_arrays
        first, *others = np.atleast_2d(steps.coefficient)
        mean, variance = with_basis_functions(
            columns, first, steps.shrinkage, self._means[0], self._variance
        )
        if others:
            more = np.array(others)[:, :, None] * columns + self._means[1:, None]
            mean = np.concatenate([mean[None], more.reshape(len(others), -1)])
        times, rows = len(index), len(self._rows)
        active = tile(active, times).copy() if times == 1 else tile(active, times)
        for trial, position in enumerate((index - self._block.start).tolist()):
            if 0 <= position < rows:
                active[trial * rows + position] = True
        return Rows(
            y if times == 1 else read_only(tile(y, times)),
            read_only(mean),
            read_only(variance),
            read_only(active),
            self._likelihood,
            read_only(columns.reshape(-1)),
            origin=self._block,
            times=times,
        )

    def _not_spent(self) -> NDArray[np.bool_]:
        """Which rows have some variance left to give."""
        enough: NDArray[np.bool_] = self._variance > self._rounding.spent * self._prior
        return enough

    def _check_finite(self, columns: Floats) -> None:
        # The sum of what is not finite is not finite: one pass, and no array of booleans.
        if not math.isfinite(columns.sum()) and not np.all(np.isfinite(columns)):
            value = columns[~np.isfinite(columns)][0]
            problem = f"wanted finite values, found {value}"
            raise fault("kernel", self._kernel, "__call__", problem)


def _prior(kernel: Kernel, block: Block) -> Floats:
    prior = kernel_diag(kernel, block.X)
    if not prior.min() >= 0.0 or not np.isfinite(prior.max()):
        raise fault(
            "kernel",
            kernel,
            "diag",
            "wanted finite variances of at least 0, found entries between "
            f"{prior.min()} and {prior.max()}",
        )
    return prior


def _read_only_copy(array: Floats) -> Floats:
    """A copy that nobody writes into."""
    copy = array.copy()
    copy.flags.writeable = False
    return copy
