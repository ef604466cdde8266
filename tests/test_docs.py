"""The pages: every block of code runs, every link leads somewhere, the reference is complete."""

from __future__ import annotations

import doctest
import importlib
import json
import pkgutil
import re
import shlex
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import attrs
import pytest
import tomli_w
from click.testing import CliRunner

import sgpc_framework
import sgpc_plugins
from sgpc_framework.cli import main
from sgpc_framework.config.config import DEFAULT_PARTS, Config
from sgpc_framework.parts.hyperparameters import declaration
from sgpc_framework.parts.options import Option, options_of
from sgpc_framework.plugin.kinds import KINDS
from sgpc_framework.plugin.registry import Registry

ROOT = Path(__file__).parents[1]
TOP = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")]
PAGES = {str(page.relative_to(ROOT)): page for page in [*TOP, *sorted(ROOT.glob("docs/**/*.md"))]}
LANGUAGES = {"python", "toml", "json", "console", "text"}
NOT_INSTALLED = {"docs/authors/tutorial.md"}
"""Pages whose commands need a package that the reader has installed before."""

LARGE = {"gpytorch", "jax", "mlflow"}
"""Packages that are too large for the extra ``dev``: without them the blocks that import them, and
say all that they need, are left out."""

FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    """A fenced block: its language, its text, the line it starts at, and what stands before it."""

    language: str
    text: str
    line: int
    before: str


def blocks(page: str) -> list[Block]:
    text = PAGES[page].read_text(encoding="utf-8")
    found, end = [], 0
    for match in FENCE.finditer(text):
        line = text.count("\n", 0, match.start()) + 2
        found.append(Block(match[1], match[2], line, text[end : match.start()]))
        end = match.end()
    return found


def pages_with(*languages: str) -> list[str]:
    return [page for page in PAGES if any(b.language in languages for b in blocks(page))]


# ---------------------------------------------------------------------------------------------
# Blocks


@pytest.mark.parametrize("page", PAGES)
def test_every_block_says_what_it_is(page):
    fences = re.findall(r"^\s*(?:```|~~~)", PAGES[page].read_text(encoding="utf-8"), re.MULTILINE)
    assert len(fences) == 2 * len(blocks(page)), "a fence is indented, unclosed or has options"
    assert {block.language for block in blocks(page)} <= LANGUAGES


def _commands(block: Block, page: str) -> list[list[str]]:
    """The commands of a console block, if it has nothing but ``sgpc ...``."""
    if block.language != "console" or page in NOT_INSTALLED:
        return []
    lines = [shlex.split(line) for line in block.text.splitlines()]
    return lines if all(words[:1] == ["sgpc"] for words in lines) else []


def _lacks_a_package(block: Block) -> bool:
    imported = set(re.findall(r"^(?:import|from) (\w+)", block.text, re.MULTILINE))
    return any(find_spec(name) is None for name in imported & LARGE)


def _run(words: list[str], fails: bool) -> str:
    """What a command prints; less what goes to a file, as in ``sgpc config > mine.toml``. What it
    reads may come from one, as in ``sgpc predict model.sgpc - < rows.csv``."""
    words, file = (words[:-2], Path(words[-1])) if words[-2] == ">" else (words, None)
    words, given = (words[:-2], Path(words[-1])) if words[-2] == "<" else (words, None)
    read = None if given is None else given.read_bytes()
    result = CliRunner().invoke(main, words[1:], input=read)
    assert result.exit_code == int(fails), result.output
    if file is None:
        return result.output
    file.write_text(result.stdout, encoding="utf-8")
    return result.stderr


@pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")  # by GPyTorch's import
@pytest.mark.filterwarnings("ignore:.*Any type hint is inferred:UserWarning")  # by MLflow's
@pytest.mark.parametrize("page", pages_with("python", "console"))
def test_python_blocks_and_commands_run_and_print_what_the_page_says(
    page, tmp_path, monkeypatch, capsys
):
    """Blocks of a page share a namespace and a folder; a text block right after one is what it
    prints. A command may fail if that begins with "Error"."""
    monkeypatch.chdir(tmp_path)
    module = ModuleType("page")  # attrs looks up types in the module of a class
    monkeypatch.setitem(sys.modules, module.__name__, module)
    printed = None
    following = [*blocks(page)[1:], None]
    for block, after in zip(blocks(page), following, strict=True):
        if commands := _commands(block, page):
            fails = after is not None and after.text.startswith("Error")
            printed = "".join(_run(words, fails) for words in commands)
        elif block.language == "python" and _lacks_a_package(block):
            printed = None
        elif block.language == "python":
            padding = "\n" * (block.line - 1)  # so that a traceback shows the line of the page
            exec(compile(padding + block.text, PAGES[page], "exec"), vars(module))
            printed = capsys.readouterr().out
        elif block.language == "text" and printed is not None and not block.before.strip():
            # The width of a printed array is for numpy to decide, so blanks do not count.
            assert printed.split() == block.text.split(), f"{page}, line {block.line}"
        elif block.language == "text" and printed is not None and _on_one_machine(block):
            assert_about_the_same(printed, block.text, f"{page}, line {block.line}")
        else:
            printed = None


def _on_one_machine(block: Block) -> bool:
    """A page says that another machine may print other digits, and no worse."""
    return "machine" in block.before and "may differ" not in block.before


def _words_and_numbers(printed: str) -> tuple[list[str], list[float]]:
    """What is printed, less what depends on the clock or on a close race: seconds, p-values."""
    words: list[str] = []
    numbers: list[float] = []
    dropped: set[int] = set()
    for line in printed.splitlines():
        if line.startswith("sgpc:"):  # the first process of all compiles its loops, and says so
            continue
        cells = re.split("[│┃]", line)
        if "┃" in line:
            dropped = {i for i, cell in enumerate(cells) if cell.strip() in {"p", "seconds"}}
        kept = [c for i, c in enumerate(cells) if len(cells) == 1 or i not in dropped]
        text = re.sub(r"[\d.]+ seconds", "", " ".join(kept))
        numbers += map(float, re.findall(r"(?<![\w.])-?\d+(?:\.\d+)?", text))
        words += re.findall(r"[a-zA-Z]\w*", text)
    return words, numbers


def assert_about_the_same(printed: str, stated: str, where: str) -> None:
    """The same words, and numbers that another machine may have, within a sixth or 0.03."""
    (words, numbers), (wanted, figures) = map(_words_and_numbers, (printed, stated))
    assert words == wanted, where
    assert numbers == pytest.approx(figures, rel=0.16, abs=0.03), where


def test_numbers_on_pages_that_have_drifted_are_noticed():
    page = "┃ size ┃ log loss ┃ seconds ┃\n│   80 │   0.3892 │     1.2 │\n1.2 seconds"
    assert_about_the_same(page.replace("1.2", "7.5").replace("92", "99"), page, "")
    with pytest.raises(AssertionError):
        assert_about_the_same(page, page.replace("0.3892", "0.5"), "")
    with pytest.raises(AssertionError):
        assert_about_the_same(page, page.replace("log loss", "NLP"), "")


NOT_RUN = {
    "docs/authors/tutorial.md": "the package that the reader has installed before",
    "docs/how-to/rows-on-a-cluster.md": "a cluster",
    "docs/how-to/serve.md": "a server that goes on until it is stopped",
    "docs/how-to/reproduce.md": "hours",
    "docs/experiments/reproduction.md": "hours",
}
"""Pages with ``sgpc`` commands that do not run in the tests, and what they need."""


@pytest.mark.parametrize("page", pages_with("console"))
def test_every_sgpc_command_of_a_page_runs_or_it_is_said_what_it_needs(page):
    idle = [
        block.line
        for block in blocks(page)
        if block.language == "console"
        and re.search(r"^sgpc ", block.text, re.MULTILINE)
        and not _commands(block, page)
    ]
    assert not idle or page in NOT_RUN


@pytest.mark.parametrize("page", pages_with("toml", "json"))
def test_configurations_can_be_built(page):
    parsers = {"toml": tomllib.loads, "json": json.loads}
    for block in blocks(page):
        if block.language in parsers:
            Config.from_mapping(parsers[block.language](block.text))


def _examples() -> list[doctest.DocTest]:
    """Every docstring of the two packages that has an example."""
    found = []
    for package in (sgpc_framework, sgpc_plugins):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            found += doctest.DocTestFinder().find(importlib.import_module(module.name))
    return [test for test in found if test.examples]


