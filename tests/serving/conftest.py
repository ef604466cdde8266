"""Small models, and a client that needs no network: it calls the application as a server does."""

from __future__ import annotations

import asyncio
import json

import attrs
import numpy as np
import pytest

pytest.importorskip("fastapi", reason="serving needs the extra serve")

import sgpc_framework as sgpc
from sgpc_framework.serving.application import application
from sgpc_framework.tables import TableClassifier


@pytest.fixture(scope="session")
def loans():
    """A table of numbers with gaps, words, and words that look like numbers."""
    rng = np.random.default_rng(0)
    age, zone = rng.integers(18, 80, 120), rng.integers(1, 4, 120)
    purpose = rng.choice(["car", "house", "trip"], 120)
    income = np.where(np.arange(120) % 7 == 0, np.nan, rng.lognormal(3.0, 1.0, 120))
    good = np.where(age / 80 + (purpose == "car") + rng.normal(0, 0.3, 120) > 1, "yes", "no")
    table = {"age": age, "zone": zone, "purpose": purpose, "income": income, "good": good}
    return TableClassifier.fit(table, "good", quick(), words=["zone"], impute=True)


@pytest.fixture(scope="session")
def strict():
    """A table whose model fills in nothing."""
    rng = np.random.default_rng(0)
    days = np.datetime64("2026-01-01") + rng.integers(0, 400, 60)
    table = {"age": rng.normal(50, 9, 60), "colour": np.tile(["red", "blue"], 30), "day": days}
    return TableClassifier.fit({**table, "old": table["age"] > 50}, "old", quick())


@pytest.fixture(scope="session")
def three():
    """A model of arrays and three classes, numbers, of which missing one costs much."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 2))
    model = quick().fit(X, np.digitize(X[:, 0], [-0.5, 0.5]))
    return model.with_costs({2: 50})


def quick():
    return sgpc.build("paper", max_basis=6, max_iterations=1)


@attrs.frozen
class Answer:
    status: int
    headers: dict[str, str]
    text: str

    @property
    def json(self):
        return json.loads(self.text)


@attrs.define
class Client:
    """Calls an application, several requests at a time if they are awaited together."""

    app: object

    async def send(self, method, path, pieces=(b"",), headers=(), pause=0.0):
        """Ask with a body in pieces; None among them is a client that leaves."""
        coming, sent = iter(enumerate(pieces, start=1)), []

        async def receive():
            await asyncio.sleep(pause)
            place, piece = next(coming)
            if piece is None:
                return {"type": "http.disconnect"}
            return {"type": "http.request", "body": piece, "more_body": place < len(pieces)}

        async def send(message):
            sent.append(message)

        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "scheme": "http",
            "server": ("127.0.0.1", 8000),
            "client": ("127.0.0.1", 50000),
            "root_path": "",
            "query_string": b"",
            "method": method,
            "path": path,
            "raw_path": path.encode(),
            "headers": [(name.lower().encode(), value.encode()) for name, value in headers],
        }
        await self.app(scope, receive, send)
        head = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
        return Answer(sent[0]["status"], head, b"".join(m["body"] for m in sent[1:]).decode())

    def get(self, path, method="GET"):
        return asyncio.run(self.send(method, path))

    def post(self, body, kind="application/json", **more):
        return asyncio.run(self.send("POST", "/predict", [body], [("content-type", kind)], **more))

    def predict(self, rows, **more):
        return self.post(json.dumps({"rows": rows}).encode(), **more)


@pytest.fixture(scope="session")
def client():
    """``client(classifier, limits)`` asks an application that serves it."""
    return lambda classifier, limits=None: Client(application(classifier, limits, "m.sgpc"))
