"""Outcomes as a tidy CSV file, one fit a row, written and read."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from sgpc_framework.errors import InputError
from sgpc_framework.files.whole_file import whole_file
from sgpc_framework.lab.cells import Cell, Outcome
from sgpc_framework.lab.picks import Picks

PLACE = ("data", "partition", "method", "size", "iterations_at_most", "rows")
"""The cell."""

FIGURES = tuple(field for field in attrs.fields(Outcome) if field.name != "picks")
PICKED = tuple(f"picks_{field.name}" for field in attrs.fields(Picks))
HEADER = (*PLACE, *(field.name for field in FIGURES), *PICKED)
MOST_BYTES = 2**28


def write_results(path: Path, outcomes: Mapping[Cell, Outcome]) -> Path:
    """A row a fit, in the order of sets, partitions, methods and sizes."""
    return write_table(path, HEADER, map(_row, sorted(outcomes, key=_place), _in_order(outcomes)))


def read_results(path: Path) -> dict[Cell, Outcome]:
    """What such a file has; columns that an older one lacks are unknown."""
    if not path.is_file():
        raise InputError(f"wanted results of the lab, found no file {str(path)!r}")
    if path.stat().st_size > MOST_BYTES:
        raise InputError(f"{path}: larger than any results: {MOST_BYTES} bytes are most")
    outcomes = {}
    with path.open(encoding="utf-8", newline="") as file:
        for line, row in enumerate(csv.DictReader(file), start=2):
            try:
                cell, outcome = _cell(row), _outcome(row)
            except (KeyError, TypeError, ValueError) as error:
                raise InputError(
                    f"{path}: line {line}: wanted a result of the lab: {error!r}"
                ) from error
            outcomes[cell] = outcome
    return outcomes


def write_table(path: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> Path:
    """A CSV file with six digits of every number."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    for row in rows:
        writer.writerow([f"{x:.6g}" if isinstance(x, float) else x for x in row])
    with whole_file(path) as file:
        file.write(text.getvalue().encode())
    return path


def _place(cell: Cell) -> tuple[Any, ...]:
    return cell.data, cell.partition, cell.method, cell.size, cell.iterations, cell.rows


def _in_order(outcomes: Mapping[Cell, Outcome]) -> Iterable[Outcome]:
    return (outcomes[cell] for cell in sorted(outcomes, key=_place))


def _row(cell: Cell, outcome: Outcome) -> list[object]:
    picks: Sequence[object] = ("",) * len(PICKED)
    if outcome.picks is not None:
        rows, *others = attrs.astuple(outcome.picks)
        picks = " ".join(map(str, rows)), *others
    return [*_place(cell), *(getattr(outcome, field.name) for field in FIGURES), *picks]


def _cell(row: Mapping[str, str]) -> Cell:
    rows = int(row["rows"]) if row["rows"] else None
    data, name = row["data"], row["method"]
    place = data, int(row["partition"]), name, int(row["size"]), int(row["iterations_at_most"])
    return Cell(*place, rows)  # by names alone: it is not going to be computed


def _outcome(row: Mapping[str, str]) -> Outcome:
    values: dict[str, Any] = {}
    for field in FIGURES:
        if text := row.get(field.name, ""):
            values[field.name] = KINDS[str(field.type)](text)
        elif field.default is attrs.NOTHING:
            values[field.name] = "" if str(field.type) == "str" else float("nan")
    if row.get("picks_rows"):
        shares = (row.get(name, "") for name in PICKED[1:])
        numbers = (float(text) if text else None for text in shares)
        values["picks"] = Picks(map(int, row["picks_rows"].split()), *numbers)
    return Outcome(**values)


KINDS: Mapping[str, Any] = {"float": float, "int": int, "str": str}
