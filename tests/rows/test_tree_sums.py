"""Sums over blocks have one order, whoever has which of the blocks."""

from __future__ import annotations

from functools import reduce
from operator import add

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sgpc_framework.rows.tree_sums import FAN, largest_nodes, root, sum_from_nodes, tree_sum


@given(st.integers(1, 3 * FAN**2), st.integers(1, 5), st.integers(0, 9))
def test_the_bits_do_not_depend_on_who_has_which_blocks(blocks, workers, seed):
    rng = np.random.default_rng(seed)
    values = rng.standard_cauchy(blocks)
    owner = rng.integers(workers, size=blocks)
    found = {}
    for worker in range(workers):
        own = np.flatnonzero(owner == worker).tolist()
        mine = iter(values[own].tolist())
        for node in largest_nodes(own, blocks):
            found[node] = tree_sum(mine, node, blocks)
    whole = tree_sum(iter(values.tolist()), root(blocks), blocks)
    assert sum_from_nodes(found, root(blocks), blocks) == whole
    np.testing.assert_allclose(whole, values.sum(), rtol=1e-9, atol=1e-9)


@given(st.integers(1, FAN), st.integers(0, 9))
def test_few_blocks_are_added_one_after_the_other(blocks, seed):
    values = np.random.default_rng(seed).standard_cauchy(blocks).tolist()
    assert tree_sum(iter(values), root(blocks), blocks) == reduce(add, values)


def test_who_has_a_run_of_blocks_answers_with_a_few_numbers():
    assert len(largest_nodes(range(5000, 90_000), 122_000)) < 2 * FAN * 5
