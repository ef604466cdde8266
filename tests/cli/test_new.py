"""``sgpc new``: what it writes can be installed, and its tests pass as they stand."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path
from textwrap import dedent

import pytest
from click.testing import CliRunner
from environments import Environment

from sgpc_framework.cli import main
from sgpc_framework.plugin.kinds import KINDS


def new(kind: str, name: str, directory: Path):
    return CliRunner().invoke(main, ["new", "--directory", str(directory), "--", kind, name])


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A folder with a new package of every kind."""
    directory = tmp_path_factory.mktemp("new")
    for kind in KINDS:
        result = new(kind, f"fresh-{kind}", directory)
        assert result.exit_code == 0, result.output
    return directory


@pytest.fixture(scope="module")
def environment(folder) -> Environment:
    """A virtual environment in which all of them are installed."""
    environment = Environment.created(folder / "venv")
    environment.install(*(folder / f"sgpc-fresh-{kind}" for kind in KINDS))
    return environment


@pytest.mark.parametrize("kind", KINDS)
def test_the_tests_of_a_new_package_pass(environment, folder, kind):
    package = folder / f"sgpc-fresh-{kind}"
    report = environment.run("-m", "pytest", "-q", "-p", "no:cacheprovider", cwd=package)
    assert " passed" in report
    assert "failed" not in report
    assert "skipped" not in report


def test_the_parts_of_new_packages_are_listed(environment):
    command = "from sgpc_framework.cli import main; main()"
    lines = json.loads(environment.run("-c", command, "plugins", "--json"))
    result = {(line["kind"], line["name"]): line for line in lines}
    for kind in KINDS:
        line = result[kind, f"fresh-{kind}"]
        assert line["distribution"] == f"sgpc-fresh-{kind}"
        assert line["status"] == "ok"


def test_a_classifier_can_be_made_of_nothing_else(environment):
    config = {kind: f"fresh-{kind}" for kind in KINDS} | {"max_basis": 5, "max_iterations": 2}
    code = f"""
        from sgpc_framework import build
        from sgpc_framework.datasets import twonorm

        model = build({config}).fit(*twonorm(80))
        print(len(model), type(model.kernel).__name__, type(model.likelihood).__name__)
    """
    assert environment.run("-c", dedent(code)).split() == ["5", "FreshKernel", "FreshLikelihood"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_new_package_is_complete(folder, kind):
    package = folder / f"sgpc-fresh-{kind}"
    module = f"sgpc_fresh_{kind}"
    assert {str(path.relative_to(package)) for path in package.rglob("*") if path.is_file()} >= {
        "README.md",
        "pyproject.toml",
        f"src/{module}/__init__.py",
        f"src/{module}/{kind}.py",
        "tests/test_conformance.py",
    }
    project = tomllib.loads((package / "pyproject.toml").read_text())["project"]
    assert project["name"] == f"sgpc-fresh-{kind}"
    assert project["entry-points"]["sgpc_framework"] == {"parts": module}
    assert project["optional-dependencies"]["testing"] == ["sgpc-framework[testing]"]
    readme = (package / "README.md").read_text()
    commands = readme.split("```console\n")[1].split("```")[0].splitlines()
    assert commands == [
        "pip install -e '.[testing]'",
        "python -m pytest",
        f"sgpc describe fresh-{kind} --kind {kind}",
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_a_new_package_is_tidy(folder, kind):
    package = folder / f"sgpc-fresh-{kind}"
    ruff = [sys.executable, "-m", "ruff"]
    rules = ["--isolated", "--line-length=100"]
    for command in (["check", "--select=E,F,I,B,UP"], ["format", "--check"]):
        ran = subprocess.run(
            [*ruff, *command, *rules, "--no-cache", "."],
            cwd=package,
            capture_output=True,
            text=True,
        )
        assert ran.returncode == 0, ran.stdout + ran.stderr


def test_a_selector_takes_twenty_lines(folder):
    module = folder / "sgpc-fresh-selector/src/sgpc_fresh_selector/selector.py"
    assert len(module.read_text().splitlines()) <= 20


def test_it_says_what_to_do_next(tmp_path):
    text = new("selector", "idea", tmp_path).stdout
    assert f"wrote {tmp_path / 'sgpc-idea' / 'pyproject.toml'}" in text
    assert f"cd {tmp_path / 'sgpc-idea'}" in text
    assert "python -m pytest" in text


@pytest.mark.parametrize(
    "name",
    ["Idea", "my_idea", "-idea", "idea-", "my--idea", "3-mers", "idée", "a b", "../idea", ""],
)
def test_a_name_no_part_may_have_is_refused(tmp_path, name):
    result = new("kernel", name, tmp_path)
    assert result.exit_code == 2
    assert "lower-case letters, digits and hyphens" in result.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("kind", "name", "reason"),
    [
        ("selector", "entropy", "a selector 'entropy' exists already, provided by sgpc-framework"),
        ("selector", "framework", "a package sgpc_framework is installed already"),
        ("selector", "plugins", "a package sgpc_plugins is installed already"),
    ],
)
def test_a_name_that_is_taken_is_refused(tmp_path, kind, name, reason):
    result = new(kind, name, tmp_path)
    assert result.exit_code == 2
    assert reason in " ".join(result.stderr.split())
    assert not list(tmp_path.iterdir())


def test_a_name_of_another_kind_is_free(tmp_path):
    assert new("kernel", "entropy", tmp_path).exit_code == 0


def test_nothing_is_overwritten(tmp_path):
    (tmp_path / "sgpc-idea").mkdir()
    (tmp_path / "sgpc-idea" / "README.md").write_text("mine")
    result = new("kernel", "idea", tmp_path)
    assert result.exit_code == 2
    assert "exists already" in result.stderr
    assert (tmp_path / "sgpc-idea" / "README.md").read_text() == "mine"
    assert len(list((tmp_path / "sgpc-idea").iterdir())) == 1


def test_an_unknown_kind_is_refused(tmp_path):
    result = new("kernels", "idea", tmp_path)
    assert result.exit_code == 2
    assert "kernel" in result.stderr
