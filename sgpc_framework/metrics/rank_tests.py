"""Several methods on several data sets: Friedman's test, and who differs from whom after it.

After J. Demsar, "Statistical comparisons of classifiers over multiple data sets", JMLR 7 (2006).
scipy.stats is imported where it is used: it is slow to import.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from math import inf, sqrt

import attrs
import numpy as np


@attrs.frozen
class Friedman:
    """Methods ranked on several data sets, and the tests of the hypothesis that all are alike.

        χ² = 12 N / (k (k + 1)) (∑ Rⱼ² - k (k + 1)² / 4)

    with Rⱼ the mean rank of method j of k over N sets; ``p`` is by χ² with k - 1 degrees of
    freedom (ties counted), ``p_iman_davenport`` by F = (N - 1) χ² / (N (k - 1) - χ²).
    """

    ranks: Mapping[str, float]
    sets: int
    p: float
    p_iman_davenport: float

    @property
    def in_order(self) -> list[tuple[str, float]]:
        """The methods with their mean ranks, the best first."""
        return sorted(self.ranks.items(), key=lambda item: item[1])


def friedman(values: Mapping[str, Sequence[float]]) -> Friedman:
    """Friedman's test; ``values`` has for each method one number a data set, less is better."""
    from scipy.stats import chi2 as chi_squared
    from scipy.stats import f, rankdata

    table = np.array(list(values.values())).T
    sets, methods = table.shape
    placed = np.array([rankdata(row) for row in table])
    ranks = placed.mean(axis=0)
    named = {name: float(rank) for name, rank in zip(values, ranks, strict=True)}
    if np.all(table == table[:, :1]):
        return Friedman(named, sets, 1.0, 1.0)
    # the sum of squares, by what it is where methods are alike; ties leave less of that
    middle = (methods + 1) / 2.0
    chi2 = sets**2 * (methods - 1) * ((ranks - middle) ** 2).sum() / ((placed - middle) ** 2).sum()
    p = chi_squared.sf(chi2, methods - 1)
    room = sets * (methods - 1) - chi2
    if room <= 1e-9:  # every set ranks the methods alike
        p_f = 0.0
    else:
        statistic = (sets - 1) * chi2 / room
        p_f = float(f.sf(statistic, methods - 1, (methods - 1) * (sets - 1)))
    return Friedman(named, sets, float(p), p_f)


def critical_difference(methods: int, sets: int, level: float) -> float:
    """Bonferroni-Dunn: how far a mean rank must be from the control's to differ at that level.

        CD = q √(k (k + 1) / (6 N)),   q the normal quantile at 1 - level / (2 (k - 1))

    >>> round(critical_difference(4, 6, 0.1) / sqrt(4 * 5 / 36), 3)
    2.128
    """
    from scipy.special import ndtri

    q = float(ndtri(1.0 - level / (2.0 * (methods - 1))))
    return q * sqrt(methods * (methods + 1) / (6.0 * sets))


@cache
def nemenyi_difference(methods: int, sets: int, level: float) -> float:
    """Nemenyi: how far two mean ranks must be apart to differ at that level, any two of them.

        CD = q √(k (k + 1) / (6 N)),   q that of the studentised range over √2

    >>> round(nemenyi_difference(4, 14, 0.05), 2)
    1.25
    """
    from scipy.stats import studentized_range

    q = float(studentized_range.ppf(1.0 - level, methods, inf)) / sqrt(2.0)
    return q * sqrt(methods * (methods + 1) / (6.0 * sets))


def rank_groups(ranks: Mapping[str, float], difference: float) -> list[tuple[str, ...]]:
    """The largest groups in which no two mean ranks are further apart than a difference.

    >>> rank_groups({"a": 1.0, "b": 1.8, "c": 2.5, "d": 4.0}, 1.0)
    [('a', 'b'), ('b', 'c')]
    """
    in_order = sorted(ranks, key=ranks.__getitem__)
    groups: list[tuple[str, ...]] = []
    last = 0
    for start, name in enumerate(in_order):
        end = sum(ranks[other] - ranks[name] <= difference for other in in_order[start:]) + start
        if end > last and end - start > 1:
            groups.append(tuple(in_order[start:end]))
        last = max(last, end)
    return groups
