"""What one client may ask, and what is counted."""

from __future__ import annotations

import asyncio
import json
import time

import pytest
from prometheus_client.parser import text_string_to_metric_families

from sgpc_framework.serving.request_limits import Limits

BODY = json.dumps({"rows": [[0.5, 0.5]]}).encode()
JSON = [("content-type", "application/json")]


def figures(client):
    """The samples of ``/metrics`` by name and labels."""
    answer = client.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    families = text_string_to_metric_families(answer.text)
    samples = [sample for family in families for sample in family.samples]
    return {(s.name, *s.labels.values()): s.value for s in samples}


@pytest.fixture
def slow(three, monkeypatch):
    """The model of three classes, for whom a prediction takes a quarter of a second."""
    quick = type(three).predict_log_proba

    def slowly(self, X):
        time.sleep(0.25)
        return quick(self, X)

    def prepare():
        monkeypatch.setattr(type(three), "predict_log_proba", slowly)
        return three

    return prepare


class TestBodies:
    def test_one_that_says_it_is_too_large_is_not_read(self, client, three):
        headers = [*JSON, ("content-length", "1001")]
        asked = client(three, Limits(body_bytes=1000))
        unread = asked.send("POST", "/predict", [], headers)  # to receive it would raise
        assert asyncio.run(unread).status == 413

    def test_one_that_turns_out_to_be_too_large(self, client, three):
        asked = client(three, Limits(body_bytes=1000))
        pieces = [b" " * 600, b" " * 600, b" " * 600]
        assert asyncio.run(asked.send("POST", "/predict", pieces, JSON)).status == 413

    def test_pieces_are_put_together(self, client, three):
        asked = client(three)
        answer = asyncio.run(asked.send("POST", "/predict", [BODY[:9], b"", BODY[9:]], JSON))
        assert answer.text == asked.post(BODY).text

    def test_one_that_is_packed(self, client, three):
        headers = [*JSON, ("content-encoding", "gzip")]
        assert asyncio.run(client(three).send("POST", "/predict", [BODY], headers)).status == 415

    def test_one_that_takes_too_long(self, client, three):
        asked = client(three, Limits(seconds=0.05))
        pieces = [b" "] * 1000
        answer = asyncio.run(asked.send("POST", "/predict", pieces, JSON, pause=0.02))
        assert answer.status == 408
        assert figures(asked)["sgpc_open_requests",] == 0

    def test_a_client_that_leaves_is_counted_without_a_word(self, client, three, capsys):
        asked = client(three, Limits(requests=1))
        for _ in range(3):
            asyncio.run(asked.send("POST", "/predict", [b"{", None], JSON))
        assert capsys.readouterr().err == ""
        assert figures(asked)["sgpc_requests_total", "/predict", "400"] == 3
        assert asked.post(BODY).status == 200


class TestManyAtATime:
    def test_more_than_the_limit_are_told_to_come_again(self, client, slow, three):
        asked = client(three, Limits(requests=2))
        slow()

        async def all_at_once():
            sent = [asked.send("POST", "/predict", [BODY], JSON) for _ in range(5)]
            busy = asyncio.gather(*sent)
            await asyncio.sleep(0.1)
            health = await asked.send("GET", "/health")
            return await busy, health

        answers, health = asyncio.run(all_at_once())
        assert sorted(answer.status for answer in answers) == [200, 200, 503, 503, 503]
        assert {a.headers["retry-after"] for a in answers if a.status == 503} == {"1"}
        assert health.status == 200
        assert asked.post(BODY).status == 200

    def test_what_takes_too_long_gives_up_its_place(self, client, slow, three):
        asked = client(three, Limits(requests=1, seconds=0.05))
        slow()
        answer = asked.post(BODY)
        assert answer.status == 503
        assert "took too long" in answer.json["detail"]
        assert figures(asked)["sgpc_open_requests",] == 0


class TestFigures:
    def test_requests_rows_labels_and_seconds_are_counted(self, client, three):
        asked = client(three)
        assert figures(asked)["sgpc_predicted_total", "2"] == 0
        answer = asked.predict([[0.0, 0.0], [-2.0, 0.0]])
        asked.predict([[0.0]])
        asked.get("/anything")
        found = figures(asked)
        assert found["sgpc_requests_total", "/predict", "200"] == 1
        assert found["sgpc_requests_total", "/predict", "422"] == 1
        assert found["sgpc_requests_total", "other", "404"] == 1
        assert found["sgpc_rows_total",] == 2
        for label in answer.json["labels"]:
            assert found["sgpc_predicted_total", str(label)] == answer.json["labels"].count(label)
        assert found["sgpc_predict_seconds_count",] == 2
        assert 0 < found["sgpc_predict_seconds_sum",] < 10

    def test_two_servers_count_for_themselves(self, client, three):
        one, other = client(three), client(three)
        one.post(BODY)
        assert figures(one)["sgpc_rows_total",] == 1
        assert figures(other)["sgpc_rows_total",] == 0


@pytest.mark.parametrize("limit", ["rows", "body_bytes", "requests", "seconds"])
@pytest.mark.parametrize("value", [0, -1, float("nan")])
def test_limits_are_above_zero(limit, value):
    with pytest.raises(ValueError, match=f"{limit}: wanted a number above zero"):
        Limits(**{limit: value})
