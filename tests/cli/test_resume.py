"""``sgpc fit --checkpoint`` and ``sgpc resume``: after a kill, after Ctrl-C, with a moved table."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import sgpc_framework as sgpc
from sgpc_framework.cli import INTERRUPTED, main
from sgpc_framework.datasets import twonorm
from sgpc_framework.files.checkpoints import Checkpoint

OPTIONS = ["--config", "paper", "--max-basis", "8", "--set", "max_iterations=2"]

SLOW = """
import sys, time
from sgpc_framework.engine import stages
from sgpc_framework.cli import main

record = stages._record

def slowly(posterior, included):
    if posterior.size == 4:
        print("stage 4", flush=True)
        time.sleep({pause})
    return record(posterior, included)

stages._record = slowly
main()
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, y = twonorm(200)
    np.savez("data.npz", X=X, y=y)
    run("fit", "data.npz", "-o", "unbroken.sgpc", *OPTIONS)
    return tmp_path


def run(*words, fails=False):
    result = CliRunner().invoke(main, [*words])
    assert result.exit_code == int(fails), result.output
    return result.output


def same(*names):
    first, *others = (Path(name).read_bytes() for name in names)
    return all(other == first for other in others)


def interrupted(pause, *signals):
    """``sgpc fit`` in a process of its own, which gets signals at stage 4."""
    command = [sys.executable, "-c", SLOW.format(pause=pause)]
    command += ["fit", "data.npz", "-o", "m.sgpc", *OPTIONS, "--checkpoint", "fit.log"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == "stage 4\n"
        first, *second = signals
        process.send_signal(first)
        if second:
            assert any(line.startswith("Stopping") for line in process.stderr)
            process.send_signal(*second)
        return process.communicate(timeout=60)[1], process.returncode
    finally:
        process.kill()
        process.communicate()


def test_a_log_that_has_ended_gives_the_model_once_more(folder):
    run("fit", "data.npz", "-o", "m.sgpc", *OPTIONS, "--checkpoint", "fit.log")
    os.remove("m.sgpc")
    assert "written to" in run("resume", "fit.log")
    assert "8 basis vectors" in run("resume", "fit.log", "-o", "other.sgpc")
    assert same("unbroken.sgpc", "m.sgpc", "other.sgpc")


def test_the_table_may_have_been_moved_but_not_changed(folder):
    run("fit", "data.npz", "-o", "m.sgpc", *OPTIONS, "--checkpoint", "fit.log")
    os.rename("data.npz", "moved.npz")
    run("resume", "fit.log", fails=True)
    run("resume", "fit.log", "--data", "moved.npz", "-o", "again.sgpc")
    assert same("unbroken.sgpc", "again.sgpc")
    X, y = twonorm(200, seed=5)
    np.savez("moved.npz", X=X, y=y)
    assert "data.inputs: other values" in run(
        "resume", "fit.log", "--data", "moved.npz", fails=True
    )


@pytest.mark.skipif(os.name == "nt", reason="needs the signals of POSIX")
class TestSignals:
    def test_after_a_kill_the_model_is_the_same(self, folder):
        _, code = interrupted(30.0, signal.SIGKILL)
        assert code == -signal.SIGKILL
        assert not Path("m.sgpc").exists()
        run("resume", "fit.log")
        assert same("unbroken.sgpc", "m.sgpc")

    def test_sigterm_writes_the_best_so_far_and_resume_goes_on(self, folder):
        errors, code = interrupted(0.2, signal.SIGTERM)
        assert code == 0
        assert "To go on with the fit: sgpc resume fit.log" in errors
        assert len(sgpc.load("m.sgpc")) < 8
        run("resume", "fit.log")
        assert same("unbroken.sgpc", "m.sgpc")

    def test_who_gives_up_is_told_how_to_go_on(self, folder):
        errors, code = interrupted(30.0, signal.SIGINT, signal.SIGINT)
        assert code == INTERRUPTED
        assert "To go on with the fit: sgpc resume fit.log" in errors
        assert not Path("m.sgpc").exists()
        run("resume", "fit.log")
        assert same("unbroken.sgpc", "m.sgpc")


def test_what_no_command_has_written_is_resumed_in_python(folder):
    X, y = twonorm(50)
    sgpc.build(max_basis=3, max_iterations=1).fit(X, y, checkpoint="py.log")
    assert "fit again in Python as you did" in run("resume", "py.log", fails=True)


@pytest.mark.parametrize("asked", [{"command": "fit"}, {"command": "x"}, {"data": 3}, {"drop": 1}])
def test_a_log_that_asks_for_nonsense_is_refused(folder, asked):
    X, y = twonorm(50)
    design = sgpc.build(max_basis=3, max_iterations=1)
    design.fit(X, y, checkpoint=Checkpoint("odd.log", asked))
    assert "it does not say how the fit was begun" in run("resume", "odd.log", fails=True)


@pytest.mark.parametrize("name", ["data.npz", "missing.log", "."])
def test_what_is_no_log_is_refused(folder, name):
    assert run("resume", name, fails=True).startswith("Error: ")


def test_a_checkpoint_is_no_other_file_of_the_command(folder):
    fit = ["fit", "data.npz", "-o", "m.sgpc", *OPTIONS, "--checkpoint"]
    assert "would be overwritten" in run(*fit, "data.npz", fails=True)
    assert "not the log of a fit" in run(*fit, "unbroken.sgpc", fails=True)
