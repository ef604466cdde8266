"""Docstrings as they are written here, turned into what Sphinx reads.

An indented block is code or a picture made of text: it becomes a literal block. In the table of
``sgpc_framework.authors`` every name becomes a link to its entry. The estimators have docstrings in
the form of scikit-learn.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import takewhile
from textwrap import dedent
from typing import Any

from sphinx.application import Sphinx
from sphinx.ext.napoleon import Config, NumpyDocstring

BLANK = re.compile(r"\s*$")
LIST = re.compile(r"(\*|-|\d+\.|#\.)\s|\.\. |:\w+[ :]|>>> |=+( =+)*$")
RULE = re.compile(r"[=-]{3,}( +[=-]{3,})*$")
NAME = re.compile(r"``(\w+)``")


def literal_blocks(lines: list[str]) -> Iterator[str]:
    """The lines, with a mark before each block that is indented for no other reason."""
    before = ""  # the last line that stood at the margin
    inside = False
    for number, line in enumerate(lines):
        if BLANK.match(line):
            yield line
            continue
        if not line.startswith(" "):
            before, inside = line, False
        elif not inside and BLANK.match(lines[number - 1]) and not LIST.match(before):
            yield from (f".. code-block:: {_language(lines[number:])}", "")
            inside = True
        yield line


def _language(lines: list[str]) -> str:
    """What the block at the beginning of some lines is written in."""
    block = list(takewhile(lambda line: BLANK.match(line) or line.startswith(" "), lines))
    try:
        ast.parse(dedent("\n".join(block)))
    except SyntaxError:
        return "text"
    return "python"


def linked_table(lines: list[str]) -> Iterator[str]:
    """A table of names as one table a section, with links."""
    inside = False
    for line in lines:
        if RULE.match(line):
            inside = True
        elif inside and line.startswith("``"):
            names, meaning = re.match(r"((?:``\w+``(?:, )?)+)\s+(.*)", line).groups()  # type: ignore[union-attr]
            yield f"   * - {NAME.sub(_link, names)}"
            yield f"     - {meaning}"
        elif inside and line.strip():
            yield from ("", f".. rubric:: {line.strip().capitalize()}", "")
            yield from (".. list-table::", "   :widths: 40 60", "   :class: names", "")
        else:
            yield line


def _link(match: re.Match[str]) -> str:
    import sgpc_framework
    from sgpc_framework import protocols

    name = match[1]
    home = "protocols" if name in protocols.__all__ else "authors"
    target = name if name in sgpc_framework.__all__ else f"{home}.{name}"
    return f":py:obj:`{name} <sgpc_framework.{target}>`"


def rewritten(_app: Sphinx, what: str, name: str, _obj: Any, _opt: Any, lines: list[str]) -> None:
    """Called by autodoc for every docstring; changes the lines in place."""
    if what == "module" and name == "sgpc_framework.authors":
        lines[:] = linked_table(lines)
    if "Parameters" in lines:
        lines[:] = NumpyDocstring(lines, Config(napoleon_use_ivar=True)).lines()
    else:
        lines[:] = literal_blocks(lines)


def readable(_app: Sphinx, *about: Any) -> tuple[str | None, str | None]:
    """Called by autodoc for every signature: a default that is a function has no address."""
    signature, returned = about[-2:]
    return signature and re.sub(r"<function [^>]*>+( at 0x\w+>)?", "...", signature), returned


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("autodoc-process-docstring", rewritten)
    app.connect("autodoc-process-signature", readable)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
