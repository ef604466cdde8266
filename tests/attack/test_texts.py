"""What data say is shown and given back as it is: it commands no terminal and no spreadsheet."""

from __future__ import annotations

import csv
import io
import os
import re
import subprocess
import sys

import numpy as np
import pytest
from click.testing import CliRunner

from sgpc_framework.cli import main
from sgpc_framework.cli.printing import visible
from sgpc_framework.errors import InputError
from sgpc_framework.tables import TableClassifier, read_table

X = np.random.default_rng(0).normal(size=(40, 2))


def table(path, first, second, column="x"):
    words = np.where(X[:, 0] > 0.0, first, second)
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([column, "id", "y"])
        writer.writerows([X[i, 0], f"00{i}", word] for i, word in enumerate(words))
    return path


def sgpc(*arguments):
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.output
    return result.output


@pytest.fixture
def model(tmp_path):
    def fit(first, second, column="x"):
        data, path = table(tmp_path / "a.csv", first, second, column), tmp_path / "m.sgpc"
        fast = ("--config", "fast", "--max-basis", "2")
        told = sgpc("fit", data, "--target", "y", "-o", path, "--drop", "id", *fast)
        return data, path, told

    return fit


STEERING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e\u2066]")


def test_no_text_steers_a_terminal(model):
    data, path, told = model("\x1b[31mred\x07", "blue\u202e\x9b2J", "x\x1b]0;title\x07")
    shown = told + sgpc("evaluate", path, data) + sgpc("inspect", path)
    assert not STEERING.search(shown), ascii(shown)
    assert "\\x1b[31mred\\x07" in shown


def test_errors_do_not_either(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x\x1b[2J,y\n1,a\n?,b\n")
    result = CliRunner().invoke(main, ["fit", str(path), "--target", "y", "-o", "m.sgpc"])
    assert result.exit_code == 1
    assert "'x\\x1b[2J'" in result.output
    assert not STEERING.search(result.output)


@pytest.mark.skipif(os.name == "nt", reason="needs a terminal of POSIX")
@pytest.mark.parametrize("to", [[], ["-o", "-"], ["--json"]])
def test_csv_on_a_terminal_does_not_either(model, to):
    import pty

    data, path, _ = model("\x1b[31mred", "blue")
    ours, theirs = pty.openpty()
    script = "from sgpc_framework.cli import main; main()"
    command = [sys.executable, "-c", script, "predict", path, data, *to]
    with subprocess.Popen(command, stdout=theirs, stderr=subprocess.DEVNULL) as process:
        os.close(theirs)
        shown = b""
        try:
            while piece := os.read(ours, 4096):
                shown += piece
        except OSError:  # the other end is closed
            pass
    os.close(ours)
    assert process.returncode == 0
    assert (b"\\u001b[31mred" if "--json" in to else b"\\x1b[31mred") in shown
    assert b"\x1b[31m" not in shown


def test_a_file_has_the_text_as_it_is(model):
    data, path, _ = model("\x1b[31mred", "blue")
    rows = list(csv.DictReader(io.StringIO(sgpc("predict", path, data))))
    assert {row["predicted"] for row in rows} == {"\x1b[31mred", "blue"}


def test_what_is_visible_stays():
    text = 'Grüße, 日本語: ± "=1+1"\n\tπ'
    assert visible(text) == text
    assert visible("a\udcff").encode() == b"a\\udcff"


def test_formulas_are_escaped_on_request(model):
    data, path, _ = model("=1+1", "@SUM(A1)")
    plain = sgpc("predict", path, data)
    assert plain.splitlines()[1].split(",")[0] in ("=1+1", "@SUM(A1)")
    escaped = sgpc("predict", path, data, "--escape-formulas", "--keep", "x")
    for row in csv.reader(io.StringIO(escaped)):
        assert row[1] in ("predicted", "'=1+1", "'@SUM(A1)")
        assert not row[0].startswith("'"), "a number below zero is no formula"


def test_labels_and_kept_columns_come_back_as_they_are_written(model):
    data, path, _ = model("01", "02")
    rows = list(csv.DictReader(io.StringIO(sgpc("predict", path, data, "--keep", "id"))))
    assert {row["predicted"] for row in rows} == {"01", "02"}
    assert [row["id"] for row in rows][:2] == ["000", "001"]
    assert "error" in sgpc("evaluate", path, data)


def test_in_python_somebody_has_to_say_so(tmp_path):
    data = table(tmp_path / "a.csv", "01", "02")
    with pytest.raises(InputError, match=r"zeros in front.*words=\['y'\]"):
        TableClassifier.fit(read_table(data), "y", drop=["id"])
    assert read_table(data, words=["y"]).column("y").values[0] in ("01", "02")
