"""Where predictions go, piece by piece: CSV, Parquet if the name of the file says so, or JSON."""

from __future__ import annotations

import csv
import gzip
import io
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, BinaryIO, cast

import click

from sgpc_framework.cli.printing import echo, is_terminal, visible, without_formulas

Columns = dict[str, list[Any]]
"""Values by the names of their columns, one a row."""

Write = Callable[[Columns], None]

PARQUET = (".parquet", ".pq")
OTHERS = (".npz", ".libsvm", ".svm", ".svmlight", ".xls", ".xlsx", ".json", ".feather", ".arrow")


def check_format(path: Path | None) -> None:
    """A complaint before the work if the name of a file promises what is not written."""
    if path is not None and path.suffix.lower() in OTHERS:
        raise click.ClickException(
            f"{path}: predictions are written as CSV or Parquet; choose a name that ends in .csv, "
            f".csv.gz or .parquet{'; --json prints JSON' if path.suffix == '.json' else ''}"
        )
    if path is not None and path.suffix.lower() in PARQUET:
        _parquet(path)


@contextmanager
def csv_file(path: Path | None, escape_formulas: bool = False) -> Iterator[Write]:
    """Rows as CSV, to a file that is written whole or not at all, or to standard output."""
    with ExitStack() as closing:
        text: Any = sys.stdout
        if path is not None:
            file = closing.enter_context(_whole(path))
            if path.suffix.lower() == ".gz":
                packed = gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0)
                file = cast("BinaryIO", closing.enter_context(packed))
            text = io.TextIOWrapper(file, "utf-8", newline="", write_through=True)
            closing.callback(text.detach)
        writer = csv.writer(text, lineterminator="\n")
        shown = is_terminal(path)
        begun = False

        def write(columns: Columns) -> None:
            nonlocal begun
            rows: Iterator[Sequence[Any]] = zip(*columns.values(), strict=True)
            if escape_formulas:
                rows = map(without_formulas, rows)
            if shown:
                rows = ([visible(str(cell)) for cell in row] for row in rows)
            if not begun:
                heading = without_formulas(columns) if escape_formulas else list(columns)
                writer.writerow([visible(name) for name in heading] if shown else heading)
                begun = True
            writer.writerows(rows)

        yield write


@contextmanager
def parquet_file(path: Path) -> Iterator[Write]:
    """Rows as Parquet, in a file that is written whole or not at all."""
    pyarrow, parquet = _parquet(path)
    with ExitStack() as closing:
        file = closing.enter_context(_whole(path))
        writer: Any = None

        def write(columns: Columns) -> None:
            nonlocal writer
            schema = None if writer is None else writer.schema
            table = pyarrow.table(columns, schema=schema)
            if writer is None:
                fields = [_settled(pyarrow, field) for field in table.schema]
                table = table.cast(pyarrow.schema(fields))
                writer = closing.enter_context(parquet.ParquetWriter(file, table.schema))
            writer.write_table(table)

        yield write


def _settled(pyarrow: Any, field: Any) -> Any:
    """A column without any value so far is one of texts."""
    return field.with_type(pyarrow.string()) if pyarrow.types.is_null(field.type) else field


@contextmanager
def json_output() -> Iterator[Write]:
    """A list of JSON objects on standard output, one a line."""
    begun = False

    def write(columns: Columns) -> None:
        nonlocal begun
        for row in zip(*columns.values(), strict=True):
            echo(",\n" if begun else "[\n", nl=False)
            echo(json.dumps(dict(zip(columns, row, strict=True))), nl=False)
            begun = True

    yield write
    echo("\n]" if begun else "[]")


def _parquet(path: Path) -> tuple[Any, Any]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise click.ClickException(
            f"{path}: writing Parquet needs pyarrow: pip install 'sgpc-framework[parquet]'"
        ) from None
    return pyarrow, parquet


@contextmanager
def _whole(path: Path) -> Iterator[BinaryIO]:
    from sgpc_framework.files.whole_file import whole_file

    try:
        with whole_file(path) as file:
            yield file
    except OSError as error:
        raise click.ClickException(f"{path}: cannot be written: {error.strerror}") from error
