"""How commands print tables and JSON, and write files."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import stat
import sys
from collections.abc import Iterable, Sequence
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

if TYPE_CHECKING:
    from rich.console import Console

WIDE = 200

_INVISIBLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""What steers a terminal or turns its text around, and what is no character."""


def visible(text: str) -> str:
    """The text with everything invisible written out, so that data cannot command a terminal.

    >>> visible("\x1b[31mred")
    '\\\\x1b[31mred'
    """
    return _INVISIBLE.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def echo(text: str, err: bool = False, nl: bool = True) -> None:
    """Print a text that may have come from anywhere, to standard output or standard error."""
    with suppress(OSError) if err else nullcontext():  # nobody hears, but the work goes on
        click.echo(visible(text), err=err, nl=nl)


def console() -> Console:
    """Standard output; where it is no terminal, lines are as long as they need to be."""
    from rich.console import Console

    terminal = Console(highlight=False, markup=False)
    return terminal if terminal.is_terminal else Console(highlight=False, markup=False, width=WIDE)


def print_table(
    headings: Sequence[str], rows: Iterable[Sequence[Any]], title: str | None = None, left: int = 1
) -> None:
    """A table whose first columns are texts, and the others numbers."""
    from rich.table import Table

    if title is not None:
        echo(title)  # a title of the table itself would be folded at its width
    table = Table()
    for position, heading in enumerate(headings):
        numbers = position >= left
        side: Literal["left", "right"] = "right" if numbers else "left"
        table.add_column(visible(heading), justify=side, overflow="fold")
    for row in rows:
        table.add_row(*(visible(str(cell)) for cell in row))
    console().print(table)


def print_json(results: Any) -> None:
    """Plain data as JSON, and records (attrs instances) among them as mappings."""
    import attrs  # which the help of the command line does without

    echo(json.dumps(results, indent=2, default=attrs.asdict))


def write_csv(rows: Iterable[Sequence[Any]], path: Path | None) -> None:
    """Rows as CSV, to a file that is written whole or not at all, or to standard output."""
    if is_terminal(path):
        rows = ([visible(str(cell)) for cell in row] for row in rows)
    if path is None:
        csv.writer(sys.stdout, lineterminator="\n").writerows(rows)
        return
    from sgpc_framework.files.whole_file import whole_file

    try:
        with whole_file(path) as file:
            text = io.TextIOWrapper(file, "utf-8", newline="", write_through=True)
            csv.writer(text, lineterminator="\n").writerows(rows)
            text.detach()
    except OSError as error:
        raise click.ClickException(f"{path}: cannot be written: {error.strerror}") from error


def is_terminal(path: Path | None) -> bool:
    """Whether what is written there is seen: by the name of a terminal, or None for standard
    output."""
    if path is None:
        return sys.stdout.isatty()
    try:
        if not stat.S_ISCHR(path.stat().st_mode):
            return False
        with path.open("ab", buffering=0) as device:
            return device.isatty()
    except OSError:
        return False


def without_formulas(row: Iterable[Any]) -> list[Any]:
    """A row whose texts no spreadsheet takes for formulas: an apostrophe stands before them.

    >>> without_formulas(["=1+1", "-3", "@SUM(A1)", -3.0])
    ["'=1+1", '-3', "'@SUM(A1)", -3.0]
    """
    return [f"'{cell}" if _is_formula(cell) else cell for cell in row]


def _is_formula(cell: Any) -> bool:
    if not isinstance(cell, str) or not cell.startswith(("=", "+", "-", "@", "\t", "\r")):
        return False
    try:
        float(cell)
    except ValueError:
        return True
    return False


def check_output(path: Path | None, *inputs: Path) -> None:
    """A complaint before the work, not after it, if a file cannot be written there."""
    if path is None:
        return
    try:
        problem = _problem(path, inputs)
    except OSError as error:
        problem = f"cannot be written: {error.strerror}"
    if problem:
        raise click.ClickException(f"{path} {problem}")


def _problem(path: Path, inputs: Sequence[Path]) -> str | None:
    if path.is_dir():
        return "is a folder; wanted the name of a file"
    if not path.parent.is_dir():
        return f"cannot be written: there is no folder {str(path.parent)!r}"
    if any(given.exists() and path.exists() and path.samefile(given) for given in inputs):
        return "is read by this command, and would be overwritten; choose another name"
    from sgpc_framework.files.whole_file import check_writable

    check_writable(path)
    return None


class OutputPath(click.Path):
    """Where results go; ``-`` is standard output, as everywhere."""

    def __init__(self) -> None:
        super().__init__(path_type=Path, allow_dash=True)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if isinstance(value, str) and value.endswith(_SEPARATORS):
            self.fail(f"{value} names a folder; wanted the name of a file")
        if value != "-":
            return super().convert(value, param, ctx)
        if not STANDARD_OUTPUT.exists():
            self.fail("there is no name for standard output here; wanted that of a file")
        return STANDARD_OUTPUT


STANDARD_OUTPUT = Path("/dev/stdout")

_SEPARATORS = tuple(each for each in (os.sep, os.altsep) if each)
