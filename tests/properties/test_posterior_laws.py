"""Laws of the posterior under any sequence of inclusions, for all kernels and likelihoods."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sgpc_framework.algebra.sites import Steps
from sgpc_framework.rows.shard import Shard
from sgpc_framework.rows.training_rows import TrainingRows
from sgpc_framework.testing import posterior_laws as laws
from sgpc_framework.testing.strategies import walks
from sgpc_plugins.kernels import SquaredExponential
from sgpc_plugins.likelihoods import Probit


@given(walks())
def test_incremental_equals_dense(walk):
    laws.incremental_equals_dense(walk)


@given(walks("float32"))
def test_single_precision_is_near_dense(walk):
    """As far as its range goes: prior variances of 1e-52 have no square root's product in it."""
    assume(np.all(walk.posterior.kernel.diag(walk.problem.X) > 1e-30))
    laws.incremental_equals_dense(walk, tolerance=1e-4)


@given(walks())
def test_variance_never_increases_and_never_goes_below_zero(walk):
    laws.variance_never_increases_and_never_goes_below_zero(walk)


@given(walks())
def test_a_residual_column_is_the_posterior_covariance(walk):
    laws.a_residual_column_is_the_posterior_covariance(walk)


@given(
    walks(),
    st.floats(-2.0, 2.0),
    st.floats(0.01, 0.99),
    st.integers(0, 2),
    st.sampled_from([1, 7, 1 << 16]),
)
def test_a_trial_is_what_inclusion_makes(walk, coefficient, share, which, together):
    with patch("sgpc_framework.rows.shard.TOGETHER", together):
        laws.a_trial_is_what_inclusion_makes(walk, coefficient, share, which)


@given(walks())
def test_a_stage_reports_what_it_did(walk):
    laws.a_stage_reports_what_it_did(walk)


@given(walks())
def test_blocks_change_nothing(walk):
    laws.blocks_change_nothing(walk)


@given(walks(), st.integers(1, 5), st.integers(0, 2**32))
def test_a_sample_is_distinct_inactive_and_reproducible(walk, size, seed):
    laws.a_sample_is_distinct_inactive_and_reproducible(walk, size, seed)


@given(walks())
def test_ties_go_to_the_lowest_row(walk):
    laws.ties_go_to_the_lowest_row(walk)


def posterior(block_rows):
    X, y = np.arange(20.0)[:, None], np.resize([-1.0, 1.0], 20)
    rows = TrainingRows.of(X, y, block_rows)
    return rows.posterior(SquaredExponential(lengthscale=3.0), Probit(), 5)


def evidence(rows):
    return rows.log_z


def test_columns_too_large_to_keep_are_computed_once_for_all_candidates(monkeypatch):
    calls = []
    monkeypatch.setattr("sgpc_framework.rows.candidates.KEPT_BYTES", 0)
    asked = Shard._residual_columns

    def counted(shard, rows):
        calls.append((len(rows), shard._block.start))
        return asked(shard, rows)

    monkeypatch.setattr(Shard, "_residual_columns", counted)
    given_rows = posterior(block_rows=10)
    candidates = given_rows.candidates(np.array([3, 7, 11]))
    given_rows.total(evidence, candidates, Steps([0.1] * 3, [0.1] * 3))
    assert calls == [(3, 0), (3, 10)]


def test_candidates_are_in_ascending_order():
    for numbers in ([7, 3], [11, 3, 7], [5]):
        candidates = posterior(block_rows=8).candidates(np.array(numbers))
        assert candidates.index.tolist() == sorted(numbers)
        assert len(candidates) == len(numbers)


def test_rows_are_active_from_their_inclusion_on():
    rows = posterior(block_rows=8)
    active = lambda each: each.active  # noqa: E731
    assert rows.total(active) == 0
    two = rows.candidates(np.array([3, 17]))
    assert rows.total(active, two, Steps([0.1] * 2, [0.1] * 2)).tolist() == [1, 1]
    assert rows.total(active) == 0
    rows.include(two, 1, Steps([0.1], [0.1]))
    assert rows.total(active) == 1
    assert rows.eligible().tolist() == [row != 17 for row in range(20)]
    one = rows.candidates(np.array([3]))
    assert rows.total(active, one, Steps([0.1], [0.1])).tolist() == [2]


class TestTotal:
    """What ``total`` asks of candidates, steps and values."""

    def test_a_step_for_each_candidate(self):
        rows = posterior(block_rows=8)
        candidates = rows.candidates(np.array([3, 7, 11]))
        for count in (1, 2, 4):
            with pytest.raises(ValueError, match="a step for each of 3 rows"):
                rows.total(evidence, candidates, Steps([0.1] * count, [0.1] * count))

    def test_a_number_for_each_row(self):
        rows = posterior(block_rows=8)
        candidates, steps = rows.candidates(np.array([3, 7])), Steps([0.1] * 2, [0.1] * 2)
        with pytest.raises(ValueError, match="for each of 16 rows along its last axis"):
            rows.total(lambda block: block.log_z[::2], candidates, steps)

    def test_steps_may_be_columns_of_a_matrix(self):
        rows = posterior(block_rows=8)
        candidates = rows.candidates(np.array([3, 7]))
        table = np.array([[0.1, 0.2], [0.3, 0.4]])
        sums = rows.total(evidence, candidates, Steps(table[:, 0], table[:, 1]))
        wanted = rows.total(evidence, candidates, Steps([0.1, 0.3], [0.2, 0.4]))
        np.testing.assert_array_equal(sums, wanted)

    def test_no_candidates_no_sums(self):
        rows = posterior(block_rows=8)
        none = rows.candidates(np.empty(0, dtype=np.intp))
        assert len(rows.total(evidence, none, Steps([], []))) == 0
