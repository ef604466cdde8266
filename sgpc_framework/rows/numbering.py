"""Some of the rows, and what they are called elsewhere, for rows that may live anywhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import attrs
import numpy as np
from numpy.typing import NDArray

from sgpc_framework.rows.blocks import Block, Numbers
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
class GivenNumbers:
    """What whoever gave the rows calls them, asked of the blocks where it is wanted."""

    blocks: Placement[Block]
    starts: Numbers

    def __getitem__(self, which: Any) -> Any:
        return _asked_of_owners(self.blocks, Block.given_numbers, self.starts, which, ())


@attrs.frozen(eq=False)
class ChosenNumbers:
    """What the rows that a function chose are called among all of them."""

    blocks: Placement[Block]
    chosen: Chooses
    starts: Numbers

    def __getitem__(self, which: Any) -> Any:
        function = _chosen_numbers_at
        return _asked_of_owners(self.blocks, function, self.starts, which, (self.chosen,), True)


def _asked_of_owners(
    blocks: Placement[Block],
    function: Callable[..., Numbers],
    starts: Numbers,
    which: Any,
    shared: tuple[Any, ...],
    relative: bool = False,
) -> Any:
    """A function of numbers, or of one, asked of the blocks that have them."""
    wanted = np.atleast_1d(np.asarray(which, dtype=np.intp))
    owners = np.searchsorted(starts, wanted, side="right") - 1  # -1 for a number that is no row
    arguments = {
        int(block): (wanted[owners == block] - (starts[block] if relative else 0), *shared)
        for block in np.unique(owners[owners >= 0])
    }
    answers = wanted.copy()
    if arguments:
        by_block = blocks.some(function, arguments)
        for block, numbers in zip(sorted(arguments), by_block, strict=True):
            answers[owners == block] = numbers
    return answers if np.ndim(which) else answers[0]


def chosen_numbers(block: Block, chosen: Chooses) -> Numbers:
    return block.start + np.flatnonzero(chosen(block))


def _chosen_numbers_at(block: Block, places: Numbers, chosen: Chooses) -> Numbers:
    return chosen_numbers(block, chosen)[places]


def chosen_count(block: Block, chosen: Chooses) -> int:
    return int(np.count_nonzero(chosen(block)))
