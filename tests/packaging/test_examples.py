"""The packages in plugins/examples: installed like a stranger's, they pass their own tests."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from environments import Environment

import sgpc_framework as sgpc

EXAMPLES = Path(__file__).parents[2] / "plugins/examples"
PARTS = {
    "sgpc-diverse": {
        ("selector", name)
        for name in (
            "active-set",
            "gradient-pursuit",
            "kernel-kmeans",
            "lazy-entropy",
            "margin-variance",
            "matching-pursuit",
            "novelty",
            "pivoted-cholesky",
            "quality-diversity",
            "ridge-leverage",
        )
    },
    "sgpc-graphs": {("kernel", "weisfeiler-lehman")},
    "sgpc-strings": {("kernel", "spectrum"), ("kernel", "weighted-degree")},
}


@pytest.fixture(scope="module")
def copies(tmp_path_factory) -> Path:
    """Copies of the packages: building one leaves nothing behind in the sources."""
    folder = tmp_path_factory.mktemp("examples")
    for package in PARTS:
        litter = shutil.ignore_patterns("__pycache__", ".*_cache", "build", "dist", ".venv")
        shutil.copytree(EXAMPLES / package, folder / package, ignore=litter)
    return folder


@pytest.fixture(scope="module")
def environment(copies) -> Environment:
    """A virtual environment in which all of them are installed."""
    environment = Environment.created(copies / "venv")
    environment.install(*(copies / package for package in PARTS))
    return environment


def test_every_example_is_tested_here():
    assert {path.parent.name for path in EXAMPLES.glob("*/pyproject.toml")} == set(PARTS)


@pytest.mark.parametrize("package", PARTS)
def test_its_own_tests_pass(environment, copies, package):
    report = environment.run("-m", "pytest", "-q", "-p", "no:cacheprovider", cwd=copies / package)
    assert " passed" in report
    assert "failed" not in report
    assert "skipped" not in report


def test_the_parts_are_there(environment):
    command = "from sgpc_framework.cli import main; main()"
    lines = json.loads(environment.run("-c", command, "plugins", "--json"))
    for package, parts in PARTS.items():
        found = [line for line in lines if line["distribution"] == package]
        assert {(line["kind"], line["name"]) for line in found} == parts
        assert {line["status"] for line in found} == {"ok"}


@pytest.mark.parametrize(
    ("package", "script", "arguments", "wanted"),
    [
        ("sgpc-strings", "examples/splice.py", ["--max-basis=5", "--seeds=1"], "weighted-degree 4"),
        ("sgpc-diverse", "examples/compare.py", ["--max-basis=5", "--seeds=1"], "margin-variance"),
    ],
)
def test_the_script_of_the_readme_runs(
    environment, copies, monkeypatch, package, script, arguments, wanted
):
    monkeypatch.delenv("SGPC_DATA_DIR", raising=False)
    text = environment.run(script, *arguments, cwd=copies / package)
    assert wanted in text


SAVE = """
import sgpc_framework as sgpc
words = ["ACGT", "AAAA", "AACC", "GGTT"] * 5
sgpc.build(kernel="spectrum", max_basis=3, max_iterations=1).fit(words, [0, 1, 1, 0] * 5).save("m")
"""
LOAD = "import sgpc_framework as sgpc; print(sgpc.load('m').predict(['ACGG', 'AAAC']).tolist())"


def test_a_model_with_a_strangers_kernel_needs_the_package_and_nothing_else(environment, tmp_path):
    environment.run("-c", SAVE, cwd=tmp_path)
    assert environment.run("-c", LOAD, cwd=tmp_path).strip() == "[0, 1]"
    with pytest.raises(sgpc.ModelFileError, match=r"install sgpc-strings \d"):
        sgpc.load(tmp_path / "m")
