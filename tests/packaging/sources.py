"""Reading sources without running them: which modules they import, and where."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
FRAMEWORK = ROOT / "sgpc_framework"


class Import(NamedTuple):
    """``import module``, or ``from module import name``; ``lazy`` if a function does it."""

    module: str
    name: str | None
    line: int
    lazy: bool

    def __str__(self) -> str:
        """What is imported, with dots."""
        return self.module if self.name is None else f"{self.module}.{self.name}"


def imports(source: str) -> Iterator[Import]:
    """Every import of a source but those for the type checker alone."""
    yield from _imports(ast.parse(source), lazy=False)


def _imports(node: ast.AST, lazy: bool) -> Iterator[Import]:
    for child in _children(node):
        if isinstance(child, ast.Import):
            yield from (Import(alias.name, None, child.lineno, lazy) for alias in child.names)
        elif isinstance(child, ast.ImportFrom):
            home = "." * child.level + (child.module or "")
            yield from (Import(home, alias.name, child.lineno, lazy) for alias in child.names)
        else:
            inside = isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
            yield from _imports(child, lazy or inside)


def _children(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
        yield from node.orelse
    else:
        yield from ast.iter_child_nodes(node)
