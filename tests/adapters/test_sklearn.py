"""``SGPClassifier`` among its kind: scikit-learn's checks, its tools, tables, added rows."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from run_checks import EXPECTED_TO_FAIL, configurations
from sklearn.base import clone, is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris, load_wine
from sklearn.ensemble import AdaBoostClassifier, VotingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import check_sample_weight_equivalence_on_dense_data
from sklearn.utils.validation import has_fit_parameter

import sgpc_framework as sgpc
from sgpc_framework import SGPClassifier
from sgpc_framework.parts.hyperparameters import parts_of
from sgpc_framework.plugin.registry import default_registry

X, Y = load_iris(return_X_y=True)
NAMES = load_iris().target_names[Y]
TWO = Y > 0
FAIR = 0.8  # of the labels: what twelve stages without any tuning give on three classes
CHECKS = [str(configuration) for configuration in configurations()]


def quick(**changes):
    """A classifier that is fitted in no time."""
    return SGPClassifier(**{"preset": "fast", "refiner": "none", "max_basis": 12, **changes})


# ---------------------------------------------------------------------------------------------
# scikit-learn's own checks


@pytest.fixture(scope="module")
def outcomes():
    script = Path(__file__).with_name("run_checks.py")
    ran = subprocess.run(
        [sys.executable, str(script)],
        env={**os.environ, "SCIPY_ARRAY_API": "1", "OPENBLAS_NUM_THREADS": "1"},
        check=True,
        capture_output=True,
        text=True,
    )
    return dict(json.loads(ran.stdout))


def test_every_built_in_part_is_checked():
    used = set()
    for configuration in configurations():
        config = SGPClassifier(**configuration)._design().config
        for kind in ("kernel", "likelihood", "selector", "sites", "objective", "refiner"):
            used |= {(kind, part.name) for part in parts_of(getattr(config, kind))}
    registry = default_registry()
    assert used >= {(part.kind, part.name) for part in registry.parts()}


@pytest.mark.parametrize("configuration", CHECKS)
def test_all_of_scikit_learns_checks_pass(outcomes, configuration):
    outcome = outcomes[configuration]
    assert len(outcome) > 60
    others = [one for one in outcome if one["status"] != "passed"]
    assert [(one["check"], one["status"]) for one in others] == [
        (check, "xfail") for check in EXPECTED_TO_FAIL
    ]


def test_the_tags_say_what_it_can_do():
    tags = get_tags(SGPClassifier())
    assert is_classifier(SGPClassifier())
    assert tags.classifier_tags.multi_class
    assert not tags.classifier_tags.poor_score
    assert not tags.classifier_tags.multi_label
    assert tags.target_tags.required
    assert not tags.non_deterministic
    assert not tags.input_tags.sparse
    assert not tags.input_tags.allow_nan


# ---------------------------------------------------------------------------------------------
# Predictions


def test_two_classes():
    fitted = quick().fit(X, TWO)
    assert isinstance(fitted.model_, sgpc.Model)
    assert fitted.classes_.tolist() == [False, True]
    decision, proba = fitted.decision_function(X), fitted.predict_proba(X)
    assert decision.shape == (150,)
    np.testing.assert_array_equal(decision > 0, fitted.predict(X))
    np.testing.assert_allclose(1.0 / (1.0 + np.exp(-decision)), proba[:, 1])
    np.testing.assert_allclose(np.exp(fitted.predict_log_proba(X)), proba)


def test_three_classes():
    fitted = quick().fit(X, NAMES)
    assert isinstance(fitted.model_, sgpc.Model)
    apart = quick(strategy="one-vs-rest").fit(X, NAMES)
    assert isinstance(apart.model_, sgpc.OneVsRest)
    assert apart.score(X, NAMES) > FAIR
    assert fitted.classes_.tolist() == ["setosa", "versicolor", "virginica"]
    assert fitted.score(X, NAMES) > FAIR
    decision = fitted.decision_function(X)
    assert decision.shape == (150, 3)
    np.testing.assert_array_equal(fitted.classes_[decision.argmax(axis=1)], fitted.predict(X))
    np.testing.assert_allclose(fitted.predict_proba(X).sum(axis=1), 1.0)
    stages = list(fitted.staged_predict_proba(X))
    assert len(stages) == len(fitted.model_.sizes) == 12
    np.testing.assert_allclose(stages[-1], fitted.predict_proba(X), atol=1e-12)


def test_it_is_what_build_makes():
    told = {"kernel": "matern-52", "selector": {"name": "adaptive-sampling", "working_set": 3}}
    fitted = SGPClassifier("fast", max_basis=5, sizes=[2], random_state=3, **told).fit(X, NAMES)
    model = sgpc.build("fast", max_basis=5, sizes=[2], seed=3, **told).fit(X, NAMES)
    np.testing.assert_array_equal(fitted.predict_proba(X), model.predict_proba(X))
    assert fitted.model_.sizes == (2, 5)


def test_units_of_the_features_do_not_matter():
    W, labels = load_wine(return_X_y=True)
    fast = SGPClassifier("fast", max_basis=10)
    raw = fast.fit(W, labels).predict_proba(W)
    scaled = make_pipeline(StandardScaler(), fast).fit(W, labels).predict_proba(W)
    stretch = 10.0 ** np.linspace(-4, 4, W.shape[1])
    stretched = fast.fit(W * stretch, labels).predict_proba(W * stretch)
    np.testing.assert_allclose(raw, scaled, atol=0.02)
    np.testing.assert_allclose(raw, stretched, atol=0.02)
    assert np.mean(raw.argmax(axis=1) == labels) > 0.98


@pytest.mark.parametrize("random_state", [5, np.int64(5), None, np.random.RandomState(5)])
def test_every_form_of_a_random_state_is_taken(random_state):
    classifier = quick(random_state=random_state, max_basis=3).fit(X, TWO)
    seed = classifier.model_.provenance.config["seed"]
    assert seed == 5 if isinstance(random_state, (int, np.integer)) else seed >= 0


def test_jobs_change_nothing():
    with joblib.parallel_config(backend="threading"):  # processes take seconds to come
        apart = {"strategy": "one-vs-rest", "max_basis": 3}
        one, two = (quick(n_jobs=n, **apart).fit(X, NAMES) for n in (None, 2))
    np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(X))


@pytest.mark.parametrize(
    "refiner", ["none", {"name": "corrective", "penalty": 1.0, "iterations": 3}]
)
def test_verbose_says_where_it_is(refiner, capsys):
    quick(verbose=1, refiner=refiner).fit(X, NAMES)
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith("[SGPClassifier] round 1: 12 basis vectors, loss 0.")
    quick(verbose=1, refiner=refiner, strategy="one-vs-rest").fit(X, NAMES)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 6
    assert lines[1].startswith("[SGPClassifier] model 2 of 6, round 1: 12 basis vectors, loss 0.")


# ---------------------------------------------------------------------------------------------
# Weights


def test_weights_are_those_of_the_design():
    weights = np.linspace(0.0, 3.0, 150)
    fitted = quick(max_basis=4).fit(X, NAMES, sample_weight=weights)
    design = sgpc.build("fast", refiner="none", max_basis=4)
    model = design.fit(X, NAMES, sample_weight=weights)
    np.testing.assert_array_equal(fitted.predict_proba(X), model.predict_proba(X))
    assert has_fit_parameter(SGPClassifier(), "sample_weight")
    ones = quick().fit(X, TWO, sample_weight=1.0).predict_proba(X)
    np.testing.assert_array_equal(ones, quick().fit(X, TWO).predict_proba(X))


def test_weights_of_classes_multiply_those_of_rows():
    own, factors = np.linspace(0.5, 1.5, 150), np.array([1.0, 4.0, 0.5])[Y]
    weighted = quick(max_basis=4, class_weight={"versicolor": 4.0, "virginica": 0.5})
    ours = weighted.fit(X, NAMES, sample_weight=own).predict_proba(X)
    theirs = quick(max_basis=4).fit(X, NAMES, sample_weight=own * factors).predict_proba(X)
    np.testing.assert_array_equal(ours, theirs)
    lacking = quick(max_basis=4, class_weight={0: 1.0, 1: 2.0, 2: 3.0}).fit(X[:100], Y[:100])
    assert lacking.classes_.tolist() == [0, 1]  # a fold of rows need not have every class


def test_balanced_classes_count_the_same():
    rare = np.flatnonzero((Y != 1) | (np.arange(150) % 10 == 0))
    rare = rare[Y[rare] > 0]  # five of versicolor, fifty of virginica
    balanced = quick(class_weight="balanced").fit(X[rare], Y[rare])
    by_hand = np.where(Y[rare] == 1, 55 / (2 * 5), 55 / (2 * 50))
    same = quick().fit(X[rare], Y[rare], sample_weight=by_hand)
    np.testing.assert_allclose(balanced.predict_proba(X), same.predict_proba(X), atol=1e-12)
    plain = quick().fit(X[rare], Y[rare])
    recalls = [each.score(X[Y == 1], Y[Y == 1]) for each in (plain, balanced)]
    assert recalls[0] < recalls[1]


def test_a_class_without_weight_is_not_there():
    fitted = quick(max_basis=4).fit(X, NAMES, sample_weight=(Y > 0) * 2.0)
    assert fitted.classes_.tolist() == ["versicolor", "virginica"]
    assert np.all(Y[fitted.model_.basis] > 0)


def test_added_rows_bring_their_weights():
    weights = np.where(np.arange(150) < 80, 1.0, np.linspace(0.5, 2.0, 150))
    at_once = quick(max_basis=4, class_weight="balanced").fit(X, TWO, sample_weight=weights)
    growing = quick(max_basis=4, class_weight="balanced", keep_rows=True).fit(X[:80], TWO[:80])
    growing = pickle.loads(pickle.dumps(growing))
    growing.partial_fit(X[80:], TWO[80:], sample_weight=weights[80:])
    np.testing.assert_array_equal(growing.predict_proba(X), at_once.predict_proba(X))


@pytest.mark.parametrize(
    "changes",
    [
        {"sites": "moment-matching"},
        {"sites": "predictive-loss"},
        {"objective": "predictive-loss", "max_iterations": 1},
        {"refiner": {"name": "corrective", "penalty": 1.0, "batches": 10, "iterations": 10}},
        {"refiner": "prune"},
    ],
)
def test_weights_are_repeated_rows_where_nothing_is_left_to_chance(changes):
    """All rows are candidates, so that the least loss decides, and the lengthscale does not start
    from the rows. With more basis vectors, a row that is there twice may be taken twice."""
    design = {
        "kernel": {"name": "squared-exponential", "lengthscale": 2.0},
        "selector": {"name": "random-sampling", "working_set": 100},
        "objective": "none",
        "max_basis": 3,
        **changes,
    }
    check_sample_weight_equivalence_on_dense_data("SGPClassifier", SGPClassifier("paper", **design))


def test_boosting_gives_shares_which_are_warned_of():
    boosted = AdaBoostClassifier(quick(), n_estimators=3, random_state=0)
    with pytest.warns(UserWarning, match="adds up to 1, so that 150 rows are taken for as much"):
        boosted.fit(X, Y)
    assert boosted.score(X, Y) > FAIR


def test_a_pipeline_passes_weights_on():
    pipeline = make_pipeline(StandardScaler(), quick(max_basis=4))
    weights = np.where(Y == 2, 3.0, 1.0)
    fitted = pipeline.fit(X, Y, sgpclassifier__sample_weight=weights)
    scaled = StandardScaler().fit_transform(X)
    alone = quick(max_basis=4).fit(scaled, Y, sample_weight=weights)
    np.testing.assert_array_equal(fitted.predict_proba(X), alone.predict_proba(scaled))


# ---------------------------------------------------------------------------------------------
# What cannot be


@pytest.mark.parametrize(
    ("weights", "text"),
    [
        (np.where(np.arange(150) == 7, -1.0, 1.0), r"not below 0, found -1.0 at row 7"),
        (np.where(np.arange(150) == 3, np.nan, 1.0), r"finite.*found nan at row 3"),
        (np.zeros(150), "above zero somewhere, found zero in all 150 rows"),
        (np.ones(149), r"each of the 150 rows, found shape \(149,\)"),
        (["heavy"] * 150, "must hold numbers"),
        ((Y == 1) * 1.0, r"at least 2 classes among the rows .* found \[1\] only"),
    ],
)
def test_improper_weights_are_refused_with_the_reason(weights, text):
    for method in (quick().fit, quick(keep_rows=True).partial_fit):
        with pytest.raises(ValueError, match=text):
            method(X, Y, sample_weight=weights)


@pytest.mark.parametrize(
    ("class_weight", "text"),
    [
        ("even", "must be 'balanced', a mapping from labels to numbers, or None, found 'even'"),
        ({0: -1.0}, "not below 0, found -1.0 for the label 0"),
        ({0: np.inf}, "must be finite"),
        ({"0": 2.0, 1: 1.0}, "has '0', which is no label of y, and nothing for the class 0"),
    ],
)
def test_improper_weights_of_classes_are_refused_with_the_reason(class_weight, text):
    with pytest.raises(ValueError, match=text):
        quick(class_weight=class_weight).fit(X, Y)


@pytest.mark.parametrize(
    ("inputs", "labels", "text"),
    [
        (X, np.zeros(150), "at least 2 classes"),
        (X, X[:, 0] + 0.01, "Unknown label type: continuous"),
        (np.full((150, 4), np.nan), Y, "NaN"),
        (X, Y[:-1], "inconsistent numbers of samples"),
        (X[:, 0], Y, "Expected 2D array"),
        (X, np.stack([Y, Y], axis=1), "1d array"),
    ],
)
def test_bad_data_is_an_error_as_everywhere_in_scikit_learn(inputs, labels, text):
    with pytest.raises(ValueError, match=text):
        quick().fit(inputs, labels)


def test_a_bad_configuration_is_an_error_of_fit():
    with pytest.raises(sgpc.ConfigError, match="did you mean 'entropy'"):
        quick(selector="entrpy").fit(X, Y)


def test_an_unfitted_classifier_says_so():
    for method in ("predict", "predict_proba", "predict_log_proba", "decision_function"):
        with pytest.raises(NotFittedError):
            getattr(SGPClassifier(), method)(X)
    with pytest.raises(NotFittedError):
        next(SGPClassifier().staged_predict_proba(X))


def test_without_scikit_learn_it_says_what_to_install(monkeypatch):
    monkeypatch.delitem(sys.modules, "sgpc_framework.adapters.sklearn")
    monkeypatch.setitem(sys.modules, "sklearn.base", None)
    with pytest.raises(ImportError, match=r"pip install 'sgpc-framework\[sklearn\]'"):
        sgpc.SGPClassifier  # noqa: B018  the access is the test


# ---------------------------------------------------------------------------------------------
# In scikit-learn's tools


def test_in_a_pipeline_and_under_cross_validation():
    pipeline = make_pipeline(StandardScaler(), quick())
    assert cross_val_score(pipeline, X, NAMES, cv=3).mean() > FAIR
    proba = cross_val_predict(pipeline, X, NAMES, cv=3, method="predict_proba")
    assert proba.shape == (150, 3)


def test_a_grid_over_parts_and_their_options():
    grid = {
        "selector": ["entropy", {"name": "adaptive-sampling", "working_set": 2}],
        "kernel": [None, "linear"],
        "max_basis": [1, 12],
    }
    search = GridSearchCV(quick(), grid, cv=2, error_score="raise").fit(X, NAMES)
    assert search.best_params_["max_basis"] == 12
    assert search.score(X, NAMES) > FAIR
    assert len(search.cv_results_["params"]) == 8


def test_calibrated_and_voting():
    calibrated = CalibratedClassifierCV(quick(), cv=2).fit(X, NAMES)
    assert calibrated.score(X, NAMES) > FAIR
    voting = VotingClassifier([("a", quick()), ("b", quick(kernel="linear"))], voting="soft")
    assert voting.fit(X, NAMES).score(X, NAMES) > FAIR


class Borderline:
    name = "borderline"

    def propose(self, posterior, rng):
        return posterior.argmin(lambda rows: np.abs(rows.mean) - np.sqrt(rows.variance))


@pytest.mark.parametrize("selector", ["entropy", {"name": "entropy"}, Borderline()])
def test_a_clone_is_like_it(selector):
    original = quick(selector=selector, strategy="one-vs-rest").fit(X, Y)
    copy = clone(original)
    assert not hasattr(copy, "model_")
    np.testing.assert_array_equal(copy.fit(X, Y).predict_proba(X), original.predict_proba(X))
    assert copy.set_params(max_basis=3).get_params()["max_basis"] == 3


def test_skops_gives_it_back_without_pickles():
    skops = pytest.importorskip("skops.io")
    fitted = quick().fit(X, NAMES)
    kept = skops.dumps(fitted)
    types = skops.get_untrusted_types(data=kept)
    assert all(name.split(".")[0] in ("sgpc_framework", "sgpc_plugins") for name in types)
    again = skops.loads(kept, trusted=types)
    assert np.array_equal(again.predict_proba(X), fitted.predict_proba(X))


def test_pickle_and_joblib_give_it_back(tmp_path):
    fitted = quick().fit(X, NAMES)
    joblib.dump(fitted, tmp_path / "m.joblib")
    for again in (pickle.loads(pickle.dumps(fitted)), joblib.load(tmp_path / "m.joblib")):
        np.testing.assert_array_equal(again.predict_proba(X), fitted.predict_proba(X))


def test_the_model_goes_into_a_file(tmp_path):
    fitted = quick().fit(X, NAMES)
    fitted.model_.save(tmp_path / "m.sgpc")
    again = sgpc.load(tmp_path / "m.sgpc")
    np.testing.assert_array_equal(again.predict_proba(X), fitted.predict_proba(X))


# ---------------------------------------------------------------------------------------------
# Tables

COLUMNS = ["sepal length", "sepal width", "petal length", "petal width"]


@pytest.mark.parametrize("table", [pd.DataFrame, pl.DataFrame])
def test_tables_are_taken_and_their_columns_remembered(table):
    frame = table(dict(zip(COLUMNS, X.T, strict=True)))
    labels = (pd if table is pd.DataFrame else pl).Series(NAMES.tolist())
    fitted = quick().fit(frame, labels)
    assert fitted.feature_names_in_.tolist() == COLUMNS
    assert fitted.n_features_in_ == 4
    np.testing.assert_array_equal(
        fitted.predict_proba(frame), quick().fit(X, NAMES).predict_proba(X)
    )
    with pytest.raises(ValueError, match="feature names"):
        fitted.predict(frame[COLUMNS[::-1]])
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        fitted.predict(X)


def test_a_table_with_words_in_it_is_refused():
    frame = pd.DataFrame({"size": X[:, 0], "colour": NAMES})
    with pytest.raises(ValueError, match=r"could not convert string to float.*SGPTableClassifier"):
        quick().fit(frame, Y)


# ---------------------------------------------------------------------------------------------
# More rows


ORDER = np.random.default_rng(0).permutation(150)
FIRST, SECOND = ORDER[:90], ORDER[90:]


@pytest.mark.parametrize("labels", [NAMES, TWO])
@pytest.mark.parametrize("begin", ["fit", "partial_fit"])
def test_added_rows_make_the_classifier_of_all_rows(labels, begin):
    added = quick(keep_rows=True)
    getattr(added, begin)(X[FIRST], labels[FIRST])
    added.partial_fit(X[SECOND[:1]], labels[SECOND[:1]])
    added.partial_fit(X[SECOND[1:]], labels[SECOND[1:]])
    whole = quick().fit(X[ORDER], labels[ORDER])
    np.testing.assert_array_equal(added.predict_proba(X), whole.predict_proba(X))


def test_the_rows_that_are_kept_are_a_copy():
    mine = X[FIRST].copy()
    added = quick(keep_rows=True).fit(mine, Y[FIRST])
    mine[:] = 0.0
    added.partial_fit(X[SECOND], Y[SECOND])
    np.testing.assert_array_equal(
        added.predict_proba(X), quick().fit(X[ORDER], Y[ORDER]).predict_proba(X)
    )


def test_a_new_class_may_come_later():
    added = quick(keep_rows=True).partial_fit(X[:100], Y[:100])
    assert added.classes_.tolist() == [0, 1]
    added.partial_fit(X[100:], Y[100:])
    assert added.classes_.tolist() == [0, 1, 2]
    assert added.score(X, Y) > FAIR


def test_classes_that_are_announced_have_their_columns_from_the_beginning():
    added = quick(keep_rows=True).partial_fit(X[:100], Y[:100], classes=[2, 1, 0])
    assert added.classes_.tolist() == [0, 1, 2]
    proba = added.predict_proba(X)
    assert proba.shape == (150, 3)
    assert not proba[:, 2].any()
    assert np.isneginf(added.predict_log_proba(X)[:, 2]).all()
    decision = added.decision_function(X)
    assert np.isfinite(decision).all()
    np.testing.assert_array_equal(decision.argmax(axis=1), added.predict(X))
    assert next(added.staged_predict_proba(X)).shape == (150, 3)
    added.partial_fit(X[100:], Y[100:])
    assert added.predict_proba(X)[:, 2].any()
    with pytest.raises(ValueError, match="label 7, which classes does not have"):
        added.partial_fit(X[:2], [1, 7])


def test_without_rows_nothing_can_be_added():
    begun = quick().fit(X, Y)
    assert not hasattr(begun, "partial_fit")
    with pytest.raises(AttributeError) as caught:
        begun.partial_fit(X, Y)
    assert "begin with keep_rows=True" in str(caught.value.__cause__)
    with pytest.raises(ValueError, match="begin with keep_rows=True"):
        begun.set_params(keep_rows=True).partial_fit(X, Y)


def test_pickles_hold_no_training_data_unless_rows_are_kept():
    rows = np.random.default_rng(0).normal(size=(150, 4))
    without, fitted = quick().fit(rows, Y), quick(keep_rows=True).fit(rows, Y)
    others = np.setdiff1d(np.arange(150), fitted.model_.basis)
    assert all(rows[i].tobytes() not in pickle.dumps(without) for i in others)
    for kept in (fitted, quick(keep_rows=True).partial_fit(rows, Y)):
        assert all(rows[i].tobytes() in pickle.dumps(kept) for i in others)


def test_missing_numbers_are_refused_with_advice():
    spoilt = X.copy()
    spoilt[3, 1] = np.nan
    fitted = quick().fit(X, Y)
    for method in (lambda: quick().fit(spoilt, Y), lambda: fitted.predict(spoilt)):
        with pytest.raises(ValueError, match=r"contains NaN.*SimpleImputer.*SGPTableClassifier"):
            method()


def test_added_rows_must_be_like_the_others():
    added = quick(keep_rows=True).partial_fit(X, Y)
    with pytest.raises(ValueError, match="wanted labels like"):
        added.partial_fit(X, NAMES)
    with pytest.raises(ValueError, match="expecting 4 features"):
        added.partial_fit(X[:, :2], Y)


@pytest.mark.parametrize("portion", [50, 75])
def test_a_stream_keeps_a_bounded_number_of_rows_which_portions_do_not_change(portion):
    order = np.random.default_rng(0).permutation(150)
    stream = quick(keep_rows=40)
    for start in range(0, 150, portion):
        some = order[start : start + portion]
        stream.partial_fit(X[some], NAMES[some])
        assert len(stream._kept.rows.y) == 40
    at_once = quick(keep_rows=40).partial_fit(X[order], NAMES[order])
    np.testing.assert_array_equal(stream._kept.rows.X, at_once._kept.rows.X)
    np.testing.assert_array_equal(stream.predict_proba(X), at_once.predict_proba(X))


def test_a_fit_sees_all_rows_and_keeps_some():
    few = quick(keep_rows=40).fit(X, NAMES)
    np.testing.assert_array_equal(few.predict_proba(X), quick().fit(X, NAMES).predict_proba(X))
    assert len(few._kept.rows.y) == 40
    assert len(few.partial_fit(X[:5], NAMES[:5])._kept.rows.y) == 40
    assert few._kept.reservoir.seen == len(X) + 5


def test_rows_that_are_kept_are_nobody_elses():
    rows = X.copy()
    added = quick(keep_rows=True).partial_fit(rows, NAMES)
    rows[:] = 0.0
    np.testing.assert_array_equal(added.partial_fit(X[:5], NAMES[:5])._kept.rows.X[:-5], X)


def test_rows_of_a_fit_that_failed_have_not_come():
    stream = quick(keep_rows=40).fit(X, NAMES)
    with pytest.raises(sgpc.ConfigError):
        stream.set_params(tolerance=-1.0).partial_fit(X[:5], NAMES[:5])
    assert stream._kept.reservoir.seen == len(X)


@pytest.mark.parametrize("keep_rows", [0, 1, -5, 2.5, "many"])
def test_a_number_of_rows_to_keep_is_one(keep_rows):
    with pytest.raises(ValueError, match="wanted keep_rows to be True, False, or a whole number"):
        quick(keep_rows=keep_rows).fit(X, NAMES)


def test_a_checkpoint_goes_with_a_fit(tmp_path):
    first = quick().fit(X, NAMES, checkpoint=tmp_path / "fit.log")
    again = quick().fit(X, NAMES, checkpoint=tmp_path / "fit.log")
    np.testing.assert_array_equal(first.predict_proba(X), again.predict_proba(X))
    with pytest.raises(sgpc.CheckpointError, match=r"config\.max_basis"):
        quick(max_basis=3).fit(X, NAMES, checkpoint=tmp_path / "fit.log")


def test_a_warm_start_goes_on_from_what_was_found():
    settings = {"preset": "paper", "max_basis": 8, "max_iterations": 2}
    warm = SGPClassifier(**settings, warm_start=True).fit(X, NAMES)
    found = warm.model_.kernel.lengthscale
    warm.fit(X, NAMES)
    assert begun(warm.model_) == found
    cold = SGPClassifier(**settings).fit(X, NAMES)
    at_first = begun(cold.model_)
    assert begun(cold.fit(X, NAMES).model_) == at_first != found


def begun(model):
    return model.trace.iterations[0].hyperparameters["kernel.lengthscale"]


def test_each_class_has_its_own_warm_start():
    settings = {"strategy": "one-vs-rest", "max_basis": 8, "max_iterations": 2}
    warm = SGPClassifier("paper", **settings, warm_start=True).fit(X, NAMES)
    lengthscales = [one.kernel.lengthscale for one in warm.model_.models]
    warm.fit(X, NAMES)
    assert [begun(one) for one in warm.model_.models] == lengthscales


@pytest.mark.parametrize(
    ("changes", "inputs", "labels"),
    [({"kernel": "matern-32"}, X, NAMES), ({}, X[:, :2], NAMES), ({}, X, Y), ({}, X, TWO)],
)
def test_a_warm_start_elsewhere_is_a_cold_one(changes, inputs, labels):
    """Another kernel, other features, other classes: there is nothing to go on from."""
    warm = quick(warm_start=True).fit(X, NAMES).set_params(**changes).fit(inputs, labels)
    cold = quick(**changes).fit(inputs, labels)
    np.testing.assert_array_equal(warm.predict_proba(inputs), cold.predict_proba(inputs))


def test_feature_importances_say_what_the_loss_loses():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    y = np.where(X[:, 1] > 0.0, "a", "b")
    classifier = SGPClassifier("fast", max_basis=5).fit(X, y)
    assert classifier.feature_importances_.shape == (3,)
    assert classifier.feature_importances_.argmax() == 1
    assert classifier.feature_importances_[1] > 0.3
    assert np.abs(classifier.feature_importances_[[0, 2]]).max() < 0.1
    from sklearn.feature_selection import SelectFromModel

    chosen = SelectFromModel(SGPClassifier("fast", max_basis=5)).fit(X, y)
    np.testing.assert_array_equal(chosen.get_support(), [False, True, False])
