"""The tests of the paper's section 5, after J. Demsar, "Statistical comparisons of classifiers over
multiple data sets", Journal of Machine Learning Research 7 (2006).

scipy.stats is imported where it is used: it is slow to import.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import sqrt

import attrs
import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
LEVEL = 0.05


def standard_error(values: ArrayLike) -> float:
    """The standard error of a mean, s / √n with s² = ∑ (xᵢ - x̄)² / (n - 1).

    One value alone does not have one: NaN.

    >>> standard_error([1.0, 3.0]), standard_error([1.0])
    (1.0, nan)
    """
    x = np.asarray(values, dtype=np.float64)
    return float(x.std(ddof=1) / sqrt(len(x))) if len(x) > 1 else np.nan


@attrs.frozen
class Mean:
    """A mean and its standard error (NaN for one value alone)."""

    value: float
    error: float
    count: int

    @classmethod
    def of(cls, values: ArrayLike) -> Mean:
        x = np.asarray(values, dtype=np.float64)
        return cls(float(x.mean()), standard_error(x), len(x))

    @property
    def above_zero(self) -> bool:
        """Significantly, by a t-test, two-sided at 0.05; never so for one value alone.

        With five values that takes 2.8 standard errors; two would call one in nine samples of mean
        zero significant.
        """
        if self.count < 2:
            return False
        from scipy.stats import t

        return self.value > float(t.ppf(1.0 - LEVEL / 2.0, self.count - 1)) * self.error

    def text(self, digits: int, sign: str = "", factor: float = 1.0) -> str:
        """The mean ± its standard error, both times a factor.

        >>> Mean.of([0.1, 0.3]).text(1, factor=100.0), Mean.of([0.25]).text(3, "+")
        ('20.0 ± 10.0', '+0.250')
        """
        error = "" if self.count < 2 else f" ± {factor * self.error:.{digits}f}"
        return f"{factor * self.value:{sign}.{digits}f}{error}"


@attrs.frozen
class Comparison:
    """Two methods on the same partitions: the mean difference, and Wilcoxon's p for none."""

    difference: float
    p: float
    count: int

    @property
    def telling(self) -> bool:
        """Whether there are enough pairs for any outcome to be significant: six."""
        return 2.0 ** (1 - self.count) < LEVEL

    @property
    def significant(self) -> bool:
        return self.p < LEVEL

    @property
    def better(self) -> bool:
        """The first method has significantly less."""
        return self.significant and self.difference < 0.0

    @property
    def worse(self) -> bool:
        return self.significant and self.difference > 0.0


def compare(first: ArrayLike, second: ArrayLike) -> Comparison:
    """Wilcoxon's signed-rank test, two-sided, on paired values; less is better.

    >>> compare([1, 2, 3, 4, 5, 6], [2, 4, 6, 8, 10, 12]).p
    0.03125
    """
    from scipy.stats import wilcoxon

    difference = np.asarray(first, dtype=np.float64) - np.asarray(second, dtype=np.float64)
    moved = difference[difference != 0.0]
    p = float(wilcoxon(moved).pvalue) if len(moved) else 1.0
    return Comparison(float(difference.mean()), p, len(difference))


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


def friedman(values: Mapping[str, Sequence[float]]) -> Friedman:
    """Friedman's test; ``values`` has for each method one number a data set, less is better."""
    from scipy.stats import f, friedmanchisquare, rankdata

    table = np.array(list(values.values())).T
    sets, methods = table.shape
    ranks = np.array([rankdata(row) for row in table]).mean(axis=0)
    named = {name: float(rank) for name, rank in zip(values, ranks, strict=True)}
    if np.all(table == table[:, :1]):
        return Friedman(named, sets, 1.0, 1.0)
    chi2, p = friedmanchisquare(*table.T)
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
