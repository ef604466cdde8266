"""Rows wherever they are: some of them, all of them, what they are like, and what is held out."""

from __future__ import annotations

import attrs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sgpc_framework import datasets
from sgpc_framework.algebra.sites import Steps
from sgpc_framework.engine.judging import PairedLosses, paired_losses
from sgpc_framework.rows.holding_out import FEWEST, HeldOut
from sgpc_framework.rows.state import NO_ROW, State
from sgpc_framework.rows.training_rows import TrainingRows
from sgpc_framework.testing.oracle import dense_posterior
from sgpc_framework.testing.strategies import fitted_states, problems
from sgpc_plugins.kernels import SquaredExponential
from sgpc_plugins.likelihoods import Probit

block_sizes = st.sampled_from([1, 2, 7, 1000])


@given(problems(), block_sizes, st.data())
def test_rows_come_as_asked_for(problem, block_rows, data):
    rows = TrainingRows.of(problem.X, problem.y, block_rows)
    wanted = data.draw(st.lists(st.integers(0, len(problem.y) - 1)))
    numbers = np.array(wanted, dtype=np.intp)
    np.testing.assert_array_equal(rows.inputs(numbers), problem.X[numbers])
    np.testing.assert_array_equal(rows.labels(numbers), problem.y[numbers])
    if wanted:
        some = rows.subset(numbers)
        np.testing.assert_array_equal(some.inputs(np.arange(len(wanted))), problem.X[numbers])
        np.testing.assert_array_equal(some.labels(np.arange(len(wanted))), problem.y[numbers])


@given(problems(), block_sizes)
def test_a_summary_is_that_of_numpy(problem, block_rows):
    X = problem.X
    summary = TrainingRows.of(X, problem.y, block_rows).summary()
    assert summary.weight == len(X)
    np.testing.assert_array_equal(summary.least, X.min(axis=0))
    np.testing.assert_array_equal(summary.greatest, X.max(axis=0))
    np.testing.assert_allclose(summary.mean, X.mean(axis=0), atol=1e-14)
    np.testing.assert_allclose(summary.deviation, X.std(axis=0), atol=1e-7)  # a root of rounding
    np.testing.assert_allclose(summary.deviation**2, X.var(axis=0), atol=1e-14)


def test_a_summary_keeps_its_digits_far_from_zero():
    X = 1e8 + np.random.default_rng(0).normal(size=(1000, 2))
    summary = TrainingRows.of(X, np.ones(1000), 13).summary()
    np.testing.assert_allclose(summary.deviation, X.std(axis=0), rtol=1e-8)  # 1e8 has steps of 1e-8


@given(problems(), block_sizes, st.integers(0, 5))
def test_a_draw_is_ascending_distinct_and_the_same_for_any_blocks(problem, block_rows, seed):
    rows = TrainingRows.of(problem.X, problem.y, block_rows)
    drawn = rows.draw(3, np.random.default_rng(seed))
    assert drawn.tolist() == sorted(set(drawn.tolist()))
    assert len(drawn) == min(3, len(rows))
    whole = TrainingRows.of(problem.X, problem.y)
    np.testing.assert_array_equal(drawn, whole.draw(3, np.random.default_rng(seed)))


@given(st.integers(1, 30), st.sets(st.integers(0, 29)), st.integers(0, 31), st.integers(0, 5))
def test_a_draw_leaves_out_what_it_is_told(size, left_out, count, seed):
    rows = TrainingRows.of(np.ones((size, 1)), np.resize([1.0, -1.0], size))
    without = np.array(sorted(each for each in left_out if each < size), dtype=np.intp)
    drawn = rows.draw(count, np.random.default_rng(seed), without)
    rest = np.setdiff1d(np.arange(size), without)
    assert len(drawn) == min(count, len(rest))
    np.testing.assert_array_equal(np.intersect1d(drawn, rest), drawn)  # ascending and distinct, too


@given(problems(), block_sizes)
def test_one_class_against_the_rest(problem, block_rows):
    positions = np.arange(len(problem.y)) % 3
    rows = TrainingRows.of(problem.X, positions, block_rows).against_rest(2)
    everything = np.arange(len(positions))
    np.testing.assert_array_equal(rows.labels(everything), np.where(positions == 2, 1.0, -1.0))
    np.testing.assert_array_equal(rows.inputs(everything), problem.X)


