"""Ctrl-C and SIGTERM: once for the best model so far, twice to give up."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import numpy as np
import pytest

import sgpc_framework
from sgpc_framework.cli import INTERRUPTED
from sgpc_framework.datasets import twonorm

pytestmark = pytest.mark.skipif(os.name == "nt", reason="needs the signals of POSIX")

SLOW = """
import time
from sgpc_framework.engine import stages
from sgpc_framework.cli import main

record = stages._record


def slowly(posterior, included):
    if posterior.size == 4:
        print("stage 4", flush=True)
    if posterior.size >= 4:
        time.sleep({pause})
    return record(posterior, included)


stages._record = slowly
main()
"""


@pytest.fixture
def fitting(tmp_path):
    """``fitting(pause)``: ``sgpc fit`` in a process of its own, which has come to stage 4."""
    started = []

    def start(pause, classes=2):
        X, y = twonorm(200)
        y = y if classes == 2 else np.arange(200) % classes
        np.savez(tmp_path / "data.npz", X=X, y=y)
        process = subprocess.Popen(
            [
                *(sys.executable, "-c", SLOW.format(pause=pause)),
                *("fit", tmp_path / "data.npz", "-o", tmp_path / "m.sgpc"),
                *("--config", "paper", "--max-basis", "100"),
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        assert process.stdout.readline() == "stage 4\n"
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def test_once_keeps_the_best_model_so_far(fitting, tmp_path):
    process = fitting(pause=0.05)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    assert "Stopping with the best model so far" in errors
    assert "stopped early" in output
    model = sgpc_framework.load(tmp_path / "m.sgpc")
    assert 4 <= len(model) < 100
    assert any("the fit was stopped" in note for note in model.model.trace.notes)


def test_sigterm_keeps_the_best_model_so_far(fitting, tmp_path):
    process = fitting(pause=0.05)
    process.terminate()
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    assert "stopped early" in output
    assert 4 <= len(sgpc_framework.load(tmp_path / "m.sgpc")) < 100


def test_sigterm_elsewhere_leaves_nothing_behind(tmp_path):
    script = (
        "import time, sys\n"
        "from sgpc_framework.cli import main, datasets\n"
        "def slowly(*_):\n"
        "    for row in range(10**6):\n"
        "        if row == 2: print('writing', flush=True)\n"
        "        time.sleep(0.02)\n"
        "        yield [row]\n"
        "datasets._lines = slowly\n"
        "main()\n"
    )
    command = [sys.executable, "-c", script, "datasets", "twonorm", "-o", tmp_path / "x.csv"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "writing\n"
    process.terminate()
    _, errors = process.communicate(timeout=60)
    assert process.returncode == INTERRUPTED
    assert errors.strip() == "Interrupted."
    assert list(tmp_path.iterdir()) == []


def test_twice_gives_up(fitting, tmp_path):
    process = fitting(pause=30.0)
    process.send_signal(signal.SIGINT)
    assert any(line.startswith("Stopping with the best model so far") for line in process.stderr)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == INTERRUPTED, errors
    assert errors.rstrip().endswith("Interrupted.")
    assert "Traceback" not in errors
    assert output == ""
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data.npz"]


def test_of_many_classes_the_best_model_so_far_is_kept_too(fitting, tmp_path):
    process = fitting(pause=0.05, classes=3)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    assert "stopped early" in output
    assert len(sgpc_framework.load(tmp_path / "m.sgpc").classes) == 3
