"""Standard output, disks and memory that are full or gone: one line, and nothing half done."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import sgpc_framework

pytestmark = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")

COMMAND = [sys.executable, "-m", "sgpc_framework"]


def run(*arguments, **options):
    options = {"stdout": subprocess.PIPE, **options}
    command = [*COMMAND, *map(str, arguments)]
    return subprocess.run(command, stderr=subprocess.PIPE, text=True, timeout=120, **options)


def one_line(ran, told):
    assert ran.returncode == 1, ran.stderr
    assert told in ran.stderr
    assert ran.stderr.count("\n") == 1, ran.stderr


PRINTING = {
    "help": ["--help"],
    "a table": ["plugins"],
    "JSON": ["plugins", "--json"],
    "CSV": ["datasets", "twonorm", "--rows", "2000"],
    "little CSV": ["datasets", "twonorm", "--rows", "2"],
}


@pytest.mark.parametrize("what", PRINTING)
def test_a_full_standard_output(what):
    with open("/dev/full", "w") as full:
        ran = run(*PRINTING[what], stdout=full)
    one_line(ran, "Error: standard output cannot be written: No space left on device")


@pytest.mark.parametrize("what", ["a table", "little CSV"])
def test_a_closed_standard_output(what):
    ran = run(*PRINTING[what], stdout=None, preexec_fn=lambda: os.close(1))
    one_line(ran, "Error: standard output cannot be written: Bad file descriptor")


@pytest.mark.parametrize("what", ["a table", "CSV"])
def test_nobody_reads_any_more(what):
    reader, writer = os.pipe()
    os.close(reader)
    ran = run(*PRINTING[what], stdout=writer)
    os.close(writer)
    assert (ran.returncode, ran.stderr) == (1, "")


def test_an_alphabet_without_the_letters():
    ran = run("describe", "probit", env={**os.environ, "PYTHONIOENCODING": "latin-1"})
    one_line(ran, "in latin-1: PYTHONUTF8=1")


def test_a_full_standard_error_is_nobodys_loss(data):
    with open("/dev/full", "w") as full:
        command = [*COMMAND, *DISKS["fit"]]
        ran = subprocess.run(command, cwd=data.parent, stdout=subprocess.PIPE, stderr=full)
    assert ran.returncode == 0
    assert b"written to m.sgpc" in ran.stdout


def test_no_stream_at_all(data):
    """The numbers of closed streams do not go to files, which would be written into."""
    ran = subprocess.run(
        [*COMMAND, *DISKS["fit"]], cwd=data.parent, preexec_fn=lambda: os.closerange(0, 3)
    )
    assert ran.returncode == 1, "nobody can be told what was fitted"
    assert len(sgpc_framework.load(data.parent / "m.sgpc")) == 2


def files_of(size):
    """As on a full disk: no file can become larger than that."""

    def limit():
        import resource

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    return limit


@pytest.fixture
def data(tmp_path):
    X = np.random.default_rng(0).normal(size=(40, 2))
    path = tmp_path / "data.npz"
    np.savez(path, X=X, y=X[:, 0] > 0.0)
    return path


DISKS = {
    "fit": ["fit", "data.npz", "-o", "m.sgpc", "--config", "fast", "--max-basis", "2"],
    "datasets": ["datasets", "twonorm", "--rows", "100", "-o", "a.csv"],
    "new": ["new", "selector", "my-idea"],
    "reproduce": ["reproduce", "--quick", "--only", "figure1", "-j", "1", "-o", "page"],
}


@pytest.mark.parametrize("command", DISKS)
def test_a_full_disk(data, command):
    ran = run(*DISKS[command], cwd=data.parent, preexec_fn=files_of(100))
    one_line(ran, "cannot be written: File too large")
    left = [path for path in data.parent.rglob("*") if path.is_file()]
    assert left == [data], "nothing half written"


@pytest.mark.parametrize("command", DISKS)
def test_a_folder_that_cannot_be(data, command):
    arguments = [*DISKS[command]]
    (data.parent / "file").write_text("")
    if command == "new":
        arguments += ["--directory", "/proc"]
    else:
        arguments[arguments.index("-o") + 1] = "file/name"
    ran = run(*arguments, cwd=data.parent)
    one_line(ran, "cannot be")


LITTLE_MEMORY = """
import resource
import numpy as np
from sgpc_framework.cli import main
import sgpc_framework as sgpc
X = np.random.default_rng(0).normal(size=(30, 2))
sgpc.build(max_basis=2, max_iterations=1).fit(X, X[:, 0] > 0.0)
np.savez("data.npz", X=np.zeros((60_000, 3)), y=np.arange(60_000) % 2)
import sgpc_framework.tables.table_files, sgpc_framework.cli.fit
pages = int(open("/proc/self/statm").read().split()[0])
limit = pages * resource.getpagesize() + 100 * 2**20
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
main(["fit", "data.npz", "-o", "m.sgpc", "--config", "paper", "--max-basis", "3000"])
"""


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs /proc")
def test_no_memory(tmp_path):
    ran = subprocess.run(
        [sys.executable, "-c", LITTLE_MEMORY],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "SGPC_FAST": "0"},
        timeout=120,
    )
    assert ran.returncode == 1, ran.stderr
    first, second = ran.stderr.splitlines()
    assert first.startswith("Error: there is not enough memory: Unable to allocate")
    assert "60000 x 3000 numbers of float64 (1373 MB): fewer basis vectors" in second
    assert not (tmp_path / "m.sgpc").exists()


def test_interrupted_while_importing():
    """Ctrl-C between the first line of ours and the command: the word, and no traceback."""
    script = (
        "import sys, signal, builtins\n"
        "ask = builtins.__import__\n"
        "def slowly(name, *rest, **more):\n"
        "    if name == 'click': raise KeyboardInterrupt\n"
        "    return ask(name, *rest, **more)\n"
        "from sgpc_framework.__main__ import main\n"
        "builtins.__import__ = slowly\n"
        "main()\n"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (ran.returncode, ran.stderr) == (130, "Interrupted.\n")


def test_zero_processes():
    ran = run("reproduce", "-j", "0")
    assert ran.returncode == 2
    assert "wanted a number of processes" in ran.stderr
