"""A claim of the paper beside our figures, with a verdict that a rule gives."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Literal

import attrs

from sgpc_framework.lab.evidence import Evidence
from sgpc_framework.lab.results import Measure, Results
from sgpc_framework.metrics.statistics import Comparison

Verdict = Literal["holds", "partly", "does not", "not run"]
ALMOST = 5 / 6
"""What "almost all" asks for: five of the six data sets."""


@attrs.frozen
class Finding:
    """Our figure in words, the verdict, and the rule by which it was given."""

    figure: str
    verdict: Verdict
    rule: str


@attrs.frozen
class Claim:
    """Something that section 5 of the paper says, and how to look for it in the evidence.

    ``why`` explains a verdict, where there is something to explain.
    """

    text: str
    find: Callable[[Evidence], Finding | None]
    why: Mapping[Verdict, str] = attrs.Factory(dict)

    def judge(self, evidence: Evidence) -> Finding:
        finding = self.find(evidence)
        return finding or Finding("-", "not run", "")


def share_rule(hits: int, total: int, enough: float = 1.0) -> Verdict:
    """Holds with a share of ``enough``, partly with half of the cases.

    >>> share_rule(5, 6), share_rule(5, 6, ALMOST), share_rule(2, 6), share_rule(0, 0)
    ('partly', 'holds', 'does not', 'not run')
    """
    if not total:
        return "not run"
    if hits >= enough * total - 1e-9:
        return "holds"
    return "partly" if 2 * hits >= total else "does not"


@attrs.frozen
class Tally:
    """How many comparisons are significantly better, neither, or significantly worse.

    ``untold`` are those with too few partitions for a test; they count for nothing.
    """

    better: int
    same: int
    worse: int
    untold: int = 0

    @classmethod
    def of(cls, comparisons: Iterable[Comparison]) -> Tally:
        tests = list(comparisons)
        told = [comparison for comparison in tests if comparison.telling]
        better, worse = sum(c.better for c in told), sum(c.worse for c in told)
        return cls(better, len(told) - better - worse, worse, len(tests) - len(told))

    @classmethod
    def sum(cls, parts: Iterable[Tally]) -> Tally:
        tallies = [cls(0, 0, 0), *parts]
        return cls(*(sum(column) for column in zip(*map(attrs.astuple, tallies), strict=True)))

    @property
    def total(self) -> int:
        return self.better + self.same + self.worse

    def __str__(self) -> str:
        return f"better in {self.better}, same in {self.same}, worse in {self.worse}{self.note}"

    @property
    def note(self) -> str:
        return f"; {self.untold} with too few partitions to test" if self.untold else ""


def tally(
    results: Results,
    first: str,
    others: Iterable[str],
    sets: Iterable[str],
    sizes: Iterable[int],
    measures: Iterable[Measure],
) -> Tally:
    """Wilcoxon's tests of one method against others, each set, size and measure by itself."""
    grid = [
        (data, other, size, measure)
        for data in sets
        for other in others
        for size in sizes
        for measure in measures
    ]
    comparisons = (results.comparison(d, first, other, size, m) for d, other, size, m in grid)
    return Tally.of(comparison for comparison in comparisons if comparison is not None)
