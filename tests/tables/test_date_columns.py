"""Dates in tables: features of the calendar, in files, in requests and in other languages."""

from __future__ import annotations

import shutil

import numpy as np
import pandas as pd
import pytest

import sgpc_framework as sgpc
from sgpc_framework.adapters.portable.exports import export
from sgpc_framework.serving.fields import fields_of
from sgpc_framework.tables import Encoding, TableClassifier, read_table
from sgpc_framework.tables.bad_rows import row_faults
from sgpc_framework.tables.data_frames import as_table
from sgpc_framework.tables.dates import calendar_columns, moments

DAYS = [str(day) for day in np.datetime64("2026-01-01") + np.arange(60)]


def churn(gaps=False):
    """Who came on a weekend stays; few dates, so that as words they would not be too many."""
    weekend = [(np.datetime64(day, "D").astype(int) + 3) % 7 >= 5 for day in DAYS]
    joined = [None if gaps and place % 9 == 0 else day for place, day in enumerate(DAYS)]
    return {"joined": joined, "x": np.arange(60.0) % 7, "stays": np.where(weekend, "yes", "no")}


def fitted(**more):
    design = sgpc.build("fast", max_basis=8)
    return TableClassifier.fit(churn(**more), "stays", design, impute=bool(more))


def test_texts_that_are_dates_become_features_of_the_calendar(tmp_path):
    pd.DataFrame(churn()).to_csv(tmp_path / "churn.csv", index=False)
    encoding = Encoding.learn(read_table(tmp_path / "churn.csv").without(["stays"]))
    assert encoding.features[:2] == ("joined.month", "joined.day")
    assert "joined.weekday=Sunday" in encoding.features
    assert not any("year" in each or "hour" in each for each in encoding.features)
    frame = pd.DataFrame(churn()).assign(joined=pd.to_datetime(DAYS))
    assert Encoding.learn(as_table(frame).without(["stays"])) == encoding
    asked = Encoding.learn(as_table(churn()).without(["stays"]), words=["joined"])
    assert "joined=2026-01-31" in asked.features


def test_one_date_alone_is_a_year():
    alone = Encoding.learn(as_table({"day": ["31.1.2026"] * 3, "x": [1.0, 2.0, 3.0]}))
    assert alone.features == ("day.year", "x")
    assert not alone.encode(as_table({"day": ["2026-03-01"], "x": [2.0]})).any()


def test_missing_dates_are_filled_in_and_flagged():
    encoding = fitted(gaps=True).encoding
    assert encoding.features[-2:] == ("joined is missing", "x")
    gone, there = encoding.encode(as_table({"joined": [None, "2026-01-31"], "x": [1.0, 1.0]}))
    assert (gone[-2], there[-2]) == (1.0, 0.0)
    assert np.isfinite(gone).all()


@pytest.mark.parametrize(
    ("joined", "problem"),
    [
        (["3/4/2026", "5/6/2026"] * 30, r"which is the day, and which the month\?.*--words"),
        (["soon", *DAYS[1:]], "row 1, column 'joined': wanted a date, as in most rows"),
    ],
)
def test_what_cannot_be_known_is_asked_for(joined, problem):
    with pytest.raises(sgpc.InputError, match=problem):
        Encoding.learn(as_table({"joined": joined, "x": np.arange(60.0)}))


def test_new_rows_are_held_to_it(tmp_path):
    classifier = fitted()
    classifier.save(tmp_path / "m.sgpc")
    again = sgpc.load(tmp_path / "m.sgpc")
    assert again.encoding == classifier.encoding
    rows = {"joined": ["2026-01-31", "2031-07-05T18:30:00+02:00", "later"], "x": [1.0, 2.0, 3.0]}
    with pytest.raises(sgpc.InputError, match="row 3, column 'joined': wanted a date such as"):
        again.predict(rows)
    assert list(row_faults(again.encoding, as_table(rows))) == [2]
    good = {name: values[:2] for name, values in rows.items()}
    assert again.predict(good).tolist() == ["yes", "yes"]
    one = again.explain({"joined": "2026-01-31", "x": 1.0})[0]
    assert one.values["joined.weekday"] == "Saturday"
    assert again.importance(churn())[0].column == "joined"


def test_a_request_has_dates_as_texts():
    strict, lenient = (fields_of(each.encoding)[0] for each in (fitted(), fitted(gaps=True)))
    assert strict.wanted("2026-01-31") is None
    assert strict.wanted("2026-02-30") == 'a date such as "2026-01-31"'
    assert strict.wanted(None) is not None
    assert lenient.wanted(None) is None
    assert {"type": "null"} in lenient.schema["anyOf"]


@pytest.mark.parametrize(
    ("to", "tool"), [("py", None), ("c", "cc"), ("js", "node"), ("onnx", None)]
)
def test_other_languages_know_the_calendar(to, tool, tmp_path):
    if tool and shutil.which(tool) is None:
        pytest.skip(f"there is no {tool}")
    if to == "onnx":
        pytest.importorskip("onnxruntime")
    for classifier in (fitted(), fitted(gaps=True)):
        done = export(classifier, tmp_path / f"m.{to}", rows=200)
        assert done.untried is None
        assert done.difference < 1e-9


def test_the_calendar_is_that_of_pandas():
    rng = np.random.default_rng(0)
    seconds = rng.integers(-(2**35), 2**35, 500).astype("datetime64[s]")
    texts = np.datetime_as_string(seconds).astype(object)
    dates, strange = moments(texts)
    assert strange is None
    assert np.array_equal(dates, seconds)
    said, when = calendar_columns(dates), pd.Series(seconds).dt
    for part in ("year", "month", "day"):
        assert np.array_equal(said[part], getattr(when, part))
    assert said["weekday"].tolist() == when.day_name().tolist()
