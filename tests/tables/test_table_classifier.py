"""A classifier of tables: fit, predict, labels, sizes."""

from __future__ import annotations

import numpy as np
import pytest

import sgpc_framework as sgpc
from sgpc_framework import InputError
from sgpc_framework.files.model_files import save
from sgpc_framework.tables import TableClassifier, read_table
from sgpc_framework.tables.data_frames import as_table

SMALL = {"max_basis": 6, "max_iterations": 2}


def people(rows=60, seed=0, names=("no", "yes")):
    """Who is old and likes red says yes."""
    rng = np.random.default_rng(seed)
    age, colour = rng.uniform(20, 80, rows), rng.choice(["red", "blue"], rows)
    sure = (age > 50).astype(int) + (colour == "red") + rng.integers(0, 2, rows)
    return {"age": age, "colour": colour, "vote": np.array(names)[np.digitize(sure, [2])]}


@pytest.fixture(scope="module")
def voters():
    return TableClassifier.fit(people(), "vote", sgpc.build(SMALL))


def test_it_predicts_what_its_model_predicts_of_the_encoded_table(voters):
    new = people(seed=1)
    X = voters.encoding.encode(as_table({key: new[key] for key in ("age", "colour")}))
    assert np.array_equal(voters.predict_proba(new), voters.model.predict_proba(X))
    assert np.array_equal(voters.predict(new), voters.model.predict(X))
    assert np.allclose(np.exp(voters.predict_log_proba(new)), voters.predict_proba(new))
    assert np.mean(voters.predict(new) == new["vote"]) > 0.7
    assert voters.classes.tolist() == ["no", "yes"]
    assert "'vote' from 2 columns" in repr(voters)


def test_rows_and_frames_are_taken_too(voters):
    new = people(rows=5, seed=1)
    expected = voters.predict_proba(new)
    rows = [[a, str(c)] for a, c in zip(new["age"], new["colour"], strict=True)]
    assert np.array_equal(voters.predict_proba(rows), expected)
    named = [{"colour": str(c), "age": a} for a, c in rows]
    assert np.array_equal(voters.predict_proba(named), expected)
    for row, proba in zip(named, expected, strict=True):
        assert np.allclose(voters.predict_proba(row), proba, rtol=1e-9)
    pandas = pytest.importorskip("pandas")
    assert np.array_equal(voters.predict_proba(pandas.DataFrame(new)), expected)


def test_a_row_without_a_column_or_a_value_says_which(voters):
    with pytest.raises(InputError, match=r"the rows: wanted the 2 columns .* without 'colour'"):
        voters.predict_proba({"age": 30.0})
    with pytest.raises(InputError, match="the rows: row 2, column 'age': the value is missing"):
        voters.predict_proba([{"age": 30.0, "colour": "red"}, {"colour": "red"}])


def test_smaller_classifiers(voters):
    new = people(seed=1)
    staged = list(voters.staged_predict_proba(new))
    assert len(staged) == len(voters.sizes) == len(voters) == 6
    small = voters.truncated(3)
    assert len(small) == 3
    assert np.allclose(small.predict_proba(new), staged[2])


def test_weights_are_a_column_or_numbers():
    data = people()
    weights = np.where(data["colour"] == "red", 3.0, 0.5)
    weights[:5] = 0.0
    own = {**data, "count": weights}
    design = sgpc.build(SMALL)
    ours = TableClassifier.fit(own, "vote", design, sample_weight="count")
    theirs = TableClassifier.fit(data, "vote", design, sample_weight=weights)
    assert ours.encoding.names == ("age", "colour")
    assert np.array_equal(ours.predict_proba(own), theirs.predict_proba(data))
    assert ours.model.basis.min() >= 5
    plain = TableClassifier.fit(data, "vote", design)
    assert not np.array_equal(ours.predict_proba(own), plain.predict_proba(data))
    by_place = TableClassifier.fit(own, "vote", design, sample_weight=-1)
    assert np.array_equal(by_place.predict_proba(own), ours.predict_proba(own))


@pytest.mark.parametrize(
    ("weights", "text"),
    [
        ([1.0, 2.0, -1.0], r"row 3, column 'count': wanted a weight of at least 0, found -1;"),
        ([1.0, None, 1.0], r"row 2, column 'count': wanted a weight of at least 0, found none;"),
        (["1", "few", "1"], r"wanted numbers in column 'count'.*found '1', 'few', '1'"),
        ([0.0, 0.0, 0.0], "above zero somewhere"),
    ],
)
def test_improper_weights_are_told_with_their_place(weights, text):
    data = {"age": [1.0, 2.0, 3.0], "vote": ["no", "yes", "no"], "count": weights}
    with pytest.raises(InputError, match=text):
        TableClassifier.fit(data, "vote", sgpc.build(SMALL), sample_weight="count")


def test_labels_are_no_weights():
    data = {"age": [1.0, 2.0, 3.0], "vote": [1, 2, 1]}
    with pytest.raises(InputError, match="in two columns, found both in 'vote'"):
        TableClassifier.fit(data, "vote", sgpc.build(SMALL), sample_weight="vote")


def test_three_classes():
    data = people(rows=90)
    data["vote"] = np.where(data["age"] > 65, "maybe", data["vote"])
    classifier = TableClassifier.fit(data, "vote", sgpc.build(SMALL))
    assert classifier.classes.tolist() == ["maybe", "no", "yes"]
    assert classifier.predict_proba(data).shape == (90, 3)
    assert np.mean(classifier.predict(data) == data["vote"]) > 0.6


