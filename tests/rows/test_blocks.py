"""Laws of blocks, of their summaries and of what a row-local function sees of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sgpc_framework.rows.blocks import Block, Contents
from sgpc_framework.rows.summary import Summary
from sgpc_framework.rows.view import Rows, tile
from sgpc_plugins.likelihoods import MultinomialProbit, Probit


@st.composite
def blocks(draw, most=30):
    """Consecutive rows somewhere, with weights or without."""
    n, start = draw(st.integers(1, most)), draw(st.integers(0, 40))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    weight = rng.gamma(2.0, size=n) if draw(st.booleans()) else None
    return Block(rng.standard_normal((n, 2)), np.resize([-1.0, 1.0], n), start, weight)


@given(blocks(), st.lists(st.integers(-1, 80), unique=True, max_size=20))
def test_active_rows_are_those_of_the_basis(block, basis):
    found = block.active(np.array(basis, dtype=np.intp))
    wanted = [number in basis for number in range(block.start, block.start + len(block))]
    assert found.tolist() == wanted


@given(blocks(), st.integers(1, 12))
def test_pieces_are_the_block(block, most):
    pieces = list(block.pieces(most))
    sizes = [len(piece) for piece in pieces]
    assert sum(sizes) == len(block)
    assert max(sizes) <= most
    assert max(sizes) - min(sizes) <= 1
    assert len(pieces) == -(-len(block) // most)
    np.testing.assert_array_equal(np.concatenate([each.index for each in pieces]), block.index)
    whole = Contents.concatenate([piece.contents() for piece in pieces])
    np.testing.assert_array_equal(whole.X, block.X)
    np.testing.assert_array_equal(whole.y, block.y)
    assert (whole.weight is None) == (block.weight is None)
    if block.weight is not None:
        np.testing.assert_array_equal(whole.weight, block.weight)


@given(blocks(), st.data())
def test_an_excerpt_has_the_rows_with_these_numbers(block, data):
    last = block.start + len(block) - 1
    numbers = data.draw(st.lists(st.integers(block.start, last), min_size=1, max_size=5))
    some = block.excerpt(np.array(numbers))
    places = np.array(numbers) - block.start
    np.testing.assert_array_equal(some.X, block.X[places])
    np.testing.assert_array_equal(some.y, block.y[places])


@given(blocks(), st.integers(1, 7))
def test_a_summary_of_parts_is_that_of_the_whole(block, most):
    first, *others = (Summary.of(piece) for piece in block.pieces(most))
    found = sum(others, first)
    weight = np.ones(len(block)) if block.weight is None else block.weight
    mean = np.average(block.X, axis=0, weights=weight)
    spread = np.average((block.X - mean) ** 2, axis=0, weights=weight)
    assert found.weight == pytest.approx(weight.sum())
    np.testing.assert_array_equal(found.least, block.X.min(axis=0))
    np.testing.assert_array_equal(found.greatest, block.X.max(axis=0))
    np.testing.assert_allclose(found.mean, mean, atol=1e-12)
    np.testing.assert_allclose(found.deviation, np.sqrt(spread), rtol=1e-9, atol=1e-12)


@given(blocks(), st.integers(1, 4))
def test_rows_that_stand_there_several_times(block, times):
    """One trial after the other: numbers, inputs and weights are repeated, values are weighed."""
    n = times * len(block)
    rows = Rows(
        np.tile(block.y, times),
        np.zeros(n),
        np.ones(n),
        np.zeros(n, dtype=bool),
        Probit(),
        origin=block,
        times=times,
    )
    np.testing.assert_array_equal(rows.index, np.tile(block.index, times))
    np.testing.assert_array_equal(rows.X, np.tile(block.X, (times, 1)))
    weight = np.ones(len(block)) if block.weight is None else block.weight
    np.testing.assert_array_equal(rows.weight, np.tile(weight, times))
    assert rows.has_weights == (block.weight is not None)
    np.testing.assert_array_equal(rows.weighed(np.full(n, 3.0)), 3.0 * np.tile(weight, times))
    np.testing.assert_array_equal(tile(block.y, times), np.tile(block.y, times))


def test_slopes_by_the_variance_are_added_up_over_the_functions():
    """The heat equation: d log Z / d variance = Σ (alpha² - nu) / 2."""
    y, mean, step = np.array([0.0, 2.0]), np.array([[0.3, 1.0], [0.0, -1.0], [0.2, 0.4]]), 1e-4
    likelihood = MultinomialProbit((0.1, 0.0, -0.2))

    def rows(variance):
        return Rows(y, mean, np.full(2, variance), np.zeros(2, dtype=bool), likelihood)

    difference = (rows(0.7 + step).log_z - rows(0.7 - step).log_z) / (2 * step)
    np.testing.assert_allclose(rows(0.7).by_variance, difference, rtol=1e-5)
    np.testing.assert_allclose(rows(0.7).shrinkage, rows(0.7).nu.mean(axis=0))
    with pytest.raises(ValueError, match="made by hand"):
        _ = rows(0.7).index


def test_against_rest():
    block = Block(np.zeros((4, 1)), np.array([0.0, 2.0, 1.0, 2.0]), 5)
    other = block.against_rest(2)
    assert other.y.tolist() == [-1.0, 1.0, -1.0, 1.0]
    assert other.index.tolist() == [5, 6, 7, 8]
