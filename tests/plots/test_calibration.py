"""Calibration: the figures, and the curve that shows them."""

from __future__ import annotations

import numpy as np
import pytest

from sgpc_framework import InputError
from sgpc_framework.metrics.figures_of_merit import Merits
from sgpc_framework.metrics.merits import confusion, reliability
from sgpc_framework.plots import calibration_curve


def two(probabilities):
    second = np.asarray(probabilities, dtype=float)
    return np.stack([1.0 - second, second], axis=1)


def test_bins_by_hand():
    bins = reliability(two([0.05, 0.15, 0.12, 0.95, 1.0]), np.array([0, 1, 0, 1, 1]))
    np.testing.assert_allclose(bins.predicted, [0.05, 0.135, 0.975])
    np.testing.assert_array_equal(bins.observed, [0.0, 0.5, 1.0])
    assert bins.counts.tolist() == [1, 2, 2]
    wanted = (0.05 + 2 * abs(0.5 - 0.135) + 2 * 0.025) / 5
    assert bins.expected_calibration_error == pytest.approx(wanted)


def test_a_calibrated_forecast_has_a_small_error_and_an_overconfident_one_a_large():
    rng = np.random.default_rng(0)
    p = rng.random(20_000)
    truth = (rng.random(20_000) < p).astype(int)
    assert reliability(two(p), truth).expected_calibration_error < 0.02
    assert reliability(two(np.round(p)), truth).expected_calibration_error > 0.2


def test_of_many_classes_the_most_probable_one_counts():
    proba = np.array([[0.6, 0.3, 0.1], [0.2, 0.2, 0.6], [0.1, 0.8, 0.1]])
    bins = reliability(proba, np.array([0, 1, 1]))
    np.testing.assert_allclose(bins.predicted, [0.6, 0.8])
    np.testing.assert_array_equal(bins.observed, [0.5, 1.0])
    assert confusion(np.log(proba), np.array([0, 1, 1])).tolist() == [
        [1, 0, 0],
        [0, 1, 1],
        [0, 0, 0],
    ]


def test_merits_by_hand():
    merits = Merits.of(np.log(two([0.25, 0.5, 0.75, 0.75])), np.array([0, 1, 1, 1]))
    assert merits.error == 0.25  # the tie went to the first class, as predict has it
    assert merits.nlp == pytest.approx(-np.log(0.75 * 0.5 * 0.75 * 0.75) / 4)
    assert merits.baseline_error == 0.25
    frequencies = -0.25 * np.log(0.25) - 0.75 * np.log(0.75)
    assert merits.baseline_log_loss == pytest.approx(frequencies)


def test_the_curve_shows_the_bins_and_the_strip_counts_them(model, waves):
    ax = calibration_curve(model, waves.X, waves.y, bins=5)
    truth = (waves.y == "trough").astype(int)
    bins = reliability(model.predict_proba(waves.X), truth, 5)
    curve = ax.get_lines()[1]
    np.testing.assert_array_equal(curve.get_xydata(), np.c_[bins.predicted, bins.observed])
    error = Merits.of(model.predict_log_proba(waves.X), truth).calibration_error
    assert curve.get_label() == f"calibration error {100 * error:.1f} %"
    (strip,) = ax.child_axes
    assert sum(bar.get_height() for bar in strip.patches) == len(waves.y)
    assert ax.get_xlabel() == "predicted probability of trough"
    ax.figure.canvas.draw()


def test_many_classes(trees, waves):
    ax = calibration_curve(trees.model, waves.X, trees.y)
    assert ax.get_xlabel() == "probability of the predicted class"


def test_a_strange_label_is_named_with_its_row(model, waves):
    with pytest.raises(InputError, match=r"\['crest', 'trough'\], found 'flat' at row 1"):
        calibration_curve(model, waves.X[:2], ["crest", "flat"])
