"""Paired losses: the mean of each state, and the standard error of a difference."""

from __future__ import annotations

import numpy as np
import pytest

from sgpc_framework.engine.judging import PairedLosses

LOSSES = np.random.default_rng(2).gamma(2.0, size=(3, 9))


def test_the_error_of_a_mean_of_differences():
    found = PairedLosses.of(LOSSES)
    apart = LOSSES[0] - LOSSES[2]
    assert found.noise(0, 2) == pytest.approx(apart.std(ddof=1) / 3.0)
    np.testing.assert_allclose(found.means, LOSSES.mean(axis=1))


def test_weights():
    w = np.random.default_rng(4).gamma(1.0, size=9)
    found = PairedLosses.of(LOSSES, w)
    apart = LOSSES[0] - LOSSES[1]
    centred = apart - np.average(apart, weights=w)
    error = np.sqrt(9 / 8 * np.sum((w * centred) ** 2)) / w.sum()
    assert found.noise(0, 1) == pytest.approx(error)
    assert PairedLosses.of(LOSSES, 7.0 * w).noise(0, 1) == pytest.approx(error)
    np.testing.assert_allclose(found.means, np.average(LOSSES, axis=1, weights=w))


@pytest.mark.parametrize("w", [None, np.arange(1.0, 10.0)], ids=["alike", "weighed"])
def test_sums_over_blocks_add_up(w):
    parts = [slice(0, 4), slice(4, 9)]
    one, two = (PairedLosses.of(LOSSES[:, p], None if w is None else w[p]) for p in parts)
    for ours, theirs in zip(one + two, PairedLosses.of(LOSSES, w), strict=True):
        np.testing.assert_allclose(ours, theirs)


def test_two_rows_have_an_error_and_one_has_none():
    assert PairedLosses.of(LOSSES[:, :1]).noise(0, 1) == np.inf
    assert PairedLosses.of(LOSSES[:, :2]).noise(0, 1) == pytest.approx(
        np.std(LOSSES[0, :2] - LOSSES[1, :2], ddof=1) / np.sqrt(2.0)
    )


def test_clearly_better():
    losses = np.array(
        [np.linspace(0.0, 1.0, 5), np.linspace(0.0, 1.0, 5) + np.array([0.3, 0.1, 0.2, 0.3, 0.1])]
    )
    found = PairedLosses.of(losses)
    margin = 0.2 / found.noise(0, 1)
    assert found.clearly_better(0, 1, 0.99 * margin)
    assert not found.clearly_better(0, 1, 1.01 * margin)
    assert not found.clearly_better(1, 0, 0.1)
