"""Rows that are left out of a prediction: counted, and written to a file with their reasons."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Self

from sgpc_framework.cli.prediction_files import Columns, Write, csv_file
from sgpc_framework.cli.printing import echo

if TYPE_CHECKING:
    from sgpc_framework.tables import Encoding, Table
    from sgpc_framework.tables.table_pieces import Piece, Reject

SHOWN = 5
"""So many reasons are told where no file takes them."""


class Rejected:
    """The rows that were left out; when all is done, it says how many."""

    def __init__(self, path: Path | None, escape_formulas: bool) -> None:
        self._path = path
        self._closing = ExitStack()
        self._write: Write | None = None
        self._rows = self._count = 0
        self._shown: list[str] = []
        if path is not None:
            self._write = self._closing.enter_context(csv_file(path, escape_formulas))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        self._closing.__exit__(kind, *rest)  # type: ignore[arg-type]
        if kind is None and self._count:
            where = f": see {self._path}" if self._path else ""
            echo(f"{self._count} of {self._rows} rows were left out{where}", err=True)
            for line in self._shown if self._path is None else []:
                echo(f"  {line}", err=True)
            if self._path is None and self._count > SHOWN:
                echo("  ...; --rejected FILE keeps them all", err=True)

    def without(self, piece: Piece, encoding: Encoding) -> Table:
        """The rows of a piece that can be predicted."""
        import numpy as np

        from sgpc_framework.tables.bad_rows import row_faults

        table = piece.table
        bad = row_faults(encoding, table)
        rejects = sorted([*piece.rejects, *_rejects(table, bad)], key=lambda reject: reject.row)
        self._rows += len(table) + len(piece.rejects)
        self._count += len(rejects)
        for reject in rejects[: SHOWN - len(self._shown)]:
            self._shown.append(f"row {reject.row}: {reject.reason}")
        if self._write is not None:
            self._write(_columns(rejects, table.names))
        return table.rows(np.setdiff1d(np.arange(len(table)), list(bad))) if bad else table


def _rejects(table: Table, bad: dict[int, str]) -> Iterator[Reject]:
    import numpy as np

    from sgpc_framework.tables.table_pieces import Reject

    places = np.fromiter(bad, dtype=np.intp, count=len(bad))
    rows = zip(*(c.as_words() for c in table.rows(places).columns), strict=True)
    for place, cells, reason in zip(places.tolist(), rows, bad.values(), strict=True):
        row = place if table.origin is None else int(table.origin[place])
        line = None if table.first_line is None else table.first_line + row
        yield Reject(row + 1, line, reason, tuple("" if c is None else c for c in cells))


def _columns(rejects: list[Reject], names: Sequence[str]) -> Columns:
    """Number, line and reason of each row, and its cells as far as they fit."""
    columns: Columns = {
        _free("row", names): [reject.row for reject in rejects],
        _free("line", names): [reject.line for reject in rejects],
        _free("reason", names): [reject.reason for reject in rejects],
    }
    for at, name in enumerate(names):
        columns[name] = ["".join(reject.cells[at : at + 1]) for reject in rejects]
    return columns


def _free(name: str, names: Sequence[str]) -> str:
    """The name, or one like it that no column has."""
    while name in names:
        name = f"rejected_{name}"
    return name
