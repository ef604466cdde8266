"""Means with their errors, and two methods compared in pairs (``rank_tests`` has several methods).

After J. Demsar, "Statistical comparisons of classifiers over multiple data sets", JMLR 7 (2006).
scipy.stats is imported where it is used: it is slow to import.
"""

from __future__ import annotations

from collections.abc import Sequence
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
    error: float = np.nan
    """The standard error of the mean difference."""

    effect: float = 0.0
    """The rank-biserial correlation (W₊ - W₋) / (W₊ + W₋) of the differences, from -1, the first
    has less on every partition, to +1."""

    p_corrected: float = np.nan
    """By Student's t with the variance that partitions of the same rows have: C. Nadeau and
    Y. Bengio, "Inference for the generalization error", Machine Learning 52 (2003)."""

    @property
    def standardised(self) -> float:
        """The mean difference in deviations of the differences, Cohen's d of pairs."""
        deviation = self.error * sqrt(self.count)
        return self.difference / deviation if deviation > 0.0 else np.nan

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


def compare(first: ArrayLike, second: ArrayLike, test_share: float = 0.0) -> Comparison:
    """Wilcoxon's signed-rank test, two-sided, on paired values; less is better.

    ``test_share`` is the number of test rows over that of training rows, where all partitions are
    of the same rows; 0 where every partition has rows of its own.

    >>> compare([1, 2, 3, 4, 5, 6], [2, 4, 6, 8, 10, 12]).p
    0.03125
    """
    from scipy.stats import rankdata, wilcoxon

    difference = np.asarray(first, dtype=np.float64) - np.asarray(second, dtype=np.float64)
    moved = difference[difference != 0.0]
    p, effect = 1.0, 0.0
    if len(moved):
        ranks = rankdata(np.abs(moved))
        p = float(wilcoxon(moved).pvalue)
        effect = float((ranks * np.sign(moved)).sum() / ranks.sum())
    error, count = standard_error(difference), len(difference)
    corrected = _p_of_t(float(difference.mean()), error, count, test_share)
    return Comparison(float(difference.mean()), p, count, error, effect, corrected)


def _p_of_t(mean: float, error: float, count: int, test_share: float) -> float:
    """Two-sided, with s² (1 / n + test_share) in the place of s² / n."""
    if count < 2:
        return np.nan
    if error == 0.0:
        return 1.0 if mean == 0.0 else 0.0
    from scipy.stats import t

    widened = error * sqrt(1.0 + count * test_share)
    return float(2.0 * t.sf(abs(mean) / widened, count - 1))


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's correction: p-values such that all of those below a level can be believed together.

    The i-th least of m is multiplied by m - i + 1, and none is less than the one before.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    adjusted, most, m = [0.0] * len(p_values), 0.0, len(p_values)
    for place, position in enumerate(sorted(range(m), key=p_values.__getitem__)):
        most = max(most, min(1.0, (m - place) * p_values[position]))
        adjusted[position] = most
    return adjusted
