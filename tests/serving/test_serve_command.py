"""``sgpc serve`` as a process: it listens, answers, and ends what is open before it stops."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress

import pytest
from click.testing import CliRunner

from sgpc_framework.cli import main
from sgpc_framework.serving.server import address_of, is_local, listen

pytestmark = pytest.mark.skipif(os.name == "nt", reason="needs the signals of POSIX")

ROW = {"age": 31, "zone": "2", "purpose": "car", "income": 20.5}

SLOW = """
import time
from sgpc_framework.cli import main
from sgpc_framework.tables import TableClassifier

predict, calls = TableClassifier.predict_log_proba, []


def slowly(self, data):
    calls.append(1)
    if len(calls) > 1:  # the first is the example
        print("begun", flush=True)
        time.sleep(0.7)
    return predict(self, data)


TableClassifier.predict_log_proba = slowly
main()
"""


@pytest.fixture
def model_file(loans, tmp_path):
    loans.save(tmp_path / "loans.sgpc")
    return str(tmp_path / "loans.sgpc")


@pytest.fixture
def server(model_file):
    """``server(*options, program)`` starts one; the process and its port."""
    started = []

    def start(*options, program=("-m", "sgpc_framework")):
        command = [sys.executable, *program, "serve", model_file, "--port", "0", *options]
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        started.append(process)
        said = process.stderr.readline()
        return process, int(re.search(r"http://127\.0\.0\.1:(\d+)", said)[1])

    yield start
    for process in started:
        process.kill()
        process.communicate()


def post(port, rows=(ROW,)):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    headers = {"Content-Type": "application/json"}
    with closing(connection):
        connection.request("POST", "/predict", json.dumps({"rows": rows}), headers)
        return json.load(connection.getresponse())


def test_it_predicts_until_it_is_told_to_stop(server, loans):
    process, port = server()
    assert post(port)["labels"] == loans.predict(ROW).tolist()
    with socket.create_connection(("127.0.0.1", port)):  # somebody who says nothing
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=30)
    assert process.returncode == 0
    assert said == "Stopped.\n"


def test_sigterm_lets_open_requests_end(server, loans):
    process, port = server(program=("-c", SLOW))
    answers = []
    asking = threading.Thread(target=lambda: answers.append(post(port)))
    asking.start()
    assert process.stdout.readline() == "begun\n"
    process.terminate()
    asking.join(timeout=30)
    _, said = process.communicate(timeout=30)
    assert answers[0]["labels"] == loans.predict(ROW).tolist()
    assert process.returncode == 0
    assert said == "Stopped.\n"


def test_answers_are_sent_at_once():
    with listen("127.0.0.1", 0) as listening:
        assert listening.proto == socket.IPPROTO_TCP  # by which asyncio decides on TCP_NODELAY
        assert is_local(listening)
        assert address_of(listening).startswith("http://127.0.0.1:")


def test_a_port_that_is_taken(model_file):
    with listen("127.0.0.1", 0) as taken:
        port = str(taken.getsockname()[1])
        result = CliRunner().invoke(main, ["serve", model_file, "--port", port])
    assert result.exit_code == 1
    assert f"cannot listen at 127.0.0.1, port {port}" in result.output
    assert "--port 0" in result.output


def test_a_size_that_there_is_not(model_file):
    result = CliRunner().invoke(main, ["serve", model_file, "--size", "100"])
    assert result.exit_code == 1
    assert "found 100" in result.output


def test_words_for_a_model_of_arrays(three, tmp_path):
    three.save(tmp_path / "three.sgpc")
    result = CliRunner().invoke(main, ["serve", str(tmp_path / "three.sgpc"), "--unseen", "zero"])
    assert result.exit_code == 2
    assert "--unseen is for models of tables" in result.output


def test_without_the_extra_it_says_what_to_install(model_file, monkeypatch):
    for name in [n for n in sys.modules if n.startswith("sgpc_framework.serving")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "fastapi", None)
    result = CliRunner().invoke(main, ["serve", model_file])
    assert result.exit_code == 1
    assert "pip install 'sgpc-framework[serve]'" in result.output


DROPS = {
    "silence": [],
    "half a head": [b"GET /health HT"],
    "a head in drops": [b"G", b"E", b"T", b" ", b"/", b"h", b"e", b"a"],
    "a body that nobody wants": [
        b"GET /health HTTP/1.1\r\nHost: x\r\nContent-Length: 99\r\n\r\n",
        *[b"x"] * 8,
    ],
}


def test_connections_that_only_wait_are_closed(server):
    _, port = server("--timeout", "0.4")
    with ThreadPoolExecutor() as pool:
        kept = pool.submit(asked_in_time, port)
        lasted = dict(
            zip(DROPS, pool.map(lambda drops: open_for(port, drops), DROPS.values()), strict=True)
        )
    assert all(0.3 < seconds < 3 for seconds in lasted.values()), lasted
    assert kept.result()


def open_for(port, drops):
    """How many seconds a connection lasts that sends drops."""
    with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
        begin = time.monotonic()
        with suppress(ConnectionError):  # closed, with drops on their way
            for drop in drops:
                connection.sendall(drop)
                time.sleep(0.1)
            while connection.recv(4096):
                pass
        return time.monotonic() - begin


def asked_in_time(port):
    """Whether a connection stays that rests longer than a head may take, and then asks again."""
    with closing(http.client.HTTPConnection("127.0.0.1", port)) as connection:
        own = set()
        for pause in (0.6, 0.0):
            connection.request("GET", "/health")
            own.add(connection.sock)
            assert connection.getresponse().read()
            time.sleep(pause)
        return len(own) == 1
