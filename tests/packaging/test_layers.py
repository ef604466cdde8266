"""Who may know whom: a package imports from the lines above its own, and plugins from one module.

Imports for the type checker alone do not count, for they load nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from string import Template

import pytest
from sources import FRAMEWORK, ROOT, Import, imports

import sgpc_framework

LINES = (
    ("errors", "protocols"),
    ("algebra", "parts"),
    ("plugin", "rows"),
    ("config", "model"),
    ("engine",),
    ("design",),
    ("files", "tables", "datasets", "metrics"),
    ("adapters", "plots", "report", "serving", "lab", "cli", "testing"),
    ("__main__",),
)
LINE_OF = {package: line for line, packages in enumerate(LINES) for package in packages}

SIDEWAYS = {
    ("tables", "files"): "a classifier of tables is saved as one file",
    ("datasets", "files"): "what is fetched is written whole or not at all",
    ("authors", "adapters"): "kernels of other libraries are made by an adapter",
    ("report", "plots"): "a report has pictures",
    ("lab", "report"): "the page of a comparison has the look of a report",
    ("lab", "plots"): "figures of experiments have the colours of all pictures",
    **{("cli", other): "a command is a way to call it" for other in LINES[-2] if other != "cli"},
}
"""Imports within a line, and why there are any."""

LAZY_BACK = {
    ("parts", "plugin"): "whom to blame is looked up when something has gone wrong",
    ("design", "adapters"): "rows of Dask collections stay where they are",
    ("model", "adapters"): "predictions of Dask collections are made where the rows are",
    ("tables", "metrics"): "a classifier of tables says which of its columns matter",
    ("tables", "adapters"): "so are tables fitted and encoded",
    ("model", "files"): "model.save(path) is the method that users look for",
    ("design", "files"): "fit(checkpoint=path) keeps what happens in a file",
    ("files", "tables"): "a file with an encoding is loaded as a classifier of tables",
}
"""Imports of lines below by functions, and why there are any."""

AUTHORS = "sgpc_framework.authors"
PUBLIC = "sgpc_framework"
FOR_TRYING = (PUBLIC, "sgpc_framework.datasets", "sgpc_framework.testing")
"""What tests of a part, and pages that fit with it, may use besides: the public names, data to fit
to, and the conformance kit."""


def package_of(module: str) -> str | None:
    """The package or module of ours that a dotted name leads into; None if it is not ours."""
    top, _, rest = module.partition(".")
    return rest.partition(".")[0] if top == "sgpc_framework" else None


def edges() -> Iterator[tuple[str, str, bool, str]]:
    """Importing package, imported package, whether by a function, and where."""
    for path in sorted(FRAMEWORK.rglob("*.py")):
        inside = path.relative_to(FRAMEWORK)
        own = inside.parts[0].removesuffix(".py")
        for each in imports(path.read_text(encoding="utf-8")):
            other = package_of(str(each))
            if other is not None and other != own:
                yield own, other, each.lazy, f"{inside}:{each.line} imports {each}"


def allowed(own: str, other: str, lazy: bool) -> bool:
    if own == "__init__":
        return lazy
    if own == "__main__":
        return lazy and other == "cli"
    if (own, other) in SIDEWAYS:
        return True
    if own == "authors":
        return LINE_OF.get(other, len(LINES)) < LINE_OF["design"]
    if own not in LINE_OF or other not in LINE_OF:
        return False
    if lazy and (own, other) in LAZY_BACK:
        return True
    return LINE_OF[other] < LINE_OF[own]


def test_every_package_has_a_line():
    """A new one belongs into DESIGN's drawing, and into ``LINES``."""
    names = {path.name.removesuffix(".py") for path in FRAMEWORK.iterdir()}
    known = {*LINE_OF, "authors", "__init__", "__main__", "__pycache__", "py.typed"}
    assert names - known == set()


def test_packages_import_from_the_lines_above():
    wrong = [where for own, other, lazy, where in edges() if not allowed(own, other, lazy)]
    assert not wrong, "\n".join(["wanted imports of lines above only, found", *wrong])


