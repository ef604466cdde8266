"""``sgpc lab``: what it says when something is wrong, and that its numbers go where they should."""

from __future__ import annotations

import pytest

pytest.importorskip("joblib")
pytest.importorskip("matplotlib")

from sgpc_framework.lab.cells import Cell

SMALL = ("--suite", "clusters", "--sizes", 3, "--partitions", 1, "--rows", 30, "-j", 1)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["run"], 2, "wanted a PLAN or --method"),
        (["run", "-m", "pool"], 1, "wanted two methods or more, found 'pool' alone"),
        (["run", "-m", "pool", "-m", "entrpy"], 1, "did you mean 'entropy'"),
        (["run", "-m", "pool", "-m", "entropy", "--suite", "clustres"], 1, "'clusters'"),
        (["run", "-m", "pool", "--against", "papers"], 1, "wanted 'paper'"),
        (["run", "missing.toml"], 1, "there is no file 'missing.toml'"),
        (["merge", "nowhere", "-o", "x"], 1, "wanted a folder of finished cells"),
    ],
)
def test_problems(sgpc, arguments, code, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = sgpc("lab", *arguments)
    assert result.exit_code == code
    assert message in result.stderr


def test_an_interruption_says_how_to_go_on(sgpc, tmp_path, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(Cell, "compute", interrupted)
    result = sgpc("lab", "run", "-m", "pool", "-m", "entropy", *SMALL, "-o", tmp_path)
    assert result.exit_code == 130
    assert "the same command goes on from there" in result.stderr


def test_progress_is_for_standard_error(sgpc, tmp_path):
    result = sgpc("lab", "run", "-m", "adaptive 1", "-m", "entropy", *SMALL, "-o", tmp_path)
    assert result.exit_code == 0, result.output
    assert "2/2, 0 s left: clusters" in result.stderr
    assert (
        "with 1 partitions no set can tell 2 methods apart at 0.05: --partitions 6" in result.stderr
    )
    assert result.stdout == f"the page is {tmp_path}/comparison.html, and comparison.md beside it\n"
