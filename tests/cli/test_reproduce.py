"""``sgpc reproduce`` in miniature: all experiments on generated data, the page, going on."""

from __future__ import annotations

import csv
import re
import sys

import pytest
from click.testing import CliRunner

pytest.importorskip("joblib")
pytest.importorskip("matplotlib")

from sgpc_framework.cli import main
from sgpc_framework.cli.reproduce import EXPERIMENTS
from sgpc_framework.lab import bayes, cells, plan, timing
from sgpc_framework.lab import paper_sections as sections
from sgpc_framework.lab.claims import CLAIMS
from sgpc_framework.lab.methods import FAST
from sgpc_framework.lab.plan import Scale

MINIATURE = Scale(
    sets=("waveform", "twonorm"),
    sizes=(3, 4, 5, 6),
    working_sets=(1, 2),
    partitions=(1, 1, 1, 1),
    iterations=(1, 1, 1, 1),
    rows=60,
)


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    monkeypatch.delenv("SGPC_DATA_DIR", raising=False)
    monkeypatch.setattr(plan, "quick", lambda: MINIATURE)
    for module in (plan, sections):
        monkeypatch.setattr(module, "REFINED", (FAST,))  # the others choose by many fits
    monkeypatch.setattr(timing, "TURNS", 1)
    monkeypatch.setattr(bayes, "ROWS", 2000)
    for remembering in (cells.data_of, cells.digest_of):
        remembering.cache_clear()
    yield
    for remembering in (cells.data_of, cells.digest_of):
        remembering.cache_clear()


def run(*arguments: object, code: int = 0):
    result = CliRunner().invoke(main, ["reproduce", "--jobs=1", *map(str, arguments)])
    assert result.exit_code == code, result.output
    return result


def rows(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_all_of_it_and_again(tmp_path, monkeypatch):
    first = run("--quick", "-o", tmp_path)
    page = (tmp_path / "reproduction.md").read_text()
    assert str(tmp_path / "reproduction.md") in first.stdout
    wanted = len(plan.cells_in_order(MINIATURE, EXPERIMENTS))
    results = rows(tmp_path / "results.csv")
    assert len(results) == wanted
    assert {row["source"] for row in results} == {"generated"}
    assert len(rows(tmp_path / "stages.csv")) == 2 * 4  # Waveform, two site estimators, 4 stages
    assert {row["data"] for row in rows(tmp_path / "seconds.csv")} == {"waveform", "twonorm"}
    # Every picture of the page is there and is one, every link leads somewhere.
    links = re.findall(r"\]\(([^)]+)\)", page)
    assert {name for name in links if name.endswith("png")} == {
        f"figures/{name}.png"
        for name in ("losses", "experiment1", "experiment2", "experiment3", "ranks")
    }
    for name in links:
        assert (tmp_path / name).is_file()
    assert (tmp_path / "figures/ranks.png").read_bytes().startswith(b"\x89PNG")
    for claims in CLAIMS.values():
        for claim in claims:
            assert f"| {claim.text} |" in page
    assert "## Beyond the paper" in page
    # A second time nothing is computed.
    monkeypatch.setattr(cells.Cell, "compute", lambda _: pytest.fail("computed again"))
    run("--quick", "--only=experiment1", "-o", tmp_path)


def test_only_a_part_of_it(tmp_path):
    run("--quick", "--only=experiment2", "--sets=twonorm", "--partitions=1", "-o", tmp_path)
    page = (tmp_path / "reproduction.md").read_text()
    assert "\n## Experiment 2" in page
    assert "\n## Experiment 3" not in page
    assert {row["partition"] for row in rows(tmp_path / "results.csv")} == {"0"}
    # What is finished elsewhere can be reported without computing anything.
    run(
        *("--quick", "--sets=twonorm", "--partitions=1,1,1,1", "--report"),
        *("--cells", tmp_path / "cells", "-o", tmp_path / "report"),
    )
    report = (tmp_path / "report/reproduction.md").read_text()
    assert "not run" in report
    assert not (tmp_path / "report/cells").exists()


def test_its_progress_goes_to_standard_error(tmp_path):
    result = run("--quick", "--only=experiment1", "--sets=waveform", "-o", tmp_path)
    assert re.search(r"^4/4, 0 s left: waveform", result.stderr, re.MULTILINE)
    assert "left" not in result.stdout


def test_an_interruption_says_how_to_go_on(tmp_path, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(cells.Cell, "compute", interrupted)
    result = run("--quick", "-o", tmp_path, code=130)
    assert "the same command goes on from there" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--sets=bananna"], "no benchmark set 'bananna'; did you mean 'banana'?"),
        (["--partitions=3,4"], "wanted one number of at least 1, or four by commas, found '3,4'"),
        (["--iterations=0"], "found '0'"),
        (["--only=experiment9"], "'experiment9' is not one of"),
    ],
)
def test_what_is_wrong_is_said(arguments, text, tmp_path):
    code = 1 if "--sets" in arguments[0] else 2
    assert text in run(*arguments, "-o", tmp_path, code=code).stderr


@pytest.mark.parametrize("module", ["joblib", "matplotlib"])
def test_before_the_work_it_says_what_to_install(module, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setattr(cells.Cell, "compute", lambda _: pytest.fail("began"))
    result = CliRunner().invoke(main, ["reproduce", "--quick", "--jobs=2", "-o", str(tmp_path)])
    assert result.exit_code == 1
    assert f"{module} must be installed: pip install 'sgpc-framework[experiments]'" in result.stderr


def test_the_names_are_those_of_the_plan():
    assert EXPERIMENTS == plan.EXPERIMENTS
