"""Sums over blocks in an order that does not depend on where the blocks are.

Floating-point sums depend on the order of their additions, so the order is written down: blocks are
the leaves of a tree in which every node has up to ``FAN`` children, and a node is the sum of its
children from left to right. Whoever has all blocks below a node can add them up alone; a worker
then answers with a few numbers however many blocks it has, and the bits are those of one process.
Up to ``FAN`` blocks that is a sum from the first block to the last.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import reduce
from operator import add
from typing import NamedTuple, TypeVar

R = TypeVar("R")

FAN = 16
"""How many children a node has."""


class Node(NamedTuple):
    """A node of the tree: ``place`` counts from the left on its level; level 0 has the blocks."""

    level: int
    place: int

    def children(self, blocks: int) -> Iterator[Node]:
        """Those that there are, if there are so many blocks in all."""
        first, below = self.place * FAN, _width(self.level - 1, blocks)
        for index in range(first, min(first + FAN, below)):
            yield Node(self.level - 1, index)


def root(blocks: int) -> Node:
    """The node above all blocks."""
    level = 0
    while _width(level, blocks) > 1:
        level += 1
    return Node(level, 0)


def largest_nodes(numbers: Iterable[int], blocks: int) -> list[Node]:
    """The fewest nodes that have these blocks below them, and no others, from left to right.

    >>> [tuple(node) for node in largest_nodes([*range(16), 17], 20)]
    [(1, 0), (0, 17)]
    """
    level, here, largest = 0, sorted(numbers), []
    while here:
        width = _width(level, blocks)
        present = Counter(index // FAN for index in here)
        complete = {
            parent
            for parent, count in present.items()
            if width > 1 and count == min(FAN, width - FAN * parent)
        }
        largest += [Node(level, index) for index in here if index // FAN not in complete]
        level, here = level + 1, sorted(complete)
    return sorted(largest, key=lambda node: node.place * FAN**node.level)


def tree_sum(values: Iterator[R], node: Node, blocks: int) -> R:
    """The sum below a node of as many of the values as it has blocks below it."""
    if node.level == 0:
        return next(values)
    return reduce(add, (tree_sum(values, child, blocks) for child in node.children(blocks)))


def sum_from_nodes(sums: Mapping[Node, R], node: Node, blocks: int) -> R:
    """The sum below a node from those of nodes below it."""
    if node in sums:
        return sums[node]
    return reduce(add, (sum_from_nodes(sums, child, blocks) for child in node.children(blocks)))


def _width(level: int, blocks: int) -> int:
    """How many nodes a level has."""
    return int(-(-blocks // FAN**level))
