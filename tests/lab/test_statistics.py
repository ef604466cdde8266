"""The tests of significance, and the Bayes errors, against published and computed numbers."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import chi2, friedmanchisquare, multivariate_normal, norm, ttest_rel
from scipy.stats import t as student

from sgpc_framework.lab import bayes
from sgpc_framework.metrics.rank_tests import (
    critical_difference,
    friedman,
    nemenyi_difference,
    rank_groups,
)
from sgpc_framework.metrics.statistics import Mean, compare, holm

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


@pytest.mark.parametrize(
    ("methods", "q"), [(2, 1.960), (3, 2.343), (4, 2.569), (5, 2.728), (7, 2.949), (10, 3.164)]
)
def test_critical_difference_of_nemenyi(methods, q):
    """The values of q at 0.05: Demsar (2006), table 5(a)."""
    wanted = q * np.sqrt(methods * (methods + 1) / (6 * 14))
    assert nemenyi_difference(methods, 14, 0.05) == pytest.approx(wanted, abs=1e-3)


def test_what_nemenyi_cannot_tell_apart_as_in_the_article():
    """C4.5 and C4.5+m+cf of the article's table 6: 3.143 and 1.964 are 1.18 apart, CD is 1.25."""
    ranks = {"C4.5": 3.143, "+m": 2.0, "+cf": 2.893, "+m+cf": 1.964}
    assert rank_groups(ranks, nemenyi_difference(4, 14, 0.05)) == [("+m+cf", "+m", "+cf", "C4.5")]
    assert rank_groups(ranks, 1.0) == [("+m+cf", "+m", "+cf"), ("+cf", "C4.5")]
    assert rank_groups(ranks, 0.01) == []


@pytest.mark.parametrize("methods", [3, 5])
def test_friedman_is_that_of_scipy_with_ties(methods):
    table = np.random.default_rng(methods).integers(0, 4, (9, methods)).astype(float)
    test = friedman({str(i): column.tolist() for i, column in enumerate(table.T)})
    assert test.p == pytest.approx(friedmanchisquare(*table.T).pvalue)


def test_friedman_of_two_methods_is_the_sign_test_for_many_sets():
    test = friedman({"a": [0.0] * 20, "b": [1.0] * 15 + [-1.0] * 5})
    assert test.p == pytest.approx(chi2.sf((15 - 5) ** 2 / 20, 1))


def test_holm_step_by_step():
    """Adjusted p-values as R's p.adjust(p, "holm") gives them."""
    assert holm([0.01, 0.02, 0.03, 0.04, 0.05]) == pytest.approx([0.05, 0.08, 0.09, 0.09, 0.09])
    assert holm([0.6, 0.9]) == [1.0, 1.0]
    assert holm([]) == []


class TestPairs:
    def test_rank_biserial_by_hand(self):
        comparison = compare([1.0, 5.0, 2.0], [2.0, 3.0, 5.0])  # -1, +2, -3: ranks 1, 2, 3
        assert comparison.effect == pytest.approx((2 - 1 - 3) / 6)
        assert comparison.standardised == pytest.approx(-2 / 3 / np.std([-1, 2, -3], ddof=1))

    def test_without_shared_rows_the_t_test_is_students(self):
        rng = np.random.default_rng(0)
        a, b = rng.normal(size=(2, 12))
        assert compare(a, b).p_corrected == pytest.approx(ttest_rel(a, b).pvalue)
        assert compare(a, b, test_share=0.5).p_corrected > compare(a, b).p_corrected

    def test_nadeau_and_bengio(self):
        difference = np.array([0.1, 0.3, 0.2, 0.4])
        spread = np.sqrt((1 / 4 + 1 / 9) * difference.var(ddof=1))
        wanted = 2 * student.sf(difference.mean() / spread, 3)
        assert compare(difference, np.zeros(4), 1 / 9).p_corrected == pytest.approx(wanted)


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


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("label-noise", 0.2),
        ("many-dimensions", norm.cdf(-1.5)),
        # Two normals two apart; the threshold is at log(0.95 / 0.05) / 2.
        (
            "imbalance",
            0.05 * norm.cdf(np.log(19) / 2 - 1) + 0.95 * norm.sf(np.log(19) / 2 + 1),
        ),
    ],
)
def test_bayes_errors_of_generated_problems_in_closed_form(name, error):
    floor = bayes.floor(name, rows=20_000)
    assert abs(floor.error.value - error) < 4 * floor.error.error + 1e-12


@pytest.mark.parametrize("name", bayes.KNOWN)
def test_labels_follow_the_log_odds(name):
    """The mean of 1{y = +1} - p(+1|x), over rows where the odds are even and where they are not."""
    X, y = bayes.KNOWN[name].generate(4000, 3)
    odds = bayes.KNOWN[name].log_odds(X)
    for some in (np.abs(odds) < 2.0, np.abs(odds) >= 2.0):
        if some.sum() > 50:
            p = 1.0 / (1.0 + np.exp(-odds[some]))
            noise = np.sqrt((p * (1.0 - p)).sum())
            assert abs(((y[some] > 0) - p).sum()) < 4.5 * noise + 1e-9
            # and not only on average: the sign of the odds says more than chance
            assert np.mean((odds[some] > 0) == (y[some] > 0)) >= 0.5


def test_far_away_the_log_odds_are_finite():
    X = np.full((2, 21), [[1e3], [-1e3]])
    assert np.all(np.isfinite(bayes.waveform_log_odds(X)))
