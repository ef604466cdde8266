"""Draws in proportion to weights that nobody gathers: the same law wherever the rows are."""

from __future__ import annotations

from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from scipy.stats import chisquare

from sgpc_framework.algebra.sites import Steps
from sgpc_framework.rows import threads
from sgpc_framework.rows.training_rows import TrainingRows
from sgpc_plugins.kernels import SquaredExponential
from sgpc_plugins.likelihoods import Probit

WEIGHTS = np.array([3.0, 1.0, 0.5, 2.0, 1.5, 4.0])


def posterior(rows, block_rows):
    X, y = np.arange(float(rows))[:, None], np.resize([-1.0, 1.0], rows)
    placed = TrainingRows.of(X, y, block_rows)
    return placed.posterior(SquaredExponential(lengthscale=0.1), Probit(), 6)


def weight(rows):
    return WEIGHTS[rows.index]


def drawn(block_rows, size, seeds, row_weight=weight):
    rows = posterior(len(WEIGHTS), block_rows)
    return [rows.sample(row_weight, size, np.random.default_rng(s)).tolist() for s in range(seeds)]


def chance(draw, weights):
    """Of drawing these rows in this order, one after the other, without putting any back."""
    left, product = weights.sum(), 1.0
    for row in draw:
        product *= weights[row] / left
        left -= weights[row]
    return product


@pytest.mark.parametrize("block_rows", [1, 2, 6])
@pytest.mark.parametrize("size", [1, 2])
def test_rows_come_in_proportion_to_weight_whatever_the_blocks(block_rows, size):
    seeds = 4000
    counts = Counter(map(tuple, drawn(block_rows, size, seeds)))
    draws = list(permutations(range(len(WEIGHTS)), size))
    expected = seeds * np.array([chance(draw, WEIGHTS) for draw in draws])
    assert set(counts) <= set(draws)
    assert chisquare([counts[draw] for draw in draws], expected).pvalue > 1e-3


@pytest.mark.parametrize("block_rows", [1, 2, 6])
def test_a_row_that_counts_as_two_is_drawn_as_often_as_two(block_rows):
    own, seeds = np.array([1.0, 3.0, 0.5, 2.0, 2.0, 0.25]), 4000
    X, y = np.arange(6.0)[:, None], np.resize([-1.0, 1.0], 6)
    placed = TrainingRows.of(X, y, block_rows, weight=own)
    rows = placed.posterior(SquaredExponential(lengthscale=0.1), Probit(), 6)
    draws = [rows.sample(weight, 1, np.random.default_rng(s))[0] for s in range(seeds)]
    expected = seeds * own * WEIGHTS / (own @ WEIGHTS)
    assert chisquare(np.bincount(draws, minlength=6), expected).pvalue > 1e-3


@pytest.mark.parametrize("block_rows", [1, 2, 6])
def test_rows_without_weight_come_last_and_uniformly(block_rows):
    only = {1, 4}
    draws = drawn(block_rows, 4, 3000, lambda rows: np.isin(rows.index, [*only]) * 1e-3)
    assert all(set(draw[:2]) == only for draw in draws)
    counts = Counter(tuple(draw[2:]) for draw in draws)
    assert chisquare([counts[pair] for pair in permutations([0, 2, 3, 5], 2)]).pvalue > 1e-3


@pytest.mark.parametrize("block_rows", [2, 6])
def test_a_draw_of_more_than_there_are_takes_all(block_rows):
    for draw in drawn(block_rows, 50, 20):
        assert sorted(draw) == list(range(len(WEIGHTS)))


@pytest.mark.parametrize("block_rows", [2, 6])
def test_where_nothing_is_left_nothing_is_drawn(block_rows):
    """A block with no row to offer once promised more for ever."""
    rows = posterior(len(WEIGHTS), block_rows)
    for row in range(len(WEIGHTS)):
        rows.include(rows.candidates(np.array([row])), 0, Steps(0.1, 0.5))
    assert rows.exhausted
    assert rows.sample(weight, 2, np.random.default_rng(0)).tolist() == []
    assert posterior(6, block_rows).sample(weight, 0, np.random.default_rng(0)).tolist() == []


def test_the_same_bits_on_one_thread_and_on_two(monkeypatch):
    monkeypatch.setattr(threads, "MANY_ROWS", 1)
    n = 4000
    weights = np.random.default_rng(0).exponential(size=n)

    def draw(count):
        token = threads._allowed.set(count)
        try:
            rows = posterior(n, n // 40)
            return rows.sample(lambda some: weights[some.index], 50, np.random.default_rng(1))
        finally:
            threads._allowed.reset(token)

    np.testing.assert_array_equal(draw(1), draw(2))
