"""Some of the rows, and what they are called elsewhere, for rows that may live anywhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import attrs
import numpy as np
from numpy.typing import NDArray

from sgpc_framework.rows.blocks import Block, Numbers, places_by_block
from sgpc_framework.rows.placement import Placement

Chooses = Callable[[Block], NDArray[np.bool_]]
"""Says of each row of a block whether it is chosen."""


class Numbering(Protocol):
    """What rows are called elsewhere, by the number of one or by an array of numbers. An array of
    numbers is one."""

    def __getitem__(self, which: Any, /) -> Any: ...


@attrs.frozen(eq=False)
class Listed:
    """Chooses the rows whose numbers are in a list, in ascending order."""

    numbers: Numbers

    def __call__(self, block: Block) -> NDArray[np.bool_]:
        inside = np.searchsorted(self.numbers, [block.start, block.start + len(block)])
        chosen = np.zeros(len(block), dtype=np.bool_)
        chosen[self.numbers[slice(*inside)] - block.start] = True
        return chosen


@attrs.frozen(eq=False)
class NumbersElsewhere:
    """A numbering that the blocks know, which are asked when somebody wants to know.

    ``of_block`` says what the rows of a block are called, or those that were chosen of it, of which
    ``starts`` has the number of the first in each block. What is no row stays what it is.
    """

    blocks: Placement[Block]
    starts: Numbers
    of_block: Callable[[Block], Numbers]

    def __getitem__(self, which: Any) -> Any:
        wanted = np.atleast_1d(np.asarray(which, dtype=np.intp))
        places = places_by_block(wanted, self.starts)
        arguments = {
            block: (wanted[own] - self.starts[block], self.of_block)
            for block, own in places.items()
        }
        answers = wanted.copy()
        found = self.blocks.some(_numbers_at, arguments) if arguments else []
        for own, numbers in zip(places.values(), found, strict=True):
            answers[own] = numbers
        return answers if np.ndim(which) else answers[0]


def _numbers_at(block: Block, places: Numbers, of_block: Callable[[Block], Numbers]) -> Numbers:
    return of_block(block)[places]


def chosen_numbers(block: Block, chosen: Chooses) -> Numbers:
    """The numbers of those rows of a block that are chosen."""
    return block.start + np.flatnonzero(chosen(block))


def chosen_count(block: Block, chosen: Chooses) -> int:
    """How many they are."""
    return int(np.count_nonzero(chosen(block)))
