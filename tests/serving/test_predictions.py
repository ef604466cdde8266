"""What is answered to a request: the model's own numbers, or every problem with its place."""

from __future__ import annotations

import json

import attrs
import numpy as np
import pytest

import sgpc_framework as sgpc
from sgpc_framework.errors import InputError
from sgpc_framework.serving.application import application
from sgpc_framework.serving.refusals import SHOWN
from sgpc_framework.serving.request_limits import Limits
from sgpc_framework.tables import TableClassifier

ROW = {"age": 31, "zone": "2", "purpose": "car", "income": 20.5}


def problems(answer):
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json["status"] == answer.status
    return {problem["where"]: problem for problem in answer.json["problems"]}


class TestPredictions:
    def test_a_row_has_the_numbers_of_the_model(self, client, loans):
        answer = client(loans).predict([ROW])
        assert answer.status == 200
        assert answer.json["classes"] == ["no", "yes"]
        assert answer.json["labels"] == loans.predict(ROW).tolist()
        expected = loans.predict_proba(ROW)
        np.testing.assert_allclose(answer.json["probabilities"], expected, rtol=1e-9)

    def test_so_have_many(self, client, loans):
        rows = [{**ROW, "age": age, "purpose": p} for age in range(20, 60) for p in ("car", "trip")]
        answer = client(loans).predict(rows).json
        np.testing.assert_allclose(answer["probabilities"], loans.predict_proba(rows), rtol=1e-12)
        assert answer["labels"] == loans.predict(rows).tolist()

    def test_null_is_filled_in_where_the_model_does_so(self, client, loans):
        answer = client(loans).predict([{**ROW, "income": None, "purpose": None}])
        expected = loans.predict_proba([{**ROW, "income": None, "purpose": None}])
        np.testing.assert_allclose(answer.json["probabilities"], expected, rtol=1e-12)

    def test_words_that_look_like_numbers_may_be_sent_as_such(self, client, loans):
        asked = client(loans)
        answers = [asked.predict([{**ROW, "zone": zone}]).text for zone in ("2", 2, 2.0)]
        assert len(set(answers)) == 1

    def test_unseen_words_count_as_none_if_the_model_says_so(self, client, loans):
        open_minded = attrs.evolve(loans, encoding=attrs.evolve(loans.encoding, unseen="zero"))
        row = {**ROW, "purpose": "boat", "zone": 10**400}
        answer = client(open_minded).predict([row])
        expected = open_minded.predict_proba({**ROW, "purpose": "boat", "zone": "none"})
        np.testing.assert_allclose(answer.json["probabilities"], expected, rtol=1e-9)
        assert client(open_minded).predict([{**ROW, "purpose": []}]).status == 422

    def test_truth_values_are_the_words_they_were_in_training(self, client):
        rng = np.random.default_rng(0)
        flags = rng.choice([True, False], 60)
        table = {"flag": flags, "x": rng.normal(size=60), "y": np.where(flags, "a", "b")}
        model = TableClassifier.fit(table, "y", sgpc.build("paper", max_basis=4, max_iterations=1))
        asked = client(model)
        assert asked.predict([{"flag": True, "x": 0}, {"flag": False, "x": 0}]).json["labels"] == [
            "a",
            "b",
        ]
        assert asked.predict([{"flag": 1, "x": 0}]).status == 422

    def test_columns_beyond_those_of_the_model_do_not_matter(self, client, loans):
        asked = client(loans)
        assert asked.predict([{**ROW, "id": [1]}]).text == asked.predict([ROW]).text

    def test_labels_are_decided_by_the_costs(self, client, three):
        answer = client(three).predict([[0.0, 0.0], [-2.0, 0.0]])
        assert answer.json["labels"] == three.predict([[0.0, 0.0], [-2.0, 0.0]]).tolist()
        assert answer.json["labels"][0] == 2
        assert np.argmax(answer.json["probabilities"][0]) != 2

    def test_a_model_of_objects_is_refused(self, loans):
        class Same:
            """A kernel of words: 1 where they are equal."""

            name = "same"

            def __call__(self, A, B):
                return (np.asarray(A)[:, None] == np.asarray(B)[None, :]).astype(float)

            def diag(self, A):
                return np.ones(len(A))

        words = np.array(["a", "b"] * 10, dtype=object)
        design = sgpc.build("paper", kernel=Same(), max_basis=2, max_iterations=1, objective="none")
        with pytest.raises(InputError, match="JSON cannot carry"):
            application(design.fit(words, [0, 1] * 10))


