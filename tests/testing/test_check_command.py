"""``sgpc check``: the conformance checks from the command line."""

from __future__ import annotations

import json
import sys
from types import ModuleType
from typing import Any, ClassVar

import attrs
import numpy as np
import pytest
from click.testing import CliRunner

from sgpc_framework.cli import main
from sgpc_framework.plugin import hookimpl
from sgpc_framework.plugin.loading import Announcement, load
from sgpc_framework.plugin.records import Origin
from sgpc_framework.plugin.registry import Registry


@attrs.frozen
class Stubborn:
    """Proposes the first row, whatever has been included."""

    name: ClassVar[str] = "stubborn"

    def propose(self, posterior, rng):
        return 0


@attrs.frozen
class Steady:
    """A refiner that does nothing, well."""

    name: ClassVar[str] = "stubborn"

    def loss(self, fitted):
        return fitted.predictive_loss()

    def refine(self, fitted, rng):
        return fitted


def _module(**hooks: list[type]) -> ModuleType:
    module = ModuleType("parts")
    for name, classes in hooks.items():
        setattr(module, name, hookimpl(lambda classes=classes: classes, specname=name))
    return module


def _unimportable() -> Any:
    raise ImportError("boom")


@pytest.fixture
def installed(monkeypatch):
    """``installed({"sgpc-mine": module, ...})`` makes that the default registry of the command."""

    def install(plugins: dict[str, Any]) -> None:
        found = [
            Announcement(
                Origin(distribution, "2.0", "parts"),
                plugin if callable(plugin) else lambda plugin=plugin: plugin,
            )
            for distribution, plugin in plugins.items()
        ]
        registry = Registry(lambda manager: load(manager, found))
        monkeypatch.setattr("sgpc_framework.cli.check.default_registry", lambda: registry)

    return install


def run(*arguments: str):
    return CliRunner(env={"COLUMNS": "200"}).invoke(main, ["check", *arguments])


def test_a_sound_part_passes_with_one_line_for_each_check():
    result = run("entropy")
    assert result.exit_code == 0, result.output
    *lines, summary = result.stdout.splitlines()
    assert "ok      entropy  selector: proposes distinct rows" in lines
    assert all(line.startswith("ok ") for line in lines)
    assert summary == f"{len(lines)} passed, 0 failed"


def test_a_name_of_two_kinds_means_both_unless_told():
    both = run("predictive-loss", "--kind", "objective").stdout
    assert "objective: finite" in both
    assert "sites: finite" not in both
    none = run("none").stdout
    assert "objective: whole abilities" in none
    assert "refiner: never worse than its start" in none


def test_json():
    lines = json.loads(run("none", "--kind", "refiner", "--json").stdout)
    assert {line["part"] for line in lines} == {"none"}
    assert all(line["ok"] and line["problem"] is None for line in lines)
    assert "refiner: finite" in [line["check"] for line in lines]
    assert "sgpc-framework" in lines[0]["provider"]


def test_a_broken_part_fails_with_the_text(installed):
    installed({"sgpc-mine": _module(sgpc_basis_selectors=[Stubborn])})
    result = run("stubborn")
    assert result.exit_code == 1
    assert "FAILED  stubborn  selector: proposes inactive rows only" in result.stdout
    assert "ok      stubborn  selector: proposes distinct rows" in result.stdout
    assert "found:   row [0], which is active" in result.stdout
    assert "read on: sgpc_framework.protocols.BasisSelector" in result.stdout
    assert result.stdout.splitlines()[-1] == "14 passed, 2 failed"


def test_a_broken_part_as_json(installed):
    installed({"sgpc-mine": _module(sgpc_basis_selectors=[Stubborn])})
    result = run("stubborn", "--json")
    assert result.exit_code == 1
    failed = {line["check"] for line in json.loads(result.stdout) if not line["ok"]}
    assert failed == {
        "selector: proposes inactive rows only",
        "selector: survives duplicates ties and a single inactive row",
    }


def test_a_distribution_stands_for_all_its_parts(installed):
    installed({"sgpc-mine": _module(sgpc_basis_selectors=[Stubborn], sgpc_refiners=[Steady])})
    kinds = {line["check"].split(":")[0] for line in json.loads(run("sgpc-mine", "--json").stdout)}
    assert kinds == {"selector", "refiner"}


