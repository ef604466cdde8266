"""``SGPTableClassifier``: scikit-learn's checks, and frames with all that frames have."""

from __future__ import annotations

import pickle
import warnings

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from run_checks import EXPECTED_TO_FAIL
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import check_estimator

import sgpc_framework as sgpc
from sgpc_framework import InputError, SGPClassifier, SGPTableClassifier
from sgpc_framework.adapters.portable.exports import export
from sgpc_framework.tables import TableClassifier

QUICK = SGPClassifier("paper", max_iterations=2, max_basis=30)


def visits(rows=120, seed=0):
    """Who comes on a weekend, or is old, buys; some do not say how old they are."""
    rng = np.random.default_rng(seed)
    when = pd.Timestamp("2025-03-01") + pd.to_timedelta(rng.integers(0, 600, rows), unit="D")
    age = rng.uniform(20, 80, rows)
    weekend = when.day_of_week >= 5
    bought = np.where(weekend | (age > 60), "yes", "no")
    age[rng.random(rows) < 0.1] = np.nan
    city = pd.Series(rng.choice(["Oslo", "Rome", None], rows), dtype=object)
    frame = pd.DataFrame({"age": age, "city": city, "when": when, "note": np.nan})
    return frame, bought


def test_it_passes_the_checks_of_scikit_learn():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = check_estimator(
            SGPTableClassifier(QUICK),
            on_fail=None,
            on_skip=None,
            expected_failed_checks=EXPECTED_TO_FAIL,
        )
    failed = {one["check_name"]: one["exception"] for one in found if one["status"] == "failed"}
    assert not failed
    assert len(found) > 50


@pytest.fixture(scope="module")
def fitted():
    return SGPTableClassifier(SGPClassifier("fast", max_basis=20)).fit(*visits())


def test_frames_are_taken_as_they_come(fitted):
    X, y = visits(seed=1)
    assert fitted.score(X, y) > 0.85
    assert fitted.classes_.tolist() == ["no", "yes"]
    features = fitted.encoding_.features
    assert features[:4] == ("age", "age is missing", "city=Oslo", "city=Rome")
    assert "when.weekday=Sunday" in features
    assert not any("hour" in feature or "note" in feature for feature in features)
    assert fitted.feature_names_in_.tolist() == ["age", "city", "when", "note"]
    proba = fitted.predict_proba(X)
    np.testing.assert_allclose(np.exp(fitted.predict_log_proba(X)), proba, rtol=1e-9)
    assert np.array_equal(fitted.decision_function(X) > 0, fitted.predict(X) == "yes")


def test_importances_are_those_of_columns(fitted):
    """What a column has become, a weekday, a flag for what is missing, is permuted together."""
    age, city, when, note = fitted.feature_importances_
    assert min(age, when) > 0.1 > city
    assert note == 0.0  # which was empty
    linear = SGPTableClassifier(LogisticRegression()).fit(*visits())
    assert linear.feature_importances_[0] > linear.feature_importances_[1]
    without = SGPTableClassifier(LinearSVC()).fit(*visits())
    assert not hasattr(without, "feature_importances_")


def test_rows_are_explained_in_the_words_of_the_frame(fitted):
    X, _ = visits(seed=1)
    told = fitted.explain(X[:20])
    assert [one.label for one in told] == fitted.predict(X[:20]).tolist()
    assert f"when.weekday {X['when'][0].day_name()}" in str(told[0])


def test_what_was_fitted_can_be_saved_exported_and_served(fitted, tmp_path):
    X, y = visits(seed=1)
    fitted.save(tmp_path / "shop.sgpc")
    again = sgpc.load(tmp_path / "shop.sgpc")
    assert isinstance(again, TableClassifier)
    np.testing.assert_allclose(again.predict_proba(X), fitted.predict_proba(X), rtol=1e-12)
    assert again.target == "label"
    assert export(fitted.model_, tmp_path / "shop.py").difference < 1e-9
    named = SGPTableClassifier(QUICK).fit(X, pd.Series(y, name="bought"))
    assert named.model_.target == "bought"


def test_only_models_of_ours_can():
    other = SGPTableClassifier(LogisticRegression()).fit(*visits())
    for name in ("model_", "save", "explain"):
        assert not hasattr(other, name)
    assert not hasattr(SGPTableClassifier(), "model_")


