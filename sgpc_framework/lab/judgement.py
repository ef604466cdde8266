"""Which methods differ: set by set in pairs with the control, and over the sets by ranks."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

import attrs

from sgpc_framework.lab.claims.claim import Tally
from sgpc_framework.lab.results import Measure, Outcomes
from sgpc_framework.metrics.rank_tests import (
    Friedman,
    critical_difference,
    nemenyi_difference,
    rank_groups,
)
from sgpc_framework.metrics.statistics import LEVEL, Comparison, holm


def fewest_partitions(rivals: int) -> int:
    """With how many partitions Wilcoxon's test, with Holm's correction, can tell anything.

    >>> [fewest_partitions(rivals) for rivals in (1, 6, 7, 20)]
    [6, 8, 9, 10]
    """
    return 1 + next(n for n in count(1) if rivals * 2.0**-n < LEVEL)


@attrs.frozen
class Duel:
    """A method and the control on one data set; the difference is the method's less the
    control's, so that below zero the method is better."""

    method: str
    data: str
    comparison: Comparison
    p_holm: float
    """Wilcoxon's p with Holm's correction for all methods on the data set."""

    rivals: int = 1
    """How many methods that correction is for."""

    @property
    def telling(self) -> bool:
        """Whether there are enough partitions for any outcome to be significant."""
        return self.comparison.count >= fewest_partitions(self.rivals)

    @property
    def verdict(self) -> str:
        """In a word."""
        if not self.telling:
            return "too few"
        if self.p_holm >= LEVEL:
            return "same"
        return "better" if self.comparison.difference < 0.0 else "worse"


@attrs.frozen
class Judgement:
    """All methods beside the control, in one measure at one size."""

    measure: Measure
    size: int
    control: str
    methods: tuple[str, ...]
    duels: tuple[Duel, ...]
    friedman: Friedman | None
    """None below two data sets."""

    def tally(self, method: str) -> Tally:
        """On how many sets a method is better than the control, the same, or worse."""
        verdicts = [duel.verdict for duel in self.duels if duel.method == method]
        return Tally(*(verdicts.count(v) for v in ("better", "same", "worse", "too few")))

    def wins(self, method: str) -> tuple[int, int, int]:
        """Sets on which its mean is less than the control's, equal, or more."""
        signs = [d.comparison.difference for d in self.duels if d.method == method]
        return sum(s < 0 for s in signs), sum(s == 0 for s in signs), sum(s > 0 for s in signs)

    @property
    def reach(self) -> float:
        """The critical difference of Bonferroni and Dunn around the control."""
        assert self.friedman is not None
        return critical_difference(len(self.methods), self.friedman.sets, LEVEL)

    @property
    def nemenyi(self) -> float:
        """The critical difference of any two."""
        assert self.friedman is not None
        return nemenyi_difference(len(self.methods), self.friedman.sets, LEVEL)

    @property
    def groups(self) -> list[tuple[str, ...]]:
        """Methods that Nemenyi's test cannot tell apart."""
        return rank_groups(self.friedman.ranks, self.nemenyi) if self.friedman else []

    @property
    def different(self) -> bool:
        """Whether Friedman's test, with Iman and Davenport's correction, sees any difference."""
        return self.friedman is not None and self.friedman.p_iman_davenport < LEVEL

    def over_sets(self, method: str) -> str:
        """Beside the control over all sets: better, same or worse, by Bonferroni and Dunn."""
        if self.friedman is None or method not in self.friedman.ranks:
            return "-"
        apart = self.friedman.ranks[method] - self.friedman.ranks[self.control]
        if not self.different or abs(apart) <= self.reach:
            return "same"
        return "better" if apart < 0.0 else "worse"


def judge(
    outcomes: Outcomes, methods: Sequence[str], control: str, size: int, measure: Measure
) -> Judgement | None:
    """The judgement over all data sets; None if the control and another one share no partition."""
    duels: list[Duel] = []
    for data in outcomes.sets:
        each = {
            method: comparison
            for method in methods
            if method != control
            and (comparison := outcomes.comparison(data, method, control, size, measure))
        }
        corrected = holm([comparison.p for comparison in each.values()])
        duels += [
            Duel(method, data, comparison, p, len(each))
            for (method, comparison), p in zip(each.items(), corrected, strict=True)
        ]
    if not duels:
        return None
    present = tuple(m for m in methods if m == control or any(d.method == m for d in duels))
    return Judgement(
        measure,
        size,
        control,
        present,
        tuple(duels),
        outcomes.friedman(present, size, measure),
    )
