"""Blocks of rows: what a training set is cut into, wherever it lives.

A block is so many consecutive rows that what is done to them stays in a cache. Every sum over rows
is taken block by block, in the order of the blocks, so that the bits of a fit depend on how many
rows a block has and not on where the blocks are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from sgpc_framework.protocols import Inputs
from sgpc_framework.rows.view import read_only

Floats = NDArray[np.float64]
Numbers = NDArray[np.intp]


@attrs.frozen(eq=False)
class Contents:
    """Inputs and labels of some rows, and their weights where there are any.

    ``numbers`` is what whoever gave the rows calls them, where some were left out.
    """

    X: Inputs
    y: NDArray[Any]
    weight: Floats | None
    numbers: Numbers | None = None

    @classmethod
    def concatenate(cls, parts: Sequence[Contents]) -> Contents:
        """Several as one."""
        if len(parts) == 1:
            return parts[0]
        weights = [part.weight for part in parts if part.weight is not None]
        numbers = [part.numbers for part in parts if part.numbers is not None]
        return cls(
            np.concatenate([part.X for part in parts]),
            np.concatenate([part.y for part in parts]),
            np.concatenate(weights) if weights else None,
            np.concatenate(numbers) if numbers else None,
        )

    def __getitem__(self, which: slice | Numbers) -> Contents:
        """Some of the rows, in the order asked for."""
        weight = None if self.weight is None else self.weight[which]
        numbers = None if self.numbers is None else self.numbers[which]
        return Contents(self.X[which], self.y[which], weight, numbers)


@attrs.frozen(eq=False)
class Block:
    """Some consecutive rows: their inputs, their labels, the number of the first, their weights.

    Labels are what the likelihood takes: -1.0 and +1.0 for one latent function, positions among
    the classes before a strategy has turned them into such. Without weights every row counts one.
    """

    X: Inputs
    y: NDArray[Any]
    start: int
    weight: Floats | None = None
    numbers: Numbers | None = None
    """What whoever gave the rows calls them, where some were left out elsewhere than here."""

    def __len__(self) -> int:
        return len(self.y)

    @property
    def index(self) -> Numbers:
        """The numbers of the rows."""
        return np.arange(self.start, self.start + len(self))

    def total_weight(self) -> float:
        """The number of rows, or the sum of their weights."""
        return len(self) if self.weight is None else float(self.weight.sum())

    def contents(self) -> Contents:
        """Inputs, labels and weights of all rows."""
        return Contents(self.X, self.y, self.weight, self.numbers)

    def excerpt(self, numbers: Numbers) -> Contents:
        """Those of the rows with these numbers."""
        return self.contents()[numbers - self.start]

    def against_rest(self, position: int) -> Block:
        """The same rows, labelled +1 if they are of the class at that position and -1 if not."""
        y = read_only(np.where(self.y == position, 1.0, -1.0))
        return Block(self.X, y, self.start, self.weight, self.numbers)

    def given_numbers(self) -> Numbers:
        """What whoever gave the rows calls them."""
        return self.index if self.numbers is None else self.numbers

    def mapped(self, function: Callable[[Inputs], Inputs]) -> Block:
        """The same rows, their inputs seen through a function."""
        return Block(read_only(function(self.X)), self.y, self.start, self.weight)

    def active(self, basis: Numbers) -> NDArray[np.bool_]:
        """Which rows are basis vectors; ``basis`` has their numbers."""
        active = np.zeros(len(self), dtype=np.bool_)
        inside = (basis >= self.start) & (basis < self.start + len(self))
        active[basis[inside] - self.start] = True
        return active

    def pieces(self, most: int) -> Iterator[Block]:
        """The block in pieces of about equal size, none with more than ``most`` rows."""
        count = -(-len(self) // most)
        edges = [len(self) * piece // count for piece in range(count + 1)]
        for start, stop in pairwise(edges):
            some = self.contents()[start:stop]
            yield Block(some.X, some.y, self.start + start, some.weight)


def block_starts(rows: int, block_rows: int) -> Numbers:
    """The numbers of the first rows of blocks and, at the end, how many rows there are."""
    return np.array([*range(0, rows, block_rows), rows], dtype=np.intp)


def places_by_block(numbers: Numbers, starts: Numbers) -> dict[int, Numbers]:
    """Where among some row numbers those of each block are, for blocks with these starts.

    A negative number is of no block.

    >>> places_by_block(np.array([7, 2, 8, -1]), np.array([0, 5, 10]))
    {0: array([1]), 1: array([0, 2])}
    """
    if not len(numbers):
        return {}
    owners = np.searchsorted(starts, numbers, side="right") - 1
    order = np.argsort(owners, kind="stable")
    blocks, first = np.unique(owners[order], return_index=True)
    places = dict(zip(blocks.tolist(), np.split(order, first[1:]), strict=True))
    places.pop(-1, None)
    return places
