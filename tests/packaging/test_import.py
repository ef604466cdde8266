"""What an import costs, what the package offers, and what it must not know."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import sgpc_framework

FRAMEWORK = Path(sgpc_framework.__file__).parent
HEAVY = {"attr", "cattrs", "matplotlib", "numpy", "pandas", "pluggy", "rich", "scipy", "sklearn"}


def _imported_by(code: str) -> set[str]:
    """The top-level modules that are there after running some code in a new interpreter."""
    report = "; import sys; print('modules:', *{m.partition('.')[0] for m in sys.modules})"
    ran = subprocess.run(
        [sys.executable, "-c", code + report], check=True, capture_output=True, text=True
    )
    return set(ran.stdout.rpartition("modules:")[2].split())


def test_importing_the_package_imports_nothing_heavy():
    found = _imported_by("import sgpc_framework")
    assert "sgpc_framework" in found
    assert not found & {*HEAVY, "sgpc_plugins"}


def test_the_help_of_the_command_line_imports_nothing_heavy():
    found = _imported_by(
        "from sgpc_framework.cli import main; main(['--help'], standalone_mode=False)"
    )
    assert "click" in found
    assert not found & {*HEAVY, "sgpc_plugins"}


@pytest.mark.parametrize("command", ["compare", "config", "evaluate", "fit", "predict"])
def test_the_help_of_a_command_imports_nothing_heavy(command):
    found = _imported_by(
        f"from sgpc_framework.cli import main; main(['{command}', '--help'], standalone_mode=False)"
    )
    assert not found & {"matplotlib", "numpy", "rich", "scipy", "sklearn", "sgpc_plugins"}


def test_building_a_design_imports_none_of_the_optional_worlds():
    found = _imported_by("import sgpc_framework; sgpc_framework.build()")
    assert {"numpy", "sgpc_plugins"} <= found
    assert not found & {"hypothesis", "matplotlib", "pandas", "pytest", "rich", "sklearn"}


def test_matplotlib_is_left_to_whoever_draws():
    assert "matplotlib" not in _imported_by("import sgpc_framework.plots")


@pytest.mark.parametrize("name", dir(sgpc_framework))
def test_every_public_name_resolves(name):
    assert getattr(sgpc_framework, name) is not None


def test_other_names_are_errors():
    with pytest.raises(AttributeError, match="no attribute 'biuld'"):
        sgpc_framework.biuld  # noqa: B018  the access is the test


def _mentions(tree: ast.AST) -> set[str]:
    """The modules that imports name, and every string that could name one."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.add(node.value)
    return found


def _knows_the_plugins(source: str) -> bool:
    return any(name.startswith("sgpc_plugins") for name in _mentions(ast.parse(source)))


@pytest.mark.parametrize(
    "source",
    [
        "import sgpc_plugins.kernels",
        "def f():\n    from sgpc_plugins.kernels import Sum",
        "importlib.import_module('sgpc_plugins.sites')",
    ],
)
def test_the_scan_below_sees_imports_of_every_form(source):
    assert _knows_the_plugins(source)


def test_the_framework_never_imports_the_built_in_plugins():
    names_only = FRAMEWORK / "plugin" / "allowlist.py"  # it tells built-in entry points by the name
    paths = sorted(set(FRAMEWORK.rglob("*.py")) - {names_only})
    assert len(paths) > 30
    assert not [path for path in paths if _knows_the_plugins(path.read_text(encoding="utf-8"))]
