"""Blocks of rows: what a training set is cut into, wherever it lives.

A block is so many consecutive rows that what is done to them stays in a cache. Every sum over rows
is taken block by block, in the order of the blocks, so that the bits of a fit depend on how many
rows a block has and not on where the blocks are.
"""

from __future__ import annotations

from collections.abc import Iterator
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
class Block:
    """Some consecutive rows: their inputs, their labels, and the number of the first.

    Labels are what the likelihood takes: -1.0 and +1.0 for one latent function, positions among
    the classes before a strategy has turned them into such.
    """

    X: Inputs
    y: NDArray[Any]
    start: int

    def __len__(self) -> int:
        return len(self.y)

    @property
    def index(self) -> Numbers:
        """The numbers of the rows."""
        return np.arange(self.start, self.start + len(self))

    def contents(self) -> tuple[Inputs, NDArray[Any]]:
        """Inputs and labels of all rows."""
        return self.X, self.y

    def excerpt(self, numbers: Numbers) -> tuple[Inputs, NDArray[Any]]:
        """Inputs and labels of the rows with these numbers."""
        return self.X[numbers - self.start], self.y[numbers - self.start]

    def against_rest(self, position: int) -> Block:
        """The same rows, labelled +1 if they are of the class at that position and -1 if not."""
        return Block(self.X, read_only(np.where(self.y == position, 1.0, -1.0)), self.start)

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
            yield Block(self.X[start:stop], self.y[start:stop], self.start + start)