def test_a_classifier_of_tables_is_an_estimator_again():
    X, y = visits()
    table = X.drop(columns="note").assign(bought=y)
    design = sgpc.build("paper", max_basis=12, max_iterations=2, seed=3)
    classifier = TableClassifier.fit(table, "bought", design, impute=True, costs={"yes": 2})
    estimator = classifier.estimator()
    assert cross_val_score(estimator, table.drop(columns="bought"), y, cv=2).mean() > 0.6
    same = estimator.fit(table.drop(columns="bought"), table["bought"]).model_
    np.testing.assert_array_equal(same.predict_proba(table), classifier.predict_proba(table))
    assert same.encoding.columns == classifier.encoding.columns
    assert np.array_equal(same.model.costs.matrix, classifier.model.costs.matrix)


def test_costs_of_the_classifier_decide():
    X, y = visits()
    careful = SGPTableClassifier(SGPClassifier("fast", max_basis=20, costs={"yes": 50})).fit(X, y)
    usual = careful.classes_[careful.predict_proba(X).argmax(axis=1)]
    assert np.sum(careful.predict(X) == "yes") > np.sum(usual == "yes")


def test_polars_frames_and_dates_of_other_kinds(fitted):
    X, _ = visits(rows=10, seed=1)
    expected = fitted.predict_proba(X)
    same = pl.DataFrame({name: X[name].tolist() for name in ("age", "city", "when", "note")})
    np.testing.assert_allclose(fitted.predict_proba(same), expected, rtol=1e-9)
    days = X.assign(when=[moment.date() for moment in X["when"]])
    np.testing.assert_allclose(fitted.predict_proba(days), expected, rtol=1e-9)
    zoned = X.assign(when=X["when"].dt.tz_localize("Europe/Oslo"))
    np.testing.assert_allclose(fitted.predict_proba(zoned), expected, rtol=1e-9)
    objects = X.assign(when=[pd.NA, *X["when"].astype(object)[1:]])
    np.testing.assert_allclose(fitted.predict_proba(objects)[1:], expected[1:], rtol=1e-9)
    gone = X.assign(when=pd.NaT, city="Paris", age=np.nan)
    assert np.isfinite(fitted.predict_proba(gone)).all()


def test_what_are_no_dates_is_refused(fitted):
    X, _ = visits(rows=3)
    with pytest.raises(InputError, match="column 'when': wanted a date such as"):
        fitted.predict(X.assign(when="soon"))


def test_other_columns_are_refused(fitted):
    X, _ = visits(rows=3)
    with pytest.raises(ValueError, match="feature names should match"):
        fitted.predict(X.rename(columns={"age": "years"}))


def test_unseen_words_may_be_refused():
    X, y = visits(rows=40)
    strict = SGPTableClassifier(QUICK, unseen="refuse").fit(X, y)
    with pytest.raises(InputError, match="found 'Paris'"):
        strict.predict(X.assign(city="Paris"))


def test_words_that_look_like_numbers():
    X, y = visits(rows=40)
    X = X.assign(zip=np.arange(40) % 3)
    asked = SGPTableClassifier(QUICK, words=["zip"]).fit(X, y)
    assert "zip=2" in asked.encoding_.features
    with pytest.raises(InputError, match="there is no column 'zap'; did you mean 'zip'"):
        SGPTableClassifier(QUICK, words=["zap"]).fit(X, y)


def test_among_the_tools_of_scikit_learn(tmp_path, fitted):
    X, y = visits()
    scores = cross_val_score(SGPTableClassifier(QUICK), X, y, cv=3)
    assert scores.mean() > 0.7
    other = clone(SGPTableClassifier(LogisticRegression())).fit(X, y)
    assert other.score(X, y) > 0.7
    assert SGPTableClassifier(QUICK).set_params(classifier__max_basis=3).classifier.max_basis == 3
    joblib.dump(fitted, tmp_path / "m.joblib")
    for again in (pickle.loads(pickle.dumps(fitted)), joblib.load(tmp_path / "m.joblib")):
        np.testing.assert_array_equal(again.predict_proba(X), fitted.predict_proba(X))
