"""Where X, y and the weights live. Nothing else in the engine or in a plugin holds any of them.

Few things can be asked of the rows: how many there are, some of them by their numbers, a sample, a
summary of each feature, a sum of a function over the blocks, and a posterior. All of it is written
over a placement of blocks: arrays in this process are one, rows elsewhere would be another.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, Concatenate, NamedTuple, ParamSpec, TypeVar

import attrs
import numpy as np
from numpy.typing import NDArray

from sgpc_framework.algebra.rounding import Storage
from sgpc_framework.parts.abilities import has
from sgpc_framework.protocols import Inputs, Kernel, Likelihood
from sgpc_framework.rows.blocks import Block, Contents, Numbers, block_starts, places_by_block
from sgpc_framework.rows.numbering import (
    Chooses,
    Listed,
    Numbering,
    NumbersElsewhere,
    chosen_count,
    chosen_numbers,
)
from sgpc_framework.rows.placement import Placement, Regroups, ThisProcess
from sgpc_framework.rows.posterior import Posterior
from sgpc_framework.rows.shard import Shard
from sgpc_framework.rows.summary import Summary
from sgpc_framework.rows.view import read_only

Floats = NDArray[np.float64]
P = ParamSpec("P")
R = TypeVar("R")

BLOCK_ROWS = 8192
"""How many rows a block has, unless somebody says otherwise."""

GATHERED = 1 << 16
"""Up to so many rows that are elsewhere come here when they are taken out."""

_NO_ROWS = np.empty(0, dtype=np.intp)

Place = Callable[[Sequence[Block], int], Placement[Block]]
"""From the blocks, and how many rows they have in all, to where they are."""


@attrs.frozen(eq=False)
class TrainingRows:
    """Blocks of rows, wherever they are. Rows are numbered from zero.

    ``starts`` has the number of each block's first row and, at the end, how many rows there are.
    A row of weight w counts in every mean over rows as w rows would.
    """

    blocks: Placement[Block]
    starts: Numbers
    _gathered: Place = attrs.field(default=ThisProcess, alias="gathered")
    """Where rows go that were taken out of these."""
    weight: float | None = None
    """The sum of the weights; None if every row counts one."""
    numbers: Numbering | None = None
    """What whoever gave the rows calls them, if some of weight zero were left out."""
    remark: str | None = None
    """What a user should know of where the rows are, for the notes of a fit."""

    @classmethod
    def of(
        cls,
        X: Inputs,
        y: NDArray[Any],
        block_rows: int = BLOCK_ROWS,
        place: Place = ThisProcess,
        weight: Floats | None = None,
    ) -> TrainingRows:
        """Arrays, which are not copied, in blocks of so many rows.

        Weights are numbers of at least zero. A row of weight zero is left out.
        """
        some = Contents(read_only(X), read_only(y), None if weight is None else read_only(weight))
        numbers = None if weight is None or weight.all() else np.flatnonzero(weight)
        some = some if numbers is None else some[numbers]
        starts = block_starts(len(some.y), block_rows)
        parts = ((some[a:b], a) for a, b in pairwise(starts.tolist()))
        blocks = [Block(part.X, part.y, start, part.weight) for part, start in parts]
        placed = place(blocks, len(some.y))
        total = None if some.weight is None else placed.sum(Block.total_weight)
        return cls(placed, starts, place, total, numbers)

    def __len__(self) -> int:
        return int(self.starts[-1])

    @property
    def total_weight(self) -> float:
        """What a sum over rows is divided by to be a mean: the number of rows, or the sum of
        their weights."""
        return len(self) if self.weight is None else self.weight

    def posterior(
        self, kernel: Kernel, likelihood: Likelihood, max_basis: int, storage: Storage = "float64"
    ) -> Posterior:
        """The prior at these rows, with room for so many basis vectors (step 2)."""
        shards = self.blocks.map(Shard, kernel, likelihood, max_basis, storage)
        none = self.inputs(_NO_ROWS)
        return Posterior(shards, self.starts, kernel, likelihood, none, self.total_weight)

    def sum(
        self, function: Callable[Concatenate[Block, P], R], *shared: P.args, **named: P.kwargs
    ) -> R:
        """The sum of a function of every block, in their order (``tree_sums``): one trip."""
        return self.blocks.sum(function, *shared, **named)

    def against_rest(self, position: int) -> TrainingRows:
        """The same inputs, labelled +1 for one class and -1 for the rest.

        Before this, labels are positions among the classes.
        """
        return attrs.evolve(self, blocks=self.blocks.map(Block.against_rest, position))

    def mapped(self, function: Callable[[Inputs], Inputs]) -> TrainingRows:
        """The same rows, their inputs seen through a function of any number of rows."""
        return attrs.evolve(self, blocks=self.blocks.map(Block.mapped, function))

    def summary(self, through: Callable[[Inputs], Inputs] | None = None) -> Summary:
        """Least, greatest, mean and deviation of each feature, seen through a function if given."""
        if through is None:
            return self.sum(Summary.of)
        return self.sum(lambda block: Summary.of(block.mapped(through)))

    def inputs(self, numbers: Numbers) -> Inputs:
        """The inputs of some rows."""
        return self._excerpt(numbers).X

    def labels(self, numbers: Numbers) -> NDArray[Any]:
        """The labels of some rows."""
        return self._excerpt(numbers).y

    def weights(self, numbers: Numbers) -> Floats:
        """The weights of some rows."""
        weight = None if self.weight is None else self._excerpt(numbers).weight
        return np.ones(len(numbers)) if weight is None else weight

    def subset(self, numbers: Numbers) -> TrainingRows:
        """Some rows as training rows of their own, numbered anew in the order asked for.

        A few come here. Many that are elsewhere, in ascending order, stay there.
        """
        if len(numbers) > GATHERED and has(self.blocks, Regroups) and np.all(np.diff(numbers) > 0):
            return self.where(Listed(numbers)).rows
        some = self._excerpt(numbers)
        return TrainingRows.of(some.X, some.y, self.block_rows, self._gathered, some.weight)

    def where(self, chosen: Chooses) -> Chosen:
        """The rows of which a function of their block says so, as training rows of their own."""
        if not has(self.blocks, Regroups):
            parts = self.blocks.every(chosen_numbers, chosen)
            numbers = np.concatenate([*parts])
            return Chosen(self.subset(numbers), numbers)
        counts = np.array([*self.blocks.every(chosen_count, chosen)], dtype=np.intp)
        starts = block_starts(int(counts.sum()), self.block_rows)
        blocks = self.blocks.regroup(chosen, counts, starts)
        weight = None if self.weight is None else blocks.sum(Block.total_weight)
        rows = TrainingRows(blocks, starts, self._gathered, weight)
        of_block = partial(chosen_numbers, chosen=chosen)
        return Chosen(rows, NumbersElsewhere(self.blocks, np.cumsum([0, *counts]), of_block))

    @property
    def block_rows(self) -> int:
        """How many rows a block has, but for the last."""
        return int(self.starts[1]) if len(self.starts) > 1 else BLOCK_ROWS

    def draw(self, count: int, rng: np.random.Generator, without: Numbers = _NO_ROWS) -> Numbers:
        """The numbers of ``count`` rows drawn uniformly, in ascending order; all, if not more.

        The rows that are to be left out, ``without``, are in ascending order, too. Weights do not
        matter here: they stay with the rows.
        """
        left = len(self) - len(without)
        all_of_them = count >= left
        drawn = np.arange(left) if all_of_them else rng.choice(left, size=count, replace=False)
        drawn.sort()
        if not len(without):
            return drawn
        # Of the rows that are left, number ``without[k] - k`` is the first beyond without[k].
        passed = np.searchsorted(without - np.arange(len(without)), drawn, side="right")
        numbers: Numbers = drawn + passed
        return numbers

    def _excerpt(self, numbers: Numbers) -> Contents:
        if len(numbers) == len(self) and np.array_equal(numbers, np.arange(len(self))):
            return Contents.concatenate(list(self.blocks.every(Block.contents)))
        places = places_by_block(numbers, self.starts)
        wanted = {block: (numbers[own],) for block, own in places.items()}
        some = Contents.concatenate(self.blocks.some(Block.excerpt, wanted or {0: (numbers,)}))
        order = np.concatenate([*places.values()]) if places else numbers
        if np.array_equal(order, np.arange(len(order))):
            return some
        return some[np.argsort(order)]


class Chosen(NamedTuple):
    """Some of the rows as training rows of their own, and what they are called among all."""

    rows: TrainingRows
    numbers: Numbering
