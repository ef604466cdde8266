"""What a server says of itself: OpenAPI for programs, a page for people, health."""

from __future__ import annotations

import json
import re
from html import unescape

import attrs
import pytest

from sgpc_framework.serving.openapi import REFUSALS

ROW = {"age": 31, "zone": "2", "purpose": "car", "income": 20.5}


@pytest.fixture(params=["loans", "strict", "three"])
def served(request, client):
    return client(request.getfixturevalue(request.param))


class TestOpenAPI:
    def test_its_example_is_answered_with_its_answer(self, served):
        document = served.get("/openapi.json").json
        operation = document["paths"]["/predict"]["post"]
        example = operation["requestBody"]["content"]["application/json"]["example"]
        answer = operation["responses"]["200"]["content"]["application/json"]["example"]
        assert served.post(json.dumps(example).encode()).json == answer

    def test_every_reference_leads_somewhere(self, served):
        document = served.get("/openapi.json").json
        named = re.findall(r'"#/components/schemas/(\w+)"', json.dumps(document))
        assert set(named) == set(document["components"]["schemas"])

    def test_a_date_is_a_text(self, client, strict):
        asked = client(strict)
        schemas = asked.get("/openapi.json").json["components"]["schemas"]
        forms = [each["format"] for each in schemas["Row"]["properties"]["day"]["anyOf"]]
        assert forms == ["date", "date-time"]
        assert "<td>date or date-time<td>" in asked.get("/docs").text
        rows = [{"age": 50, "colour": "red", "day": "2026-02-28T18:30:00Z"}]
        assert asked.predict(rows).status == 200
        assert asked.predict([{**rows[0], "day": "2026-02-30"}]).status == 422

    def test_columns_and_classes_are_those_of_the_model(self, client, loans):
        schemas = client(loans).get("/openapi.json").json["components"]["schemas"]
        assert schemas["Row"]["required"] == ["age", "zone", "purpose", "income"]
        assert schemas["Row"]["properties"]["zone"] == {"enum": ["1", "2", "3", 1, 2, 3, None]}
        assert schemas["Row"]["properties"]["age"]["type"] == ["number", "null"]
        assert schemas["Prediction"]["properties"]["labels"]["items"] == {"enum": ["no", "yes"]}

    def test_all_statuses_are_described(self, served):
        document = served.get("/openapi.json").json
        responses = document["paths"]["/predict"]["post"]["responses"]
        assert set(responses) == {"200", *map(str, REFUSALS)}


class TestPage:
    def test_it_has_the_example_and_the_columns(self, client, loans):
        page = unescape(client(loans).get("/docs").text)
        for text in ("Predictions by m.sgpc", '"purpose": "car"', "number or null", '"trip"'):
            assert text in page

    def test_it_needs_nobody_else(self, served):
        answer = served.get("/")
        assert answer.headers["content-type"].startswith("text/html")
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert not re.findall(r'(?:src|href)="(?:https?:)?//', answer.text)

    def test_names_of_columns_are_no_html(self, client, strict):
        column = attrs.evolve(strict.encoding.columns[0], name="<script>alert('age')</script>")
        columns = (column, *strict.encoding.columns[1:])
        encoding = attrs.evolve(strict.encoding, columns=columns)
        page = client(attrs.evolve(strict, encoding=encoding)).get("/docs").text
        assert page.count("<script>") == 1  # its own
        assert "alert(" in page


def test_health(client, loans):
    report = client(loans).get("/health").json
    assert report["status"] == "ok"
    assert report["model"] == "m.sgpc"
    assert report["basis_vectors"] == len(loans)
    assert report["classes"] == ["no", "yes"]


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", "/predict", 405), ("POST", "/health", 405), ("GET", "/x", 404)],
)
def test_other_paths_and_methods_are_told_what_there_is(served, method, path, status):
    answer = served.get(path, method)
    assert answer.status == status
    assert "POST /predict" in answer.json["problems"][0]["wanted"]