@pytest.mark.parametrize("example", _examples(), ids=lambda example: example.name)
def test_examples_in_docstrings_run(example):
    assert doctest.DocTestRunner().run(example).failed == 0


# ---------------------------------------------------------------------------------------------
# Links


def _anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as Markdown renderers make them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", h).strip().lower().replace(" ", "-") for h in headings}


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page):
    text = FENCE.sub("", PAGES[page].read_text(encoding="utf-8"))
    for target in re.findall(r"\]\(([^)]+)\)", text):
        path, _, anchor = target.partition("#")
        there = (PAGES[page].parent / path).resolve() if path else PAGES[page]
        assert there.is_file(), f"{page} links to {target}"
        assert there.is_relative_to(ROOT)
        if anchor:
            assert anchor in _anchors(there), f"{page} links to {target}"


def test_every_page_can_be_reached_from_the_index():
    index = (ROOT / "docs/index.md").read_text(encoding="utf-8")
    linked = {str((ROOT / "docs" / t).resolve()) for t in re.findall(r"\]\(([^)#]+)", index)}
    pages = {str(page) for page in ROOT.glob("docs/**/*.md") if page.name != "index.md"}
    assert pages <= linked


# ---------------------------------------------------------------------------------------------
# The reference


@pytest.fixture
def built_in(monkeypatch) -> Registry:
    monkeypatch.setenv("SGPC_LOAD_PLUGINS", "")
    return Registry()


def _rows(page: str, section: str | None = None) -> dict[str, str]:
    """The rows of a page's tables whose first cell is a name in code, by that name."""
    text = PAGES[page].read_text(encoding="utf-8")
    if section is not None:
        (text,) = re.findall(rf"^## {section}\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    return {m[1]: m[0] for m in re.finditer(r"^\| `([^`]+)` \|.*\|$", text, re.MULTILINE)}


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_toml(entry)}" for key, entry in value.items()) + " }"
    return tomli_w.dumps({"x": value}).removeprefix("x = ").strip()


def _stated(option: Option) -> str:
    if option.required:
        return f"`{option.key}` (required)"
    if option.field.default is None:
        return f"`{option.key}` (unset)"
    value = getattr(option.field.default, "name", option.field.default)  # a part goes by its name
    default = re.sub(r"\[\s+|,\s+\]", lambda edge: edge.group().strip(", \n"), _toml(value))
    return f"`{option.key} = {' '.join(default.split())}`"


@pytest.mark.parametrize("kind", KINDS)
def test_the_reference_has_every_part_with_its_options_and_defaults(kind, built_in):
    rows = _rows("docs/reference/parts.md", kind)
    assert rows.keys() == set(built_in.names(kind))
    for name, row in rows.items():
        stated = {_stated(option) for option in options_of(built_in.get(kind, name))}
        options = re.split(r", (?=`)", row.split("|")[-2].strip())
        assert set(options) - {""} == stated


@pytest.mark.parametrize("kind", KINDS)
def test_the_reference_has_every_hook(kind):
    text = PAGES["docs/reference/parts.md"].read_text(encoding="utf-8")
    assert f"## {kind}\n\nHook `{KINDS[kind].hook}`." in text


def test_the_reference_has_every_hyperparameter_with_its_bounds(built_in):
    stated = set(_rows("docs/reference/parts.md", "Hyperparameters").values())
    declared = set()
    for part in built_in.parts():
        for option in options_of(part.cls):
            how = declaration(option.field)
            if how is not None:
                low, high = how.bounds
                declared.add(f"| `{option.key}` | {low:g} to {high:g} | {how.transform} |")
    assert stated == declared


def test_the_reference_has_every_setting_with_its_default():
    defaults = {f.name: DEFAULT_PARTS.get(f.name, f.default) for f in attrs.fields(Config)}
    rows = _rows("docs/reference/config.md")
    assert defaults.keys() <= rows.keys()
    for name, default in defaults.items():
        assert rows[name].startswith(f"| `{name}` | `{_toml(default)}` |")


@pytest.mark.parametrize("kind", KINDS)
def test_the_readme_lists_every_part(kind, built_in):
    names = re.findall(r"`([^`]+)`", _rows("README.md")[kind])
    assert sorted(names[1:]) == sorted(built_in.names(kind))