class TestWeights:
    @given(problems(), block_sizes)
    def test_they_stay_with_their_rows(self, problem, block_rows):
        weight = 0.5 + np.arange(len(problem.y))
        rows = TrainingRows.of(problem.X, problem.y, block_rows, weight=weight)
        assert rows.total_weight == weight.sum()
        some = np.array([1, 0])
        for each in (rows, rows.against_rest(1)):
            np.testing.assert_array_equal(each.weights(some), weight[some])
        subset = rows.subset(some)
        np.testing.assert_array_equal(subset.weights(np.arange(2)), weight[some])
        assert subset.total_weight == weight[some].sum()
        plain = TrainingRows.of(problem.X, problem.y, block_rows)
        assert plain.total_weight == len(plain)
        np.testing.assert_array_equal(plain.weights(some), np.ones(2))

    @given(problems(), block_sizes)
    def test_rows_of_weight_zero_are_left_out(self, problem, block_rows):
        weight = np.resize([2.0, 1.5, 0.0], len(problem.y))
        rows = TrainingRows.of(problem.X, problem.y, block_rows, weight=weight)
        kept = np.flatnonzero(weight)
        everything = np.arange(len(kept))
        assert len(rows) == len(kept)
        np.testing.assert_array_equal(rows.inputs(everything), problem.X[kept])
        np.testing.assert_array_equal(rows.labels(everything), problem.y[kept])
        assert (rows.numbers is None) == weight.all()

    @given(problems(), block_sizes)
    def test_a_summary_is_that_of_repeated_rows(self, problem, block_rows):
        counts = np.resize([1, 3, 2], len(problem.y))
        rows = TrainingRows.of(problem.X, problem.y, block_rows, weight=counts.astype(float))
        summary, X = rows.summary(), problem.X.repeat(counts, axis=0)
        assert summary.weight == len(X)
        np.testing.assert_allclose(summary.mean, X.mean(axis=0), rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(summary.deviation, X.std(axis=0), rtol=1e-6, atol=1e-7)


class TestHeldOut:
    def test_heavy_rows_judge_in_their_share(self):
        weight = np.where(np.arange(100) < 10, 50.0, 1.0)
        rows = TrainingRows.of(
            np.arange(100.0)[:, None], np.resize([-1.0, 1.0], 100), weight=weight
        )
        held_out = HeldOut(rows, _rng(0))
        for turn in range(held_out.turns):
            _, judges = held_out.split(turn)
            assert np.count_nonzero(weight[judges] == 50.0) == 2

    @given(problems(min_rows=5, max_rows=60), block_sizes, st.integers(0, 5))
    def test_judges_and_others_share_no_row_and_are_all_rows(self, problem, block_rows, seed):
        rows = TrainingRows.of(problem.X, problem.y, block_rows)
        held_out = HeldOut(rows, np.random.default_rng(seed))
        kinds = len({row.tobytes() for row in problem.X})
        assert held_out.possible == (kinds >= FEWEST)
        judged = []
        for turn in range(held_out.turns):
            others, judges = held_out.split(turn)
            assert sorted([*others, *judges]) == list(range(len(rows)))
            sides = ({row.tobytes() for row in problem.X[side]} for side in (others, judges))
            assert not set.intersection(*sides)
            judged.extend(judges)
        assert sorted(judged) == list(range(len(rows)))  # each row judges once

    @given(st.integers(20, 200), st.floats(0.05, 0.95), st.integers(0, 5))
    def test_every_label_judges_in_its_share(self, n, share, seed):
        y = np.where(np.arange(n) < share * n, 1.0, -1.0)
        held_out = HeldOut(TrainingRows.of(np.arange(float(n))[:, None], y), _rng(seed))
        assert held_out.turns == 5
        for turn in range(5):
            _, judges = held_out.split(turn)
            for label in (-1.0, 1.0):
                wanted = np.count_nonzero(y == label) / 5
                assert abs(np.count_nonzero(y[judges] == label) - wanted) <= 1.0

    @pytest.mark.parametrize("n", [FEWEST - 1, FEWEST])
    def test_few_different_rows_hold_out_none(self, n):
        X = np.repeat(np.arange(float(n))[:, None], 4, axis=0)
        held_out = HeldOut(TrainingRows.of(X, np.resize([-1.0, 1.0], len(X))), _rng(0))
        assert held_out.possible == (n >= FEWEST)

    def test_more_judge_where_few_are_enough_to_fit_to(self):
        X, y = datasets.waveform(1000, seed=1)
        held_out = HeldOut(TrainingRows.of(X, y, 100), _rng(0), most=500, most_fitted=100)
        others, judges = held_out.split()
        assert (len(others), len(judges)) == (100, 400)
        assert held_out.turns == 1
        assert held_out.judges == 400

    def test_objects_that_look_alike_stay_together(self):
        words = np.array(["ab", "ba", "aa"] * 30 + [f"w{i}" for i in range(60)], dtype=object)
        held_out = HeldOut(TrainingRows.of(words, np.resize([-1.0, 1.0], 150)), _rng(0))
        for turn in range(held_out.turns):
            others, judges = held_out.split(turn)
            assert not set(words[others]) & set(words[judges])


class TestPairedLosses:
    @given(fitted_states())
    def test_noise_is_the_standard_error_of_the_difference(self, fitted):
        states = [fitted.state, fitted.state[:1], fitted.state[:0]]
        losses = paired_losses(states, fitted.rows)
        each = np.array([_losses(state, fitted) for state in states])
        np.testing.assert_allclose(losses.means, each.mean(axis=1), rtol=1e-9, atol=1e-12)
        for a in range(3):
            for b in range(3):
                wanted = np.std(each[a] - each[b], ddof=1) / np.sqrt(each.shape[1])
                assert losses.noise(a, b) == pytest.approx(wanted, rel=1e-6, abs=1e-7)

    @given(fitted_states(), st.floats(0.1, 100.0))
    def test_weights_and_their_scale(self, fitted, scale):
        """Of a weighted mean of n differences: n / (n - 1) · Σ w² (d - D)² / (Σ w)²."""
        states = [fitted.state, fitted.state[:1]]
        n = len(fitted.rows)
        w = np.resize([1.0, 0.3, 2.5], n)
        X, y = fitted.problem.X, fitted.problem.y
        each = np.array([_losses(state, fitted) for state in states])
        d = each[0] - each[1]
        wanted = n / (n - 1) * np.sum(w**2 * (d - w @ d / w.sum()) ** 2) / w.sum() ** 2
        for factor in (1.0, scale):
            losses = paired_losses(states, TrainingRows.of(X, y, 3, weight=factor * w))
            np.testing.assert_allclose(losses.means, each @ w / w.sum(), rtol=1e-9, atol=1e-12)
            assert losses.noise(0, 1) == pytest.approx(np.sqrt(wanted), rel=1e-6, abs=1e-7)
            assert losses.rows == n

    def test_sums_over_other_rows_can_be_added(self):
        rng = np.random.default_rng(0)
        each = rng.normal(size=(2, 50))
        parts = [PairedLosses.of(each[:, :20]), PairedLosses.of(each[:, 20:])]
        both = parts[0] + parts[1]
        assert both.rows == 50
        wanted = np.std(each[0] - each[1], ddof=1) / np.sqrt(50)
        assert both.noise(0, 1) == pytest.approx(wanted, rel=1e-12)
        assert both.clearly_better(0, 1, 1.0) == (each[1].mean() - each[0].mean() > wanted)

    def test_one_row_says_nothing(self):
        assert PairedLosses.of(np.ones((2, 1))).noise(0, 1) == np.inf


def _losses(state, fitted):
    X, y = fitted.problem.X, fitted.problem.y
    dense = dense_posterior(state.kernel, X, state.basis, state.precision, state.mean)
    return -state.likelihood.moments(y, dense.mean, np.maximum(dense.variance, 0.0)).log_z


@given(st.lists(st.integers(0, 30), min_size=1, max_size=8), st.sets(st.integers(0, 30)))
def test_a_state_among_some_rows_knows_basis_vectors_by_their_places(basis, numbers):
    numbers = np.array(sorted(numbers), dtype=np.intp)
    basis = np.array(basis, dtype=np.intp)
    X = np.arange(31.0)[:, None]
    ones = np.ones(len(basis))
    state = State(SquaredExponential(lengthscale=1.0), Probit(), basis, X[basis], ones, ones)
    here = state.among(numbers)
    for row, place in zip(basis, here.basis, strict=True):
        assert place == (list(numbers).index(row) if row in numbers else NO_ROW)
    np.testing.assert_array_equal(here.inputs, state.inputs)
    nowhere = attrs.evolve(state, basis=np.full(len(basis), NO_ROW)).among(numbers)
    assert np.all(nowhere.basis == NO_ROW)


@given(problems(min_rows=6), block_sizes)
def test_a_row_function_sees_numbers_and_inputs_of_its_rows(problem, block_rows):
    """At the present state, and for each of several candidates that are tried together."""
    rows = TrainingRows.of(problem.X, problem.y, block_rows)
    posterior = rows.posterior(SquaredExponential(lengthscale=1.0), Probit(), 3)

    def wrong(view):
        same = (problem.X[view.index] == view.X).all(axis=1) & (view.y == problem.y[view.index])
        return ~same

    def number(view):
        return view.index.astype(float)

    n = len(rows)
    candidates = posterior.candidates(np.array([0, 3, 5]))
    steps = Steps([0.1] * 3, [0.1] * 3)
    assert posterior.total(wrong) == 0
    assert posterior.total(wrong, candidates, steps).tolist() == [0, 0, 0]
    assert posterior.total(number) == n * (n - 1) / 2
    assert posterior.total(number, candidates, steps).tolist() == [n * (n - 1) / 2] * 3
    np.testing.assert_array_equal(candidates.at.index, [0, 3, 5])
    np.testing.assert_array_equal(candidates.at.X, problem.X[[0, 3, 5]])


def _rng(seed):
    return np.random.default_rng(seed)
