"""Fetching from OpenML, against a server on this machine that answers as OpenML does."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
from click.testing import CliRunner

from sgpc_framework.cli import main
from sgpc_framework.datasets import BENCHMARKS, benchmark, fetch, openml, ringnorm
from sgpc_framework.errors import InputError


class OpenML:
    """What the server has, by path."""

    def __init__(self) -> None:
        self.pages: dict[str, bytes] = {}
        self.address = ""

    def offer(self, number: int, target: str, arff: str, **changes: object) -> None:
        content = arff.encode()
        description = {
            "id": str(number),
            "format": "ARFF",
            "url": f"{self.address}/data/v1/download/{number}/set.arff",
            "default_target_attribute": target,
            "md5_checksum": hashlib.md5(content).hexdigest(),
            **changes,
        }
        self.pages[f"/data/v1/download/{number}/set.arff"] = content
        page = json.dumps({"data_set_description": description})
        self.pages[f"/api/v1/json/data/{number}"] = page.encode()


@pytest.fixture
def server() -> Iterator[OpenML]:
    offered = OpenML()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            page = offered.pages.get(self.path)
            self.send_response(200 if page is not None else 412)
            self.end_headers()
            self.wfile.write(page or b"{}")

        def log_message(self, *_: object) -> None:
            """Be quiet."""

    running = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    offered.address = f"http://127.0.0.1:{running.server_port}"
    thread = threading.Thread(target=running.serve_forever)
    thread.start()
    yield offered
    running.shutdown()
    thread.join()
    running.server_close()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("SGPC_DATA_DIR", str(tmp_path))
    return tmp_path


def arff(names: list[str], rows: list[list[object]], kind: str = "NUMERIC") -> str:
    head = [
        "% a comment",
        "@RELATION made-up",
        *(f"@ATTRIBUTE '{name}' {kind}" for name in names[:-1]),
    ]
    body = [",".join(map(str, row)) for row in rows]
    return "\n".join([*head, f"@attribute {names[-1]} {{a,b}}", "", "@DATA", *body, "% end", ""])


def numeric(name: str, X: np.ndarray, labels: list[object]) -> str:
    names = [f"V{i + 1}" for i in range(X.shape[1])]
    return arff([*names, "Class"], [[*x, label] for x, label in zip(X, labels, strict=True)])


def banana(positive: int = 2376) -> str:
    X = np.random.default_rng(0).normal(3.0, 2.0, size=(5300, 2)).round(3)
    return numeric("banana", X, [2] * positive + [1] * (5300 - positive))


def test_a_fetched_set_is_standardised_and_found(server, folder):
    server.offer(1460, "Class", banana())
    assert fetch("banana", server=server.address) == folder / "banana.npz"
    data = benchmark("banana", 4)
    assert data.source == "random partition 4"
    X, y = np.vstack([data.X, data.X_test]), np.concatenate([data.y, data.y_test])
    np.testing.assert_allclose(X.mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(X.std(axis=0, ddof=1), 1.0)
    assert np.sum(y > 0) == 2376
    assert [path.name for path in folder.iterdir()] == ["banana.npz"]


def test_image_loses_its_constant_column_and_gets_two_classes(server, tmp_path):
    kinds = ["brickface", "sky", "foliage", "cement", "window", "path", "grass"]
    labels = np.repeat(kinds, 330)
    X = np.random.default_rng(1).normal(size=(2310, 19)).round(4)
    X[:, 2] = 9.0
    server.offer(36, "class", numeric("segment", X, labels.tolist()))
    path = fetch("image", tmp_path, server.address)
    with np.load(path) as arrays:
        assert arrays["X"].shape == (2310, 18)
        positive = {*labels[arrays["y"] > 0]}
    assert positive == {"brickface", "sky", "foliage", "path"}


def test_splice_is_coded_and_its_uncertain_sequences_left_out(server, tmp_path):
    rng = np.random.default_rng(2)
    letters = rng.choice([*"ACGT"], size=(3190, 60))
    letters[:15, 7] = "D"
    labels = ["EI"] * 15 + ["N"] * 1648 + ["EI"] * 760 + ["IE"] * 767
    names = ["Instance_name", *(f"attribute_{i}" for i in range(60)), "Class"]
    rows = [
        [f"'NAME-{i}, x'", *line, label]
        for i, (line, label) in enumerate(zip(letters, labels, strict=True))
    ]
    server.offer(46, "Class", arff(names, rows, "{A,C,G,T,D,N,S,R}"))
    path = fetch("splice", tmp_path, server.address)
    with np.load(path) as arrays:
        X, y = arrays["X"], arrays["y"]
    assert X.shape == (3175, 60)
    np.testing.assert_array_equal(X[0] == 2.0, letters[15] == "G")
    np.testing.assert_array_equal(X[-1] == 4.0, letters[-1] == "T")
    assert {*X.ravel()} == {1.0, 2.0, 3.0, 4.0}
    assert y[:1648].tolist() == [1] * 1648


class TestRingnorm:
    @staticmethod
    def rows() -> tuple[np.ndarray, np.ndarray]:
        facts = BENCHMARKS["ringnorm"]
        X, y = ringnorm(3 * facts.rows, seed=5)
        keep = np.concatenate(
            [np.flatnonzero(y > 0)[: facts.positive], np.flatnonzero(y < 0)[: facts.negative]]
        )
        return X[keep], np.where(y[keep] > 0, 2, 1)

    def test_whole_thousandths_will_do(self, server, tmp_path):
        X, labels = self.rows()
        server.offer(1496, "Class", numeric("ringnorm", (1000 * X).round(), labels.tolist()))
        with np.load(fetch("ringnorm", tmp_path, server.address)) as arrays:
            np.testing.assert_allclose(arrays["X"].std(axis=0, ddof=1), 1.0)

    def test_lost_decimal_points_are_noticed(self, server, tmp_path):
        X, labels = self.rows()
        lost = np.array([[float(f"{x:.3f}".rstrip("0").replace(".", "")) for x in r] for r in X])
        server.offer(1496, "Class", numeric("ringnorm", lost, labels.tolist()))
        with pytest.raises(InputError, match="generate the set instead"):
            fetch("ringnorm", tmp_path, server.address)


@pytest.mark.parametrize(
    ("arguments", "changes", "text"),
    [
        ({}, {"md5_checksum": "0" * 32}, "wanted a file with the MD5 0000"),
        ({}, {"url": "file:///etc/hostname"}, "wanted an address of the web, found 'file:"),
        ({}, {"url": None}, "wanted an address of the web, found None"),
        ({}, {"default_target_attribute": "price"}, "column 'price', found columns V1, V2, Class"),
        ({"positive": 2000}, {}, "wanted 2376 labels .1 and 2924 labels -1, found 0 and 5300"),
    ],
)
def test_what_is_not_the_set_is_refused(arguments, changes, text, server, tmp_path):
    server.offer(1460, "Class", banana(**arguments), **changes)
    with pytest.raises(InputError, match=text):
        fetch("banana", tmp_path, server.address)
    assert not [*tmp_path.iterdir()]


def test_another_size_is_refused(server, tmp_path):
    server.offer(1460, "Class", numeric("banana", np.eye(3), [1, 2, 2]))
    with pytest.raises(InputError, match=r"shapes \(5300, 2\).*found \(3, 3\)"):
        fetch("banana", tmp_path, server.address)


def test_no_more_is_read_than_a_set_can_have(server, tmp_path, monkeypatch):
    monkeypatch.setattr(openml, "MOST_BYTES", 1000)
    server.offer(1460, "Class", banana())
    with pytest.raises(InputError, match="at most 1000 bytes"):
        fetch("banana", tmp_path, server.address)


def test_an_unknown_number_is_said(server, tmp_path):
    with pytest.raises(InputError, match=r"data/1460: the server answered 412"):
        fetch("banana", tmp_path, server.address)


@pytest.mark.parametrize("page", [b"[]", b"no JSON", b'{"data_set_description": {}}'])
def test_a_page_that_is_no_description_is_said(page, server, tmp_path):
    server.pages["/api/v1/json/data/1460"] = page
    with pytest.raises(InputError, match="wanted the description of a data set"):
        fetch("banana", tmp_path, server.address)


def test_without_a_network_it_says_so(tmp_path):
    with pytest.raises(InputError, match=r"could not be fetched: .*is there a network"):
        fetch("banana", tmp_path, "http://127.0.0.1:9")


def test_waveform_is_not_there(tmp_path):
    with pytest.raises(InputError, match="'waveform': OpenML does not have that one"):
        fetch("waveform", tmp_path)


def test_it_wants_a_folder(monkeypatch, tmp_path):
    monkeypatch.delenv("SGPC_DATA_DIR", raising=False)
    with pytest.raises(InputError, match="let SGPC_DATA_DIR name it"):
        fetch("banana")
    with pytest.raises(InputError, match="wanted a folder"):
        fetch("banana", tmp_path / "nowhere")


class TestCommand:
    def test_it_fetches_and_writes(self, server, folder, monkeypatch):
        monkeypatch.setattr(openml.fetch, "__defaults__", (None, server.address))
        server.offer(1460, "Class", banana())
        ran = CliRunner().invoke(main, ["datasets", "banana", "--fetch", "--rows=3"])
        assert ran.exit_code == 0, ran.output
        assert f"wrote {folder / 'banana.npz'}" in ran.stderr
        assert len(ran.stdout.splitlines()) == 4

    def test_it_wants_a_name(self):
        ran = CliRunner().invoke(main, ["datasets", "--fetch"])
        assert ran.exit_code == 2
        assert "wants the NAME of a set" in ran.output


def test_any_set_becomes_a_table_with_its_target_last(server, tmp_path):
    X = np.random.default_rng(0).normal(size=(12, 2))
    server.offer(31, "class", numeric("credit", X, ["good", "bad", "good"] * 4))
    path = openml.fetch_table(31, tmp_path / "new" / "openml-31.csv", server.address)
    lines = path.read_text().splitlines()
    assert lines[0] == "x1,x2,target"
    assert [line.split(",")[2] for line in lines[1:4]] == ["good", "bad", "good"]
    assert len(lines) == 13
