"""What a shard is asked about, and what it answers: a few numbers, to which those of other blocks
can be added."""

from __future__ import annotations

from operator import add
from typing import NamedTuple

from sgpc_framework.rows.blocks import Numbers
from sgpc_framework.rows.excerpt import Excerpt


class Inclusion(NamedTuple):
    """What one stage did to the rows of a block, or of all blocks."""

    log_z: float
    """The sum of log Z after it, each times the row's weight."""
    wrong: float
    """How many rows have a predictive probability of at most one half for their own label, each
    counted as often as its weight says."""
    eligible: int
    """How many rows can still be included."""
    rounded: int
    """How many variances rounding took below zero (each was set to zero)."""

    def __add__(self, other: Inclusion) -> Inclusion:  # type: ignore[override]
        """The same of two blocks."""
        return Inclusion(*map(add, self, other))


class Least(NamedTuple):
    """The eligible row with the least score, and the score; no row if none is eligible.

    Those of two blocks can be added: ties go to the lowest row number.
    """

    score: float
    row: Excerpt

    def __add__(self, other: Least) -> Least:  # type: ignore[override]
        return min(self, other, key=Least._rank)

    def _rank(self) -> tuple[bool, float, int]:
        return not len(self.row), self.score, int(self.row.index[0]) if len(self.row) else 0


class Selection(NamedTuple):
    """Candidates, which of them are tried, and whether their columns are worth keeping."""

    number: int
    """The same for one set of candidates, another for the next: what kept columns are known by."""
    whole: Excerpt
    positions: Numbers
    keep: bool
    everything: bool = True
    """Whether all of them are tried, in their order."""
