"""A refiner that leaves basis vectors out: fits, files and sizes of models that are not whole."""

from __future__ import annotations

import pytest

import sgpc_framework as sgpc
from sgpc_framework.datasets import twonorm
from sgpc_framework.testing.fit_laws import (
    a_file_keeps_every_size_to_the_bit,
    a_refined_size_is_a_fit_refined_at_that_size,
    replaying_the_log_makes_the_same_states,
    sizes_ascend_and_each_can_be_had,
)
from sgpc_framework.testing.strategies import FitToMake, Problem

X, Y = twonorm(200, seed=1)


def design(price, **options):
    refiner = {"name": "prune", "price": price}
    return sgpc.build({"objective": "none", "max_basis": 20, "refiner": refiner, **options})


@pytest.mark.parametrize(
    "law",
    [
        a_file_keeps_every_size_to_the_bit,
        a_refined_size_is_a_fit_refined_at_that_size,
        replaying_the_log_makes_the_same_states,
        sizes_ascend_and_each_can_be_had,
    ],
)
@pytest.mark.parametrize("price", [3.0, 1e6])
def test_laws_of_sizes(law, price):
    law(FitToMake(Problem(X, Y), design(price, sizes=[1, 2, 5, 10])))


def test_a_size_at_which_nothing_is_left_is_none():
    model = design(3.0, sizes=[1, 10]).fit(X, Y)
    assert "refiner prune at size 1: 1 of 1 basis vectors were left out" in model.trace.notes[0]
    assert model.sizes == (10, len(model))
    assert 10 < len(model) < 20


def test_the_whole_may_have_nothing_left():
    model = design(1e6).fit(X, Y)
    assert len(model) == 0
    assert model.sizes == ()
    assert model.predict_proba(X[:1]).tolist() == [[0.5, 0.5]]


def test_held_out_rows_choose_how_many_stages_there_are_before_some_are_left_out():
    model = design(2.0, max_basis="auto").fit(X, Y)
    note = model.trace.notes[-1]
    assert note.startswith('max_basis "auto" chose 20: 200 of 200 rows were held out')
    assert note.endswith("the least of sizes [10, 20, 40]")
    fixed = design(2.0, max_basis=20).fit(X, Y)
    assert len(model) == len(fixed) < 20
    assert (model.predict_proba(X) == fixed.predict_proba(X)).all()
    assert [record.size for record in model.trace.sizes][-1] < 40


def test_a_search_may_end_with_nothing():
    model = design(1e6, max_basis="auto").fit(X, Y)
    assert len(model) == 0
    assert model.trace.sizes == ()
