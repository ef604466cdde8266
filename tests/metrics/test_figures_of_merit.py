"""Figures of merit, beside those of scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest

from sgpc_framework.metrics.bootstrap import interval
from sgpc_framework.metrics.brier import Brier, isotonic, row_scores
from sgpc_framework.metrics.calibration_error import calibration_error, error_by_chance
from sgpc_framework.metrics.figure_rows import figure_rows
from sgpc_framework.metrics.figures_of_merit import Merits, Noise, balanced_error
from sgpc_framework.metrics.predictions import Predictions
from sgpc_framework.metrics.ranking import auc, average_precision
from sgpc_framework.model.costs import Costs
from sgpc_framework.model.decision_targets import targeted_costs

sklearn_metrics = pytest.importorskip("sklearn.metrics")


def predictions(classes: int, rows: int = 300, seed: int = 0, ties: bool = True):
    """Probabilities that know something, labels by them, and some ties."""
    rng = np.random.default_rng(seed)
    logits = 1.5 * rng.normal(size=(rows, classes))
    proba = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    if ties and classes == 2:
        second = np.clip(np.round(proba[:, 1], 2), 0.01, 0.99)
        proba = np.stack([1.0 - second, second], axis=1)
    truth = np.array([rng.choice(classes, p=p) for p in proba])
    return proba, truth


CASES = [(2, True), (2, False), (4, False)]


@pytest.mark.parametrize(("classes", "ties"), CASES)
def test_they_are_those_of_scikit_learn(classes, ties):
    proba, truth = predictions(classes, ties=ties)
    merits = Merits.of(np.log(proba), truth)
    labels, every = proba.argmax(axis=1), range(classes)
    own = np.eye(classes)[truth]
    assert merits.log_loss == pytest.approx(sklearn_metrics.log_loss(truth, proba, labels=every))
    assert merits.error == pytest.approx(1.0 - sklearn_metrics.accuracy_score(truth, labels))
    balanced = sklearn_metrics.balanced_accuracy_score(truth, labels)
    assert merits.balanced_error == pytest.approx(1.0 - balanced)
    if classes == 2:
        wanted = sklearn_metrics.roc_auc_score(truth, proba[:, 1])
        precision = sklearn_metrics.average_precision_score(truth, proba[:, 1])
        score = sklearn_metrics.brier_score_loss(truth, proba[:, 1])
    else:
        wanted = sklearn_metrics.roc_auc_score(truth, proba, multi_class="ovr", average="macro")
        precision = sklearn_metrics.average_precision_score(own, proba, average="macro")
        score = np.mean(((proba - own) ** 2).sum(axis=1))
    assert merits.auc == pytest.approx(wanted)
    assert merits.average_precision == pytest.approx(precision)
    assert merits.brier.score == pytest.approx(score)


def test_isotonic_regression_is_that_of_scikit_learn():
    from sklearn.isotonic import IsotonicRegression

    proba, truth = predictions(2)
    wanted = IsotonicRegression().fit_transform(proba[:, 1], truth)
    np.testing.assert_allclose(isotonic(proba[:, 1], truth.astype(float)), wanted, atol=1e-12)


@pytest.mark.parametrize(("classes", "ties"), CASES)
def test_the_parts_of_the_brier_score_add_up(classes, ties):
    proba, truth = predictions(classes, ties=ties)
    brier = Brier.of(proba, truth)
    total = brier.reliability - brier.resolution + brier.uncertainty
    assert total == pytest.approx(brier.score, abs=1e-12)
    assert brier.reliability >= 0.0
    assert brier.resolution >= 0.0
    shares = np.bincount(truth) / len(truth)
    constant = np.broadcast_to(shares, proba.shape)
    assert brier.uncertainty == pytest.approx(row_scores(constant, truth).mean())
    nothing = Brier.of(constant, truth)
    assert (nothing.reliability, nothing.resolution) == pytest.approx((0.0, 0.0), abs=1e-12)


def test_the_baseline_is_that_of_the_training_frequencies():
    truth = np.array([1] * 90 + [0] * 10)
    always = np.log(np.tile([0.05, 0.95], (100, 1)))
    merits = Merits.of(always, truth, np.array([0.2, 0.8]))
    assert merits.baseline_log_loss == pytest.approx(-0.9 * np.log(0.8) - 0.1 * np.log(0.2))
    assert merits.baseline_error == 0.1
    assert merits.baseline_brier == pytest.approx(0.9 * 0.04 + 0.1 * 0.64)
    own = Merits.of(always, truth)  # without them, those of the rows
    assert own.baseline_log_loss == pytest.approx(-0.9 * np.log(0.9) - 0.1 * np.log(0.1))
    assert own.log_loss > own.baseline_log_loss  # beats even odds by far, and knows nothing


def test_weights_are_repeated_rows():
    proba, truth = predictions(3, rows=60)
    weights = np.random.default_rng(1).integers(0, 4, size=(5, 60)).astype(float)
    for figure in (auc, average_precision):
        found = figure(proba, truth)(weights)
        for row, value in zip(weights.astype(int), found, strict=True):
            again = np.repeat(np.arange(60), row)
            assert figure(proba[again], truth[again])(np.ones((1, len(again)))) == pytest.approx(
                value
            )


def test_a_figure_that_rows_do_not_have_is_nan():
    proba, _ = predictions(3, rows=20)
    merits = Merits.of(np.log(proba), np.zeros(20, dtype=np.intp))
    assert np.isnan(merits.auc)
    noise = Noise.of(np.log(proba), np.zeros(20, dtype=np.intp))
    assert np.isnan(noise.auc.low)
    one = Merits.of(np.log(proba[:1]), np.array([1]))
    assert one.rows == 1
    assert np.isfinite(one.log_loss)


def test_bootstrap_errors_are_those_of_a_mean():
    values = np.random.default_rng(0).normal(size=400)
    mean = interval(lambda w: w @ values / w.sum(axis=1), 400)
    assert mean.value == pytest.approx(values.mean())
    assert mean.error == pytest.approx(values.std() / 20.0, rel=0.2)
    assert mean.low < mean.value < mean.high
    assert mean == interval(lambda w: w @ values / w.sum(axis=1), 400)


def test_standard_errors_are_what_other_rows_would_show():
    """The spread of the figures over sets of rows, and the mean of what each says of itself."""
    found, said = [], []
    for seed in range(40):
        proba, truth = predictions(2, rows=200, seed=seed)
        merits, noise = Merits.of(np.log(proba), truth), Noise.of(np.log(proba), truth)
        found.append((merits.auc, merits.average_precision, merits.balanced_error, merits.nlp))
        figures = (noise.auc.error, noise.average_precision.error)
        said.append((*figures, noise.balanced_error, noise.log_loss))
    np.testing.assert_allclose(np.mean(said, axis=0), np.std(found, axis=0, ddof=1), rtol=0.35)


def test_the_calibration_error_has_bins_of_equal_counts():
    proba = np.stack([1.0 - np.linspace(0, 1, 100), np.linspace(0, 1, 100)], axis=1)
    truth = (np.arange(100) >= 50).astype(np.intp)
    tenths = np.linspace(0, 1, 100).reshape(10, 10).mean(axis=1)
    wanted = np.abs(tenths - (np.arange(10) >= 5)).mean()
    error = calibration_error(proba, truth)(np.ones((1, 100)))
    assert error == pytest.approx(wanted)
    tied = np.tile([0.5, 0.5], (100, 1))  # one bin, whatever the number of bins
    assert calibration_error(tied, truth)(np.ones((1, 100))) == pytest.approx(0.0)


def test_the_calibration_error_by_chance_is_that_of_calibrated_predictions():
    found = []
    for seed in range(20):
        proba, truth = predictions(2, rows=400, seed=seed)
        found.append(Merits.of(np.log(proba), truth).calibration_error)
    assert error_by_chance(predictions(2, rows=400)[0]) == pytest.approx(np.mean(found), rel=0.25)
    proba, truth = predictions(2, rows=400)
    noise = Noise.of(np.log(proba), truth)
    assert noise.calibration_error.low < noise.calibration_by_chance
    wrong = Noise.of(np.log(np.clip(proba**4, 1e-9, None) / (proba**4).sum(1)[:, None]), truth)
    assert wrong.calibration_error.low > noise.calibration_error.high


def test_the_balanced_error_has_an_error_from_both_classes():
    log_proba = np.log([[0.9, 0.1]] * 30 + [[0.1, 0.9]] * 10)
    truth = np.array([0] * 24 + [1] * 6 + [1] * 8 + [0] * 2)
    figure = balanced_error(log_proba, truth)
    a, b = 2 / 26, 6 / 14
    assert figure.value == pytest.approx((a + b) / 2)
    spread = np.sqrt(a * (1 - a) / 25 + b * (1 - b) / 13) / 2
    assert figure.error == pytest.approx(spread)


def test_who_decides_by_costs_is_judged_by_the_decisions():
    proba, truth = predictions(2)
    names, shares = np.array(["no", "yes"]), np.array([0.5, 0.5])
    costs = Costs.of(names, {"yes": 4})
    known = Predictions(names, np.log(proba), truth, shares, costs)
    said = (proba[:, 1] > 0.2).astype(int)
    missed, alarms = np.sum((truth == 1) & (said == 0)), np.sum((truth == 0) & (said == 1))
    assert known.merits.error == pytest.approx((missed + alarms) / len(truth))
    assert known.merits.cost == pytest.approx((4 * missed + alarms) / len(truth))
    assert known.merits.baseline_cost == pytest.approx(np.mean(truth == 0))  # yes, for all
    assert known.confusion.tolist() == sklearn_metrics.confusion_matrix(truth, said).tolist()
    balanced = sklearn_metrics.balanced_accuracy_score(truth, said)
    assert known.merits.balanced_error == pytest.approx(1.0 - balanced)
    assert figure_rows(known)[0].name == "cost of a decision"
    without = Predictions(names, np.log(proba), truth, shares)
    assert np.isnan(without.merits.cost)
    assert figure_rows(without)[0].name == "log loss"
    assert without.merits.log_loss == known.merits.log_loss


@pytest.mark.parametrize("measure", ["recall", "precision", "specificity"])
def test_a_target_stands_beside_what_the_rows_say(measure):
    proba, truth = predictions(2, ties=False)
    names, wanted = np.array(["no", "yes"]), {"recall": None, "precision": None}
    costs = targeted_costs(names, np.log(proba), truth, "yes", {**wanted, measure: 0.9})
    row = figure_rows(Predictions(names, np.log(proba), truth, None, costs))[0]
    assert costs.target is not None
    assert row.name == f"{measure} of yes"
    assert row.value == f"{100 * costs.target.reached:.1f} %"
    assert row.beside == "wanted: at least 90.0 %"


def test_by_chance_average_precision_is_the_share_of_the_class():
    proba, truth = predictions(4)
    share = np.mean([np.mean(truth == c) for c in range(4)])
    assert Merits.of(np.log(proba), truth).baseline_precision == pytest.approx(share)
