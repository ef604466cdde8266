"""How commands print tables and JSON, and write files."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import click

if TYPE_CHECKING:
    from rich.console import Console

WIDE = 200


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
        click.echo(title)  # a title of the table itself would be folded at its width
    table = Table()
    for position, heading in enumerate(headings):
        numbers = position >= left
        table.add_column(heading, justify="right" if numbers else "left", overflow="fold")
    for row in rows:
        table.add_row(*map(str, row))
    console().print(table)


def print_json(results: Any) -> None:
    """Plain data as JSON, and records (attrs instances) among them as mappings."""
    click.echo(json.dumps(results, indent=2, default=attrs.asdict))


def write_csv(rows: Iterable[Sequence[Any]], path: Path | None) -> None:
    """Rows as CSV, to a file that is written whole or not at all, or to standard output."""
    if path is None:
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerows(rows)
        return
    from sgpc_framework.files.whole_file import whole_file

    try:
        with whole_file(path) as file:
            text = io.TextIOWrapper(file, "utf-8", newline="", write_through=True)
            csv.writer(text, lineterminator="\n").writerows(rows)
            text.detach()
    except OSError as error:
        raise click.ClickException(f"{path}: cannot be written: {error.strerror}") from error


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
        if value != "-":
            return super().convert(value, param, ctx)
        if not STANDARD_OUTPUT.exists():
            self.fail("there is no name for standard output here; wanted that of a file")
        return STANDARD_OUTPUT


STANDARD_OUTPUT = Path("/dev/stdout")
