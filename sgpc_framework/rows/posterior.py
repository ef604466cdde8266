"""The posterior: the verbs through which plugins and the engine reach rows that may live anywhere.

    argmin(row_score)                the inactive row with the least score
    sample(row_weight, k, rng)       k distinct inactive rows
    total(row_value, ...)            a sum over rows, now or with candidates tried
    include(candidates, i, step)     one stage
    marginals()                      mean and variance of all rows

A verb is written over a placement of shards and takes one trip to them, but for a draw that must be
repeated. ``argmin`` and ``sample`` bring the rows that they name along, so that a stage takes two
trips with one candidate and three with several. Nothing with an entry for each row comes here,
unless somebody insists (``marginals``).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from sgpc_framework.algebra.sites import Sites, Steps
from sgpc_framework.protocols import Inputs, Kernel, Likelihood
from sgpc_framework.rows.answers import Inclusion
from sgpc_framework.rows.blocks import Numbers, places_by_block
from sgpc_framework.rows.candidates import Candidates
from sgpc_framework.rows.drawing import Arrivals
from sgpc_framework.rows.excerpt import Excerpt, concatenate
from sgpc_framework.rows.placement import Placement
from sgpc_framework.rows.row_functions import RowFunction
from sgpc_framework.rows.shard import Shard
from sgpc_framework.rows.state import State, latent_functions
from sgpc_framework.rows.view import Rows, read_only

A = TypeVar("A")
Floats = NDArray[np.float64]

_NONE = np.empty(0, dtype=np.intp)


Numbered = float | tuple[float, ...]
"""A number, or one for each of several latent functions."""


class Site(NamedTuple):
    """The site of one basis vector, in both of its coordinates (``algebra.sites``)."""

    precision: float
    mean: Numbered
    coefficient: Numbered
    shrinkage: float


class Posterior:
    """q_u(f) at the training rows, from the empty basis (step 2) on.

    ``starts`` are the numbers of the first rows of the blocks, and at the end that of all rows.
    """

    def __init__(
        self,
        shards: Placement[Shard],
        starts: Numbers,
        kernel: Kernel,
        likelihood: Likelihood,
        no_inputs: Inputs,
        total_weight: float,
    ) -> None:
        self.kernel = kernel
        self.likelihood = likelihood
        self.total_weight = total_weight
        """The number of rows, or the sum of their weights: ``total`` over it is a mean."""
        self.basis: list[int] = []
        self.tried: Numbers = _NONE
        """The rows whose columns were computed together with that of the newest basis vector."""
        self.rounded_to_zero = 0
        """How many variances rounding took below zero so far (each was set to zero)."""
        self._shards = shards
        self._starts = starts
        self._rows = int(starts[-1])
        self._functions = latent_functions(likelihood)
        self._inputs = [no_inputs]
        self._sites: list[Site] = []
        self._left = shards.sum(Shard.eligible_count)
        self._known: list[Excerpt] = []
        """The rows that were brought here since the last inclusion."""
        self.drawn: Numbers | None = None
        """What ``sample`` last returned, while all of it can be included."""
        self._asked = 0
        """How often candidates were asked for, by which shards tell one set from the next."""

    def __len__(self) -> int:
        return self._rows

    @property
    def size(self) -> int:
        """How many basis vectors have been included."""
        return len(self.basis)

    # -- verbs for plugins ---------------------------------------------------------------------

    def argmin(self, row_score: RowFunction) -> int:
        """The inactive row with the least score; ties go to the lowest row number."""
        best = self._shards.sum(Shard.least, row_score).row
        if not len(best):
            raise ValueError("no inactive row has any variance left to give")
        self._known.append(best)
        return int(best.index[0])

    def sample(self, row_weight: RowFunction, size: int, rng: np.random.Generator) -> Numbers:
        """``size`` distinct inactive rows, drawn one after the other in proportion to weight:
        what ``row_weight`` says, times the weight that the row has itself (``rows.weight``).

        When fewer rows have a positive weight they are all taken, and the rest is drawn uniformly;
        when there are fewer inactive rows, all of them are.
        """
        size = min(size, self._left)
        rows = self._draw(row_weight, size, rng, _NONE)
        if len(rows) < size:
            others = self._draw(_equal, size - len(rows), rng, rows.index)
            rows = concatenate([rows, others])
        self._known.append(rows)
        self.drawn = read_only(rows.index)
        return self.drawn

    def total(
        self,
        row_value: RowFunction,
        candidates: Candidates | None = None,
        steps: Steps | None = None,
    ) -> Floats:
        """Sum of a row-local value over all rows, active ones too, each times the row's weight.

        Without candidates: one sum, at the present state. With candidates and their steps: one sum
        for each, at the state that including it would make; ``rows.active`` then counts it in, and
        ``rows.column`` is its k̃. A value of shape (m, rows) gives m sums.
        """
        if candidates is None:
            return np.asarray(self._shards.sum(Shard.total, row_value))
        if steps is None or not len(candidates) == len(steps) == steps.shrinkage.shape[-1]:
            raise ValueError(f"wanted a step for each of {len(candidates)} rows, found {steps}")
        if not len(candidates):
            return np.empty(0)
        sums = self._shards.sum(Shard.trial_totals, row_value, candidates.selection, steps)
        return np.asarray(sums)

    def candidates(self, index: NDArray[np.integer]) -> Candidates:
        """Candidates for inclusion: rows by their numbers, which come here if they are not yet."""
        numbers = (np.sort(index) if len(index) > 1 else index).astype(np.intp, copy=False)
        self._asked += 1
        return Candidates.of(self._asked, self._excerpt(numbers), len(self), self.likelihood)

    def include(self, candidates: Candidates, position: int, step: Steps) -> Inclusion:
        """One stage: add a basis vector with its site (steps 4 and 5, eqs. 3 and 7).

        mean     += coefficient k̃
        variance -= shrinkage k̃²
        M gains the row √shrinkage k̃
        """
        one = candidates[position]
        coefficients, eta = step.numbers
        included = self._shards.sum(Shard.include, one.selection, coefficients, eta)
        self.basis.append(int(one.index[0]))
        self.tried = one.selection.whole.index
        self._inputs.append(one.at.X)
        self._left = included.eligible
        self.rounded_to_zero += included.rounded
        at = zip(one.at.mean.ravel().tolist(), coefficients, strict=True)
        means = [mean + coefficient / eta for mean, coefficient in at]
        precision = eta / (1.0 - eta * float(one.at.variance[0]))
        self._sites.append(Site(precision, _alone(means), _alone(coefficients), eta))
        self._known = []
        self.drawn = None
        return included

    def marginals(self) -> tuple[Floats, Floats]:
        """Posterior mean and variance of every row (read-only)."""
        means, variances, _ = zip(*self._shards.every(Shard.marginals), strict=True)
        mean: Floats = np.concatenate(means, axis=-1)
        variance: Floats = np.concatenate(variances, axis=-1)
        return read_only(mean), read_only(variance)

    def evaluated(self, function: Callable[[Rows], A]) -> list[A]:
        """What a function says of the rows of every block, for those who insist."""
        return list(self._shards.every(Shard.evaluated, function))

    # -- for the engine ------------------------------------------------------------------------

    @property
    def sites(self) -> Sites:
        """The sites included so far."""
        precision, mean, coefficient, shrinkage = (
            [site[of] for site in self._sites] for of in range(4)
        )
        shape = (self.size,) if self._functions == 1 else (self.size, self._functions)
        by_function = (np.array(each).reshape(shape).T for each in (mean, coefficient))
        means, coefficients = map(np.ascontiguousarray, by_function)
        return Sites(np.array(precision), means, coefficients, np.array(shrinkage))

    @property
    def last_site(self) -> Site:
        """That of the newest basis vector."""
        return self._sites[-1]

    def state(self) -> State:
        """What the posterior has become, without the rows."""
        sites = self.sites
        basis = np.array(self.basis, dtype=np.intp)
        inputs = np.concatenate(self._inputs)
        return State(self.kernel, self.likelihood, basis, inputs, sites.precision, sites.mean)

    @property
    def exhausted(self) -> bool:
        """Whether no row can be included any more."""
        return self._left == 0

    def eligible(self) -> NDArray[np.bool_]:
        """Which rows can still be included: not active, and with some variance left."""
        return np.concatenate([each for _, _, each in self._shards.every(Shard.marginals)])

    def check_likelihood(self) -> None:
        """Raise if the likelihood is to blame for a sum that is not finite."""
        for _ in self._shards.every(Shard.check_likelihood):
            pass

    # -- inside --------------------------------------------------------------------------------

    def _draw(
        self, row_weight: RowFunction, size: int, rng: np.random.Generator, taken: Numbers
    ) -> Excerpt:
        """Up to ``size`` rows in the order in which they arrive (``drawing``)."""
        blocks = len(self._shards)
        ahead = min(size, 2 + 4 * size // blocks) if blocks > 1 else size
        waiting = list(range(blocks))
        places = places_by_block(taken, self._starts)
        own = {block: taken[at] for block, at in places.items()}
        arrived: dict[int, list[Arrivals]] = {}
        while True:
            chances = rng.random((len(waiting), 2, ahead))
            arguments = {
                block: (row_weight, size, *_before(own.get(block, _NONE), arrived.get(block), luck))
                for block, luck in zip(waiting, chances, strict=True)
            }
            latest = self._shards.merge(Shard.arrivals, arguments).of_block
            if blocks == 1:
                return latest[0].excerpt
            for block in sorted(waiting):
                if (start := int(self._starts[block])) in latest:
                    arrived.setdefault(block, []).append(latest[start])
            in_order = [each for block in sorted(arrived) for each in arrived[block]]
            earliest, horizon = _earliest(in_order, size)
            if size == 1:  # nobody can have been earlier than the first of a block
                return earliest
            # A block whose last arrival is among the earliest may have had more that were earlier.
            waiting = [
                block
                for block, of in sorted(arrived.items())
                if of[-1].more and of[-1].last < horizon
            ]
            if not waiting:
                return earliest
            ahead = size

    def _excerpt(self, numbers: Numbers) -> Excerpt:
        """The rows with these numbers, in their order."""
        for rows in self._known:
            if rows.index.tolist() == numbers.tolist():
                return rows
            order = np.argsort(rows.index)
            places = np.searchsorted(rows.index, numbers, sorter=order)
            if places.max(initial=0) < len(order):
                at = order[places]
                if np.array_equal(rows.index[at], numbers):
                    return rows[at]
        by_block = places_by_block(numbers, self._starts)
        arguments = {block: (numbers[own],) for block, own in by_block.items()}
        excerpts = self._shards.some(Shard.excerpt, arguments or {0: (_NONE,)})
        self._known.append(concatenate(excerpts))
        return self._known[-1]


def _before(
    taken: Numbers, arrived: list[Arrivals] | None, chance: Floats
) -> tuple[Numbers, Floats, float]:
    """Which rows of a block do not come any more, the chance of the next, and since when."""
    if not arrived:
        return taken, chance, 0.0
    gone = np.concatenate([taken, *(each.excerpt.index for each in arrived)])
    return gone, chance, arrived[-1].last


def _earliest(arrived: list[Arrivals], size: int) -> tuple[Excerpt, float]:
    """The first ``size`` arrivals of all, and when the last of them came (never, if too few)."""
    times = np.concatenate([each.times for each in arrived])
    first = np.argsort(times, kind="stable")[:size]
    horizon = math.inf if len(first) < size else float(times[first].max(initial=0.0))
    edges = np.cumsum([0, *(len(each.times) for each in arrived)])
    parts, places = [], []
    for block, each in enumerate(arrived):
        own = first[(first >= edges[block]) & (first < edges[block + 1])]
        if len(own):
            parts.append(each.excerpt[own - edges[block]])
            places.append(own)
    if not parts:
        return arrived[0].excerpt[:0], horizon
    together = concatenate(parts)
    order = np.argsort(times[np.concatenate(places)], kind="stable")
    return together[order], horizon


def _alone(functions: list[float]) -> Numbered:
    """The number of a single latent function, or those of several."""
    return functions[0] if len(functions) == 1 else tuple(functions)


def _equal(rows: Rows) -> Floats:
    return np.ones(len(rows))
