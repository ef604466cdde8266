"""One name, one thing: no two modules share a name, unless they stand for the same idea."""

from __future__ import annotations

from pathlib import Path

from sources import FRAMEWORK, ROOT

SAME_IDEA = {
    "config": "the configuration, and the command that prints it",
    "datasets": "the benchmark sets, and the command that writes them",
    "fit": "the one entry to a fit, and the command that calls it",
    "kernels": "the built-in kernels, and kernels from functions of another library",
    "lab": "the laboratory, and the command that runs it",
    "report": "the report, and the command that writes it",
    "model": "a package, and the class it is about",
    "corrective": "a package, and the class it is about",
    "sites": "what sites are, and the parts that estimate them",
}
"""Names that modules share, and what they have in common."""


def modules() -> dict[str, list[str]]:
    """Where the modules and packages of the framework and of the built-in parts are, by name."""
    places: dict[str, list[str]] = {}
    for root in (FRAMEWORK, ROOT / "plugins/builtin/sgpc_plugins"):
        for path in sorted(root.rglob("*.py")):
            name = path.parent.name if path.name == "__init__.py" else path.stem
            places.setdefault(name, []).append(_place(path))
    return places


def _place(path: Path) -> str:
    return str(path.relative_to(ROOT))


def test_no_two_modules_share_a_name():
    shared = {name: places for name, places in modules().items() if len(places) > 1}
    strange = {name: places for name, places in shared.items() if name not in SAME_IDEA}
    assert not strange, "rename all but one of them, or say in SAME_IDEA what they share"


def test_no_shared_name_is_listed_in_vain():
    assert [name for name in SAME_IDEA if len(modules().get(name, ())) < 2] == []
