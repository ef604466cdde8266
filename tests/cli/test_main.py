"""The command line."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

import sgpc_framework
from sgpc_framework.cli import COMMANDS, main
from sgpc_framework.plugin.registry import default_registry

MINIATURE = ["demo", "--rows=80", "--test-rows=50", "--max-basis=5", "--iterations=1"]


def run(*arguments: str):
    result = CliRunner(env={"COLUMNS": "100"}).invoke(main, arguments)
    assert result.exit_code == 0, result.output
    return result


def test_help_lists_every_command_with_one_line():
    text = run("--help").stdout
    for name, line in COMMANDS.items():
        assert name in text
        assert line in " ".join(text.split())
    assert run("-h").stdout == text


def test_version():
    assert run("--version").stdout == f"sgpc, version {sgpc_framework.__version__}\n"


def test_an_unknown_command_is_refused():
    result = CliRunner().invoke(main, ["dmeo"])
    assert result.exit_code == 2
    assert "dmeo" in result.output


def test_the_table_of_the_demo_has_every_selector():
    result = run(*MINIATURE)
    lines = result.stdout.splitlines()
    assert "80 training rows, 50 test rows" in lines[0]
    for heading in ("selector", "basis size", "test error", "log loss", "seconds"):
        assert heading in lines[2]
    rows = [line.strip("│ ").split("│") for line in lines if line.startswith("│")]
    cells = [[cell.strip() for cell in row] for row in rows]
    assert [row[0] for row in cells] == list(default_registry().names("selector"))
    assert {row[1] for row in cells} == {"5"}
    for row in cells:
        assert 0.0 <= float(row[2].removesuffix("%")) < 60.0
        assert 0.0 < float(row[3]) < 1.0


def test_the_demo_says_what_it_is_doing_but_not_on_standard_output():
    result = run(*MINIATURE)
    for selector in default_registry().names("selector"):
        assert f"fitting with {selector} ..." in result.stderr
    assert "fitting" not in result.stdout


def test_the_demo_as_json():
    results = json.loads(run(*MINIATURE, "--json").stdout)
    assert [entry["selector"] for entry in results] == list(default_registry().names("selector"))
    for entry in results:
        assert entry["basis"] == 5
        assert 0.0 <= entry["test_error"] < 0.6
        assert 0.0 < entry["test_nlp"] < 1.0
        assert entry["seconds"] > 0.0


@pytest.mark.parametrize("seed", ["1", "2"])
def test_the_same_seed_gives_the_same_results(seed):
    def results() -> list[dict[str, object]]:
        output = json.loads(run(*MINIATURE, "--json", "--seed", seed).stdout)
        return [{**entry, "seconds": None} for entry in output]

    assert results() == results()
