"""One module for authors: what is in it, and that nothing else is imported."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from sgpc_framework import authors

ROOT = Path(__file__).parents[1]
FOLDERS = [
    "plugins/builtin/sgpc_plugins/kernels",
    "plugins/builtin/sgpc_plugins/likelihoods",
    "plugins/examples/sgpc-strings/src",
]
TEMPLATES = ["kernel", "likelihood", "package"]


def _imports(source: str) -> set[str]:
    """The modules of the framework that a text imports from."""
    modules = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            modules.add(str(node.module))
    return {module for module in modules if module.startswith("sgpc_framework")}


def _constants_then_classes(name: str) -> tuple[bool, bool, str]:
    """The order in which ruff wants names to stand."""
    return not name.isupper(), not name[0].isupper(), name


def test_the_list_is_in_order_and_the_table_has_all_of_it():
    assert authors.__all__ == sorted(authors.__all__, key=_constants_then_classes)
    rows = [line for line in str(authors.__doc__).splitlines() if line.startswith("``")]
    assert {name for row in rows for name in re.findall(r"``(\w+)``", row[:26])} == {
        *authors.__all__
    }


@pytest.mark.parametrize("name", authors.__all__)
def test_every_name_is_there(name):
    assert getattr(authors, name) is not None


@pytest.mark.parametrize(
    "path",
    [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))],
    ids=lambda path: "/".join(path.parts[-2:]),
)
def test_parts_import_nothing_else_of_the_framework(path):
    assert _imports(path.read_text(encoding="utf-8")) <= {"sgpc_framework.authors"}


@pytest.mark.parametrize("template", TEMPLATES)
def test_templates_do_so_too(template):
    text = (ROOT / f"sgpc_framework/cli/templates/{template}.py.template").read_text("utf-8")
    assert _imports(text.replace("$", "")) == {"sgpc_framework.authors"}
