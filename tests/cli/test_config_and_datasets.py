"""``sgpc config`` and ``sgpc datasets``."""

from __future__ import annotations

import json
import tomllib

import numpy as np
import pytest

import sgpc_framework
from sgpc_framework.config.config import Config
from sgpc_framework.config.presets import PRESETS
from sgpc_framework.datasets import BENCHMARKS, waveform
from sgpc_framework.tables import read_table


@pytest.mark.parametrize("preset", PRESETS)
def test_the_configuration_of_a_preset_is_complete(sgpc, preset):
    output = tomllib.loads(sgpc("config", preset).stdout)
    assert Config.from_mapping(output) == sgpc_framework.build(preset).config
    assert output == json.loads(sgpc("config", preset, "--json").stdout)


def test_without_a_name_it_is_what_fit_takes(sgpc):
    assert sgpc("config").stdout == sgpc("config", "accurate").stdout


def test_changes(sgpc, tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text('preset = "fast"\nselector = "entropy"\n')
    result = sgpc(
        "config", path, "--max-basis", "auto", "--seed", 3,
        "--set", "refiner.iterations=9", "--set", "sites=predictive-loss",
    )  # fmt: skip
    output = tomllib.loads(result.stdout)
    assert (output["max_basis"], output["seed"]) == ("auto", 3)
    assert output["selector"] == {"name": "entropy"}
    assert output["sites"]["name"] == "predictive-loss"
    assert output["refiner"]["iterations"] == 9
    assert output["refiner"]["penalty"] == 1.0  # that of the preset


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--set", "tolerance=-1"], 1, "tolerance"),
        (["--set", "kernel.colour=red"], 1, "colour"),
        (["--set", "nothing"], 2, "wanted KEY=VALUE, found 'nothing'"),
        (["--max-basis", "many"], 2, "wanted a whole number of at least 1, found 'many'"),
        (["fsat"], 1, "did you mean 'fast'"),
    ],
)
def test_problems(sgpc, arguments, code, message):
    result = sgpc("config", *arguments)
    assert (result.exit_code, result.stdout) == (code, "")
    assert message in result.stderr


def test_a_problem_in_a_file_names_the_file(sgpc, tmp_path):
    path = tmp_path / "bad.toml"
    path.write_text("max_basis = 0\n")
    result = sgpc("config", path)
    assert "max_basis" in result.stderr
    assert f"read from {path}" in result.stderr


def test_the_sets_are_listed(sgpc, monkeypatch, tmp_path):
    monkeypatch.setenv("SGPC_DATA_DIR", str(tmp_path))
    output = json.loads(sgpc("datasets", "--json").stdout)
    assert [entry["name"] for entry in output] == list(BENCHMARKS)
    where = {entry["name"]: entry["where"] for entry in output}
    assert (where["waveform"], where["banana"]) == ("generated", None)
    text = sgpc("datasets").stdout
    for name in BENCHMARKS:
        assert name in text
    assert "not here" in text
    assert "SGPC_DATA_DIR" in text


def test_a_generated_set_as_csv(sgpc, tmp_path):
    path = tmp_path / "w.csv"
    result = sgpc("datasets", "waveform", "--rows", 30, "--partition", 4, "-o", path)
    assert (result.exit_code, result.output) == (0, "")
    table = read_table(path)
    X, y = waveform(30, seed=4)
    assert table.names == (*(f"x{i}" for i in range(1, 22)), "label")
    assert np.array_equal(np.stack([c.values for c in table.columns[:-1]], axis=1), X)
    assert np.array_equal(table.column("label").values, y)
    assert sgpc("datasets", "waveform", "--rows", 30, "--partition", 4).stdout == path.read_text()


def test_training_and_test_rows_of_a_set(sgpc, monkeypatch, tmp_path):
    monkeypatch.delenv("SGPC_DATA_DIR", raising=False)
    test = sgpc("datasets", "twonorm", "--part", "test").stdout
    assert test.count("\n") == 3400 + 1
    first = sgpc("datasets", "twonorm", "--part", "test", "--rows", 7).stdout
    assert test.startswith(first)
    assert first.count("\n") == 7 + 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["bananna"], "did you mean 'banana'"),
        (["banana"], "SGPC_DATA_DIR is not set"),
        (["twonorm", "--part", "test", "--rows", 9000], "9000 were asked for"),
        (["twonorm", "-o", "nowhere/x.csv"], "there is no folder"),
    ],
)
def test_sets_that_cannot_be_had(sgpc, monkeypatch, arguments, message):
    monkeypatch.delenv("SGPC_DATA_DIR", raising=False)
    result = sgpc("datasets", *arguments)
    assert (result.exit_code, result.stdout) == (1, "")
    assert message in result.stderr
