"""A fit that is no better than the class frequencies says so."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import sgpc_framework as sgpc
from sgpc_framework import datasets
from sgpc_framework.engine.baseline import class_shares, entropy
from sgpc_framework.rows.training_rows import TrainingRows

PRESETS = ["paper", "fast", "accurate"]


def said(model) -> bool:
    return any("no better than the class frequencies" in note for note in model.trace.notes)


@pytest.mark.parametrize("shares", [(1, 1), (3, 1), (1, 2, 7)])
@pytest.mark.parametrize("block_rows", [3, 1000])
def test_the_loss_of_the_frequencies_is_their_entropy(shares, block_rows):
    y = np.repeat(np.arange(len(shares)), np.array(shares) * 10)
    p = np.array(shares) / sum(shares)
    rows = TrainingRows.of(np.zeros((len(y), 1)), y, block_rows)
    assert entropy(class_shares(rows)) == pytest.approx(-(p * np.log(p)).sum(), rel=1e-12)


@pytest.mark.parametrize("preset", PRESETS)
def test_who_cannot_learn_says_so(preset):
    X, y = np.zeros((60, 2)), np.arange(60) % 3 == 0
    with pytest.warns(sgpc.ChanceLevelWarning, match="its loss on .* is 0.6.*'accurate'"):
        model = sgpc.build(preset, max_basis=5).fit(X, y)
    assert said(model)


@pytest.mark.parametrize("preset", PRESETS)
def test_who_learns_says_nothing(preset):
    X, y = datasets.waveform(200, seed=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = sgpc.build(preset, max_basis=10).fit(X, y)
    assert not said(model)


def test_a_search_for_the_size_speaks_once():
    X, y = np.zeros((60, 2)), np.arange(60) % 2
    with pytest.warns(sgpc.ChanceLevelWarning) as told:
        sgpc.build(max_basis="auto").fit(X, y)
    assert len(told) == 1


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("unit", [1e-12, 1e15])
def test_nanoseconds_are_learned_as_well_as_seconds(preset, unit):
    X, y = datasets.waveform(400, seed=2)
    plain, scaled = (sgpc.build(preset, max_basis=10).fit(X * u, y) for u in (1.0, unit))
    errors = [np.mean(m.predict(X * u) != y) for m, u in ((plain, 1.0), (scaled, unit))]
    assert abs(errors[0] - errors[1]) <= 0.02
    assert errors[1] < 0.2