def test_a_name_that_two_distributions_provide_fails(installed):
    @attrs.frozen
    class Other(Stubborn):
        """Another of the same name."""

    installed(
        {
            "sgpc-mine": _module(sgpc_basis_selectors=[Stubborn]),
            "sgpc-yours": _module(sgpc_basis_selectors=[Other]),
        }
    )
    result = run("stubborn")
    assert result.exit_code == 1
    assert "selector: only one of its name" in result.stdout
    assert "sgpc-mine 2.0" in result.stdout
    assert "sgpc-yours 2.0" in result.stdout


@pytest.mark.parametrize("name", ["sgpc-broken", "parts"])
def test_a_quarantined_plugin_is_told_with_its_reason(installed, name):
    installed({"sgpc-broken": _unimportable})
    result = run(name)
    assert result.exit_code == 1
    assert "FAILED  entry point parts  plugin: can be loaded" in result.stdout
    assert "sgpc-broken 2.0 (entry point 'parts') is quarantined" in result.stdout
    assert "cannot be imported: ImportError: boom" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["entrpy"], "did you mean 'entropy'?"),
        (["probti", "--kind", "likelihood"], "did you mean 'probit'?"),
        (["entropy", "--kind", "likelihood"], "choose from logistic"),
    ],
)
def test_an_unknown_name_is_refused_with_a_suggestion(arguments, hint):
    result = run(*arguments)
    assert result.exit_code == 2
    assert repr(arguments[0]) in result.stderr
    assert hint in " ".join(result.stderr.split())


def test_without_alarms_there_is_a_note(monkeypatch):
    monkeypatch.setattr("sgpc_framework.testing.timelimit.can_limit", lambda: False)
    assert "without a limit in time" in run("none").stdout.splitlines()[-1]


def test_the_global_generator_is_where_it_was():
    before = repr(np.random.get_state())  # noqa: NPY002
    run("random-sampling")
    assert repr(np.random.get_state()) == before  # noqa: NPY002


OWN = """
import attrs
import numpy as np

np.seterr(over="raise")


@attrs.frozen
class Own:
    name = "own"
    size: int = 2

    def propose(self, posterior, rng):
        return posterior.sample(lambda rows: rows.variance, self.size, rng)
"""


def test_a_class_in_a_file_is_checked_with_options_and_thoroughly(tmp_path, monkeypatch):
    (tmp_path / "own_selector.py").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [*sys.path])
    result = run("own_selector.py:Own", "--set", "size=3", "--thorough")
    assert "ok      own  selector: sixty stages of proposals" in result.stdout
    assert "by its import, np.seterr was {'over': 'warn'} and is {'over': 'raise'}" in result.stdout
    assert result.stdout.splitlines()[-1].endswith("1 failed")
    assert np.geterr()["over"] == "warn"
    missing = run("own_selector.py:Onw")
    assert missing.exit_code == 2
    assert "did you mean 'Own'?" in missing.stderr
    assert run("nowhere.py:Own").exit_code == 2


def test_an_option_that_there_is_not_is_refused():
    result = run("entropy", "--set", "size=3")
    assert result.exit_code == 1
    assert "wanted an option of entropy, found 'size'" in result.stderr


def test_a_file_may_be_called_as_a_module_of_pythons_and_have_neighbours(tmp_path, monkeypatch):
    (tmp_path / "selectors.py").write_text("from beside import SIZE\nprint('hello')\n" + OWN)
    (tmp_path / "beside.py").write_text("SIZE = 2\n")
    monkeypatch.setattr("sys.path", [*sys.path])
    result = run(str(tmp_path / "selectors.py"), "--thorough", "--json")
    assert result.stderr == "hello\n"
    failed = [line["check"] for line in json.loads(result.stdout) if not line["ok"]]
    assert failed == ["selector: leaves the process as it was"]  # by np.seterr at its import
    assert sys.modules["selectors"].__name__ == "selectors"
    assert hasattr(sys.modules["selectors"], "SelectSelector")