class TestRefusals:
    def test_every_problem_is_told_with_its_place(self, client, loans):
        rows = [ROW, {**ROW, "age": "old", "purpose": "boat"}, {"age": 3, "zone": 9}, 7]
        answer = client(loans).predict(rows)
        assert answer.status == 422
        found = problems(answer)
        assert set(found) == {
            "/rows/1/age",
            "/rows/1/purpose",
            "/rows/2/zone",
            "/rows/2/purpose",
            "/rows/2/income",
            "/rows/3",
        }
        assert found["/rows/1/purpose"] == {
            "where": "/rows/1/purpose",
            "wanted": 'one of "car", "house", "trip", or null',
            "found": '"boat"',
        }
        assert found["/rows/2/income"]["found"] == "no such column"
        assert answer.json["problem_count"] == 6

    def test_of_many_problems_some_are_told_and_all_counted(self, client, loans):
        answer = client(loans).predict([{}] * 100)
        assert len(answer.json["problems"]) == SHOWN
        assert answer.json["problem_count"] == 400

    def test_a_missing_value_is_a_problem_if_none_was_filled_in(self, client, strict):
        answer = client(strict).predict([{"age": None, "colour": None, "day": None}])
        assert set(problems(answer)) == {"/rows/0/age", "/rows/0/colour", "/rows/0/day"}

    @pytest.mark.parametrize("age", [1e60, -1e60, 10**400, True, [], {}, "31"])
    def test_what_is_no_usual_number(self, client, loans, age):
        assert set(problems(client(loans).predict([{**ROW, "age": age}]))) == {"/rows/0/age"}

    def test_all_numbers_that_are_promised_are_predicted(self, client, loans, three):
        for asked, row in [(client(loans), ROW), (client(three), [0.0, 0.0])]:
            schema = asked.app.openapi()["components"]["schemas"]["Row"]
            bounds = schema["items"] if isinstance(row, list) else schema["properties"]["age"]
            for bound in (bounds["minimum"], bounds["maximum"]):
                far = [bound, 0.0] if isinstance(row, list) else {**row, "age": bound}
                assert asked.predict([far]).status == 200
                far = [2 * bound, 0.0] if isinstance(row, list) else {**row, "age": 2 * bound}
                assert asked.predict([far]).status == 422

    @pytest.mark.parametrize(
        "body",
        [
            b"",
            b"{",
            b'{"rows": [NaN]}',
            b"\xff",
            b"[" * 100_000,
            b'{"rows": [' + b"9" * 5000 + b"]}",
        ],
        ids=["empty", "cut off", "NaN", "no UTF-8", "deep", "digits"],
    )
    def test_what_is_no_json(self, client, loans, body):
        answer = client(loans).post(body)
        assert answer.status == 400
        assert problems(answer)

    @pytest.mark.parametrize(
        "document",
        [3, [], {}, {"rows": 3}, {"rows": []}, {"rows": [ROW], "row": 1}, {"rows": [ROW] * 6}],
    )
    def test_what_is_no_list_of_rows(self, client, loans, document):
        answer = client(loans, Limits(rows=5)).post(json.dumps(document).encode())
        assert answer.status == 422
        assert len(problems(answer)) == 1

    @pytest.mark.parametrize("row", [[1.0], [1.0, 2.0, 3.0], {"0": 1.0, "1": 2.0}, [1.0, None]])
    def test_rows_of_an_array_model(self, client, three, row):
        assert client(three).predict([row]).status == 422

    def test_what_was_sent_is_repeated_only_in_part(self, client, loans):
        answer = client(loans).predict([{**ROW, "age": "é" * 10_000}])
        assert len(answer.text) < 1000

    def test_other_types_of_bodies(self, client, loans):
        asked = client(loans)
        assert asked.predict([ROW], kind="application/json; charset=utf-8").status == 200
        assert asked.predict([ROW], kind="text/plain").status == 415


def test_a_model_that_fails_is_told_to_the_log_and_not_outside(client, loans, capsys, monkeypatch):
    asked = client(loans)

    def fail(self, data):
        raise ZeroDivisionError("a secret")

    monkeypatch.setattr(type(loans), "predict_log_proba", fail)
    answer = asked.predict([ROW])
    assert answer.status == 500
    assert "secret" not in answer.text
    assert "a secret" in capsys.readouterr().err
