"""The tests of significance, and the Bayes errors, against published and computed numbers."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import multivariate_normal, norm

from sgpc_framework.lab import bayes
from sgpc_framework.metrics.statistics import (
    Mean,
    compare,
    critical_difference,
    friedman,
    standard_error,
)

# AUC of four variants of C4.5 on 14 sets: Demsar (2006), table 6. It prints .975 twice for the 13th
# set and ranks by more digits.
DEMSAR = """
    .763 .768 .771 .798   .599 .591 .590 .569   .954 .971 .968 .967   .628 .661 .654 .657
    .882 .888 .886 .898   .936 .931 .916 .931   .661 .668 .609 .685   .583 .583 .563 .625
    .775 .838 .866 .875   1.00 1.00 1.00 1.00   .940 .962 .965 .962   .619 .666 .614 .669
    .972 .981 .9751 .975   .957 .978 .946 .970
"""


def test_friedman_ranks_as_in_the_article():
    table = -np.array(DEMSAR.split(), dtype=float).reshape(14, 4)
    test = friedman(dict(zip("abcd", table.T.tolist(), strict=True)))
    assert [*test.ranks.values()] == pytest.approx([3.143, 2.0, 2.893, 1.964], abs=5e-4)
    assert test.sets == 14
    assert 0.01 < test.p < 0.03  # the article's χ² of 9.28, which does not count ties, has 0.026
    assert test.p_iman_davenport < test.p


def test_friedman_at_its_ends():
    alike = friedman({"a": [1.0, 2.0], "b": [1.0, 2.0], "c": [1.0, 2.0]})
    assert (alike.p, alike.p_iman_davenport) == (1.0, 1.0)
    apart = friedman({"a": [1.0] * 6, "b": [2.0] * 6, "c": [3.0] * 6})
    assert apart.ranks == {"a": 1.0, "b": 2.0, "c": 3.0}
    assert apart.p < 0.01
    assert apart.p_iman_davenport == 0.0


@pytest.mark.parametrize(("level", "q"), [(0.05, 2.394), (0.10, 2.128)])
def test_critical_difference_of_bonferroni_and_dunn(level, q):
    """The values of q for four classifiers: Demsar (2006), table 5(b)."""
    wanted = q * np.sqrt(4 * 5 / (6 * 6))
    assert critical_difference(4, 6, level) == pytest.approx(wanted, abs=5e-4)


class TestWilcoxon:
    def test_ten_of_ten(self):
        """All of n differences one way: p = 2 / 2ⁿ."""
        comparison = compare(np.arange(10.0), np.arange(10.0) + np.arange(1, 11))
        assert comparison.p == pytest.approx(2.0**-9)
        assert comparison.better
        assert not comparison.worse
        assert comparison.difference == pytest.approx(-5.5)

    def test_no_difference_is_no_evidence(self):
        comparison = compare([1.0, 2.0, 3.0], [1.0, 2.0, 3.0])
        assert (comparison.p, comparison.significant, comparison.count) == (1.0, False, 3)

    def test_five_can_never_be_significant(self):
        assert not compare(np.zeros(5), np.arange(1.0, 6.0)).significant
        assert compare(np.zeros(6), np.arange(1.0, 7.0)).significant

    def test_ties_raise_no_warning(self):
        assert compare(np.zeros(10), np.ones(10)).better
        assert not compare([0.0, 1.0] * 5, [1.0, 0.0] * 5).significant


def test_means():
    mean = Mean.of([1.0, 2.0, 3.0])
    assert (mean.value, mean.error, mean.count) == (2.0, pytest.approx(3**-0.5), 3)
    assert mean.text(3) == "2.000 ± 0.577"
    assert mean.text(1, "+") == "+2.0 ± 0.6"


def test_one_value_has_no_standard_error():
    mean = Mean.of([0.25])
    assert np.isnan(mean.error)
    assert mean.text(3) == "0.250"
    assert not mean.above_zero


def test_a_mean_is_above_zero_by_students_t():
    values = np.arange(5.0)  # 2.83 standard errors above zero, where 2.78 are asked for
    assert Mean.of(values).above_zero
    assert not Mean.of(values - 0.1).above_zero
    assert Mean.of(values - 0.1).value > 2.0 * standard_error(values)


# ---------------------------------------------------------------------------------------------
# Bayes


def test_the_bayes_error_of_twonorm_is_known():
    floor = bayes.floor("twonorm", rows=100_000)
    assert abs(floor.error.value - norm.cdf(-2.0)) < 4 * floor.error.error
    # The label's log-odds are N(±8, 16), so the NLP is an integral in one dimension.
    nlp, _ = quad(lambda m: norm.pdf(m, 8.0, 4.0) * np.logaddexp(0.0, -m), -40.0, 60.0)
    assert abs(floor.nlp.value - nlp) < 4 * floor.nlp.error


def test_the_bayes_error_of_ringnorm_is_breimans():
    """Breiman (1996) gives 1.3 %."""
    assert bayes.floor("ringnorm", rows=100_000).error.value == pytest.approx(0.0125, abs=0.001)


def test_log_odds_of_ringnorm_are_those_of_the_densities():
    X = np.random.default_rng(1).normal(size=(5, 20)) * 2.0
    wide = multivariate_normal(np.zeros(20), 4.0 * np.eye(20)).logpdf(X)
    narrow = multivariate_normal(np.full(20, 2.0 / np.sqrt(20.0)), np.eye(20)).logpdf(X)
    np.testing.assert_allclose(bayes.ringnorm_log_odds(X), wide - narrow)


def test_log_odds_of_waveform_are_those_of_the_mixture():
    X = np.random.default_rng(2).normal(size=(4, 21)) * 4.0
    waves = np.maximum(6.0 - np.abs(np.arange(1, 22) - np.array([[11], [15], [7]])), 0.0)

    def density(x, a, b):
        def at(u):
            return np.exp(-0.5 * np.sum((x - u * waves[a] - (1.0 - u) * waves[b]) ** 2) + shift)

        shift = 0.5 * min(np.sum((x - u * waves[a] - (1 - u) * waves[b]) ** 2) for u in GRID)
        return np.log(quad(at, 0.0, 1.0, epsabs=0.0, epsrel=1e-10)[0]) - shift

    GRID = np.linspace(0.0, 1.0, 101)
    for x, odds in zip(X, bayes.waveform_log_odds(X), strict=True):
        wanted = density(x, 0, 2) - np.logaddexp(density(x, 0, 1), density(x, 1, 2))
        assert odds == pytest.approx(wanted, rel=1e-8)


def test_far_away_the_log_odds_are_finite():
    X = np.full((2, 21), [[1e3], [-1e3]])
    assert np.all(np.isfinite(bayes.waveform_log_odds(X)))