@pytest.mark.parametrize(
    ("labels", "kind"),
    [([1.0, -1.0], "i"), ([0.5, 1.0], "f"), (["1", "x"], "U"), ([True, False], "U")],
)
def test_labels_come_back_as_they_were(labels, kind):
    data = people(names=labels)
    data["vote"] = data["vote"].tolist()
    classifier = TableClassifier.fit(data, "vote", sgpc.build(SMALL))
    assert classifier.classes.dtype.kind == kind
    assert (
        np.array_equal(
            classifier.labels(data).astype(str), as_table(data).column("vote").as_words()
        )
        or kind == "f"
    )
    assert set(classifier.predict(data)) <= set(classifier.classes)
    # A table with one class only still has labels of the model's type.
    one = {
        key: np.array(column)[np.array(data["vote"]) == labels[-1]] for key, column in data.items()
    }
    assert set(classifier.labels(one)) == {classifier.classes.dtype.type(labels[-1])}


def test_labels_that_the_model_does_not_know(voters):
    with pytest.raises(InputError, match=r"row 2, column 'vote'.*\(no, yes\), found perhaps"):
        voters.labels({"vote": ["no", "perhaps"]})
    with pytest.raises(InputError, match="row 1, column 'vote': the label is missing"):
        voters.labels({"vote": [None, "no"]})


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("vot", "did you mean 'vote'"),
        ("age", "60 different values"),
        ("same", "wanted two classes or more in column 'same', found 1 in all 60 rows"),
    ],
)
def test_a_target_that_cannot_be_one(target, message):
    data = {**people(), "same": [1] * 60}
    if target == "age":
        data = {**people(rows=150), "same": [1] * 150}
        message = "150 different values"
    with pytest.raises(InputError, match=message):
        TableClassifier.fit(data, target, sgpc.build(SMALL))


def test_labels_may_be_declared_words(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("x,code\n" + "1,01\n5,02\n" * 10)
    table = read_table(path, words=["code"])
    classifier = TableClassifier.fit(table, "code", sgpc.build(SMALL), words=["code"])
    assert classifier.classes.tolist() == ["01", "02"]
    with pytest.raises(InputError, match="no column 'colour'; choose from x, code"):
        TableClassifier.fit(table, "code", sgpc.build(SMALL), words=["colour"])


def test_columns_are_left_out_on_request(voters):
    data = {**people(), "name": [f"n{i}" for i in range(60)]}
    classifier = TableClassifier.fit(data, -2, sgpc.build(SMALL), drop=["name"])
    assert classifier.target == "vote"
    assert np.array_equal(classifier.predict_proba(data), voters.predict_proba(people()))
    with pytest.raises(InputError, match="a column besides the labels"):
        TableClassifier.fit(people(), "vote", drop=["age", "colour"])


def test_one_file_holds_encoding_and_model(voters, tmp_path):
    voters.save(tmp_path / "voters.sgpc")
    again = sgpc.load(tmp_path / "voters.sgpc")
    assert isinstance(again, TableClassifier)
    assert (again.encoding, again.target) == (voters.encoding, "vote")
    assert np.array_equal(again.predict_proba(people(seed=1)), voters.predict_proba(people(seed=1)))


@pytest.mark.parametrize(
    "change",
    [{"target": 3}, {"unseen": "maybe"}, {"columns": []}, {"columns": None}, {"columns": ["x"]}],
)
def test_a_file_with_a_section_that_is_not_sound(voters, tmp_path, change):
    section = {**voters.as_section(), **change}
    save(voters.model, tmp_path / "bad.sgpc", table=section)
    with pytest.raises(sgpc.ModelFileError, match=r"bad\.sgpc: this does not describe a table"):
        sgpc.load(tmp_path / "bad.sgpc")


def test_a_file_whose_model_has_other_features(voters, tmp_path):
    section = voters.as_section()
    save(voters.model, tmp_path / "bad.sgpc", table={**section, "columns": section["columns"][:1]})
    with pytest.raises(sgpc.ModelFileError, match="another number of features"):
        sgpc.load(tmp_path / "bad.sgpc")


def test_all_that_is_wrong_with_a_table_is_said_at_once():
    data = people()
    data["age"][3], data["colour"][4] = np.nan, ""
    data["vote"] = data["vote"].astype(object)
    data["vote"][5] = None
    colours = [None if colour == "" else str(colour) for colour in data["colour"]]
    table = {**data, "colour": colours, "name": [f"p{i}" for i in range(60)]}
    with pytest.raises(InputError) as found:
        TableClassifier.fit(table, "vote", sgpc.build(SMALL))
    text = str(found.value)
    assert text.startswith("the table: 4 problems:\n  - row 6, column 'vote': the label is missing")
    for place in (
        "row 4, column 'age'",
        "row 5, column 'colour'",
        "column 'name' has 60 different",
    ):
        assert f"\n  - {place}" in text
    assert len(found.value.problems) == 4


def test_all_that_is_wrong_with_new_rows_is_said_at_once(voters):
    with pytest.raises(InputError, match=r"2 problems:\n  - row 1, column 'age'.*\n  - row 1, col"):
        voters.predict({"age": "old", "colour": "green"})