def test_no_exception_is_listed_in_vain():
    used = {(own, other) for own, other, _, _ in edges()}
    commands = {edge for edge in SIDEWAYS if edge[0] == "cli"}
    assert {*SIDEWAYS, *LAZY_BACK} - commands <= used


# -- plugins -----------------------------------------------------------------------------------


def parts() -> dict[str, str]:
    """Sources of parts, by where they are: built-ins, examples, templates."""
    paths = [
        *ROOT.glob("plugins/builtin/sgpc_plugins/**/*.py"),
        *ROOT.glob("plugins/examples/*/src/**/*.py"),
    ]
    templates = [
        path
        for path in FRAMEWORK.glob("cli/templates/*.py.template")
        if not path.name.startswith("test_")
    ]
    sources = {_name(path): path.read_text(encoding="utf-8") for path in paths}
    return sources | {_name(path): _filled_in(path) for path in templates}


def trials() -> dict[str, str]:
    """Sources that use parts, or show one with what it is tried with: tests, scripts, pages."""
    paths = [
        *ROOT.glob("plugins/examples/*/tests/**/*.py"),
        *ROOT.glob("plugins/examples/*/examples/**/*.py"),
    ]
    sources = {_name(path): path.read_text(encoding="utf-8") for path in paths}
    for path in FRAMEWORK.glob("cli/templates/test_*.template"):
        sources[_name(path)] = _filled_in(path)
    for page in (*ROOT.glob("docs/authors/*.md"), ROOT / "docs/how-to/write-a-part.md"):
        sources[_name(page)] = _python_of(page)
    return sources


def _name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def _filled_in(template: Path) -> str:
    text = template.read_text(encoding="utf-8")
    return Template(text).substitute({name: name for name in Template(text).get_identifiers()})


def _python_of(page: Path) -> str:
    """The blocks of Python, at the lines that they have on the page."""
    text = page.read_text(encoding="utf-8")
    lines = [""] * (text.count("\n") + 1)
    for block in re.finditer(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        first = text.count("\n", 0, block.start(1))
        for number, line in enumerate(block[1].splitlines(), start=first):
            lines[number] = line
    return "\n".join(lines)


def refused(where: str, source: str, *homes: str) -> list[str]:
    """The imports of ours that come neither from these modules nor from below them."""
    return [
        f"{where}:{each.line} imports {each}"
        for each in imports(source)
        if package_of(str(each)) is not None and not _comes_from(each, homes)
    ]


def _comes_from(each: Import, homes: tuple[str, ...]) -> bool:
    public = each.module == PUBLIC and (each.name is None or each.name in dir(sgpc_framework))
    below = any(f"{each}.".startswith(f"{home}.") for home in homes if home != PUBLIC)
    return below or (public and PUBLIC in homes)


def test_parts_import_from_one_module_of_ours():
    sources = parts()
    assert len(sources) > 30
    wrong = [line for where in sources for line in refused(where, sources[where], AUTHORS)]
    assert not wrong, "\n".join([f"wanted imports of {AUTHORS} only, found", *wrong])


def test_who_tries_a_part_imports_what_is_public():
    sources = trials()
    assert len(sources) > 10
    homes = AUTHORS, *FOR_TRYING
    wrong = [line for where in sources for line in refused(where, sources[where], *homes)]
    assert not wrong, "\n".join([f"wanted imports of {', '.join(homes)}, found", *wrong])


@pytest.mark.parametrize(
    ("source", "refusals"),
    [
        ("from sgpc_framework.authors import hyperparameter", 0),
        ("from sgpc_framework import authors", 0),
        ("import numpy, sgpc_frameworks", 0),
        ("import sgpc_framework", 1),
        ("def f():\n    from sgpc_framework.rows import view", 1),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import sgpc_framework.rows", 0),
    ],
)
def test_the_scan_sees_imports_of_every_form(source, refusals):
    assert len(refused("here", source, AUTHORS)) == refusals
