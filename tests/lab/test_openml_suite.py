"""The suite ``openml:ID``, against a server of this machine that speaks OpenML's answers."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import numpy as np
import pytest

from sgpc_framework import lab
from sgpc_framework.datasets.openml import fetch_table
from sgpc_framework.errors import InputError
from sgpc_framework.lab import suites


def _arff() -> bytes:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 2))
    lines = ["@relation t", "@attribute width real", "@attribute 'its length' real"]
    lines += ["@attribute colour {red, blue}", "@attribute Class {yes, no}", "@data"]
    for number, (first, second) in enumerate(X):
        width = "?" if number == 7 else f"{first:.4f}"
        colour, label = "red" if second > 0 else "blue", "yes" if first > 0 else "no"
        lines.append(f"{width}, {second:.4f}, {colour}, {label}")
    return "\n".join(lines).encode()


class _Answers(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        content = _arff()
        place = f"http://127.0.0.1:{self.server.server_address[1]}/data/t.arff"
        digests = {"31": hashlib.md5(content).hexdigest(), "32": "0" * 32}
        number = self.path.rpartition("/")[2]
        if self.path == "/data/t.arff":
            answer = content
        elif number in digests:
            about = {"url": place, "md5_checksum": digests[number]}
            about["default_target_attribute"] = "class"
            answer = json.dumps({"data_set_description": about}).encode()
        else:
            self.send_error(412, "Unknown dataset")
            return
        self.send_response(200)
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def openml(monkeypatch) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Answers)
    Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_address[1]}"
    monkeypatch.setattr(suites, "fetch_table", partial(fetch_table, server=address))
    yield address
    server.shutdown()
    server.server_close()


def test_a_set_is_fetched_once_and_compared_on(openml, tmp_path, monkeypatch):
    settings = {"sizes": [3], "partitions": 2, "iterations": 1, "downloads": tmp_path / "data"}
    plan = lab.Plan.of(["entropy", "pool"], "openml:31", **settings)
    report = lab.run_plan(plan, tmp_path, workers=1)
    assert report.findings.outcomes.sets == ("openml-31",)
    assert not report.findings.problems
    data = plan.sources[0].partition(0)
    assert data.X.shape == (42, 4)  # a question mark is a missing number, and no word
    monkeypatch.setattr(suites, "fetch_table", None)  # from now on nobody asks the server
    assert lab.Plan.of(["entropy", "pool"], "openml:31", **settings).sources == plan.sources


@pytest.mark.parametrize(
    ("number", "message"),
    [
        ("32", "wanted a file with the MD5 0000"),
        ("33", "the server answered 412 Unknown dataset; is there a data set"),
        ("x", "wanted numbers of data sets behind openml:, found 'x'"),
    ],
)
def test_what_cannot_be_had_is_said(openml, tmp_path, number, message):
    with pytest.raises(InputError, match=message):
        suites.sources_of([f"openml:{number}"], downloads=tmp_path)
    assert not list(tmp_path.iterdir())


def test_without_a_network(tmp_path, monkeypatch):
    nobody = partial(fetch_table, server="http://127.0.0.1:9")
    monkeypatch.setattr(suites, "fetch_table", nobody)
    with pytest.raises(InputError, match=r"is there a network\?"):
        suites.sources_of(["openml:31"], downloads=tmp_path)
