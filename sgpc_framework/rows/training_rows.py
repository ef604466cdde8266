"""Where X and y live. Nothing else in the engine or in a plugin holds either.

Few things can be asked of the rows: how many there are, some of them by their numbers, a sample, a
summary of each feature, a sum of a function over the blocks, and a posterior. All of it is written
over a placement of blocks: arrays in this process are one, rows elsewhere would be another.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from itertools import pairwise
from operator import add
from typing import Any, Concatenate, ParamSpec, TypeVar

import attrs
import numpy as np
from numpy.typing import NDArray

from sgpc_framework.algebra.rounding import Storage
from sgpc_framework.protocols import Inputs, Kernel, Likelihood
from sgpc_framework.rows.blocks import Block, Numbers
from sgpc_framework.rows.placement import Placement, ThisProcess
from sgpc_framework.rows.posterior import Posterior
from sgpc_framework.rows.shard import Shard
from sgpc_framework.rows.summary import Summary
from sgpc_framework.rows.view import read_only

P = ParamSpec("P")
R = TypeVar("R")

BLOCK_ROWS = 8192
"""How many rows a block has, unless somebody says otherwise."""

Place = Callable[[Sequence[Block], int], Placement[Block]]
"""From the blocks, and how many rows they have in all, to where they are."""


@attrs.frozen(eq=False)
class TrainingRows:
    """Blocks of rows, wherever they are. Rows are numbered from zero.

    ``starts`` has the number of each block's first row and, at the end, how many rows there are.
    """

    blocks: Placement[Block]
    starts: Numbers
    _gathered: Place = attrs.field(default=ThisProcess, alias="gathered")
    """Where rows go that were taken out of these."""

    @classmethod
    def of(
        cls, X: Inputs, y: NDArray[Any], block_rows: int = BLOCK_ROWS, place: Place = ThisProcess
    ) -> TrainingRows:
        """Arrays, which are not copied, in blocks of so many rows."""
        X, y = read_only(X), read_only(y)
        starts = [*range(0, len(y), block_rows), len(y)]
        blocks = [Block(X[a:b], y[a:b], a) for a, b in pairwise(starts)]
        return cls(place(blocks, len(y)), np.array(starts, dtype=np.intp), place)

    def __len__(self) -> int:
        return int(self.starts[-1])

    def posterior(
        self, kernel: Kernel, likelihood: Likelihood, max_basis: int, storage: Storage = "float64"
    ) -> Posterior:
        """The prior at these rows, with room for so many basis vectors (step 2)."""
        shards = self.blocks.made(Shard, kernel, likelihood, max_basis, storage)
        return Posterior(shards, self.starts, kernel, likelihood, self.inputs(_NO_ROWS))

    def sum(
        self, function: Callable[Concatenate[Block, P], R], *shared: P.args, **named: P.kwargs
    ) -> R:
        """The sum of a function of every block, in their order: one trip."""
        return reduce(add, self.blocks.every(function, *shared, **named))

    def against_rest(self, position: int) -> TrainingRows:
        """The same inputs, labelled +1 for one class and -1 for the rest.

        Before this, labels are positions among the classes.
        """
        blocks = self.blocks.made(Block.against_rest, position)
        return TrainingRows(blocks, self.starts, self._gathered)

    def summary(self) -> Summary:
        """Least, greatest, mean and deviation of each feature."""
        return self.sum(Summary.of)

    def inputs(self, numbers: Numbers) -> Inputs:
        """The inputs of some rows."""
        return self._excerpt(numbers)[0]

    def labels(self, numbers: Numbers) -> NDArray[Any]:
        """The labels of some rows."""
        return self._excerpt(numbers)[1]

    def subset(self, numbers: Numbers) -> TrainingRows:
        """Some rows as training rows of their own, numbered anew in the order asked for."""
        X, y = self._excerpt(numbers)
        block_rows = int(self.starts[1]) if len(self.starts) > 1 else BLOCK_ROWS
        return TrainingRows.of(X, y, block_rows, self._gathered)

    def draw(self, count: int, rng: np.random.Generator) -> Numbers:
        """The numbers of ``count`` rows drawn uniformly, in ascending order; all, if not more."""
        if count >= len(self):
            return np.arange(len(self))
        return np.sort(rng.choice(len(self), size=count, replace=False))

    def _excerpt(self, numbers: Numbers) -> tuple[Inputs, NDArray[Any]]:
        if np.array_equal(numbers, np.arange(len(self))):
            return _joined(list(self.blocks.every(Block.contents)))
        if len(self.blocks) == 1:
            return self.blocks.some(Block.excerpt, {0: (numbers,)})[0]
        order = np.argsort(numbers, kind="stable")
        sorted_numbers = numbers[order]
        edges = np.searchsorted(sorted_numbers, self.starts)
        wanted = {
            block: (sorted_numbers[edges[block] : edges[block + 1]],)
            for block in range(len(self.starts) - 1)
            if edges[block] < edges[block + 1]
        }
        parts = self.blocks.some(Block.excerpt, wanted or {0: (numbers,)})
        X, y = _joined(parts)
        if np.array_equal(order, np.arange(len(order))):
            return X, y
        back = np.empty_like(order)
        back[order] = np.arange(len(order))
        return X[back], y[back]


def _joined(parts: list[tuple[Inputs, NDArray[Any]]]) -> tuple[Inputs, NDArray[Any]]:
    if len(parts) == 1:
        return parts[0]
    X, y = zip(*parts, strict=True)
    return np.concatenate(X), np.concatenate(y)


_NO_ROWS = np.empty(0, dtype=np.intp)
