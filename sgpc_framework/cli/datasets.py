"""``sgpc datasets``: which benchmark sets there are, and one of them as CSV."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sgpc_framework.cli.option_groups import json_option
from sgpc_framework.cli.printing import (
    OutputPath,
    check_output,
    echo,
    print_json,
    print_table,
    write_csv,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@click.command(name="datasets")
@click.argument("name", required=False)
@click.option(
    "--part",
    type=click.Choice(("all", "train", "test")),
    default="all",
    show_default=True,
    help="All rows, or those that the paper trains or tests with.",
)
@click.option(
    "--partition",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Which division into training and test rows; of a generated set, the seed.",
)
@click.option(
    "--rows", type=click.IntRange(min=1), help="So many rows: the first, or newly generated ones."
)
@click.option("-o", "--output", type=OutputPath(), metavar="FILE", help="The CSV file to write.")
@click.option("--fetch", is_flag=True, help="First get it from OpenML, into SGPC_DATA_DIR.")
@json_option
def command(
    name: str | None,
    part: str,
    partition: int,
    rows: int | None,
    output: Path | None,
    fetch: bool,
    as_json: bool,
) -> None:
    """List the benchmark sets, or write the set NAME as CSV.

    The sets come from the folder that SGPC_DATA_DIR names. Waveform, Twonorm and Ringnorm are
    generated where there is no file, with any number of rows.

    \b
    sgpc datasets
    sgpc datasets waveform --rows 1000 -o waveform.csv
    sgpc datasets banana --part train -o train.csv
    sgpc datasets image --fetch -o image.csv
    """
    if name is None:
        if fetch:
            raise click.UsageError("--fetch wants the NAME of a set")
        _print_list(as_json)
        return
    check_output(output)
    if fetch:
        _fetch(name)
    X, y = _rows_of(name, part, partition, rows)
    write_csv(_lines(X, y), output)


def _fetch(name: str) -> None:
    from sgpc_framework import datasets

    echo(f"wrote {datasets.fetch(name)}", err=True)


def _rows_of(
    name: str, part: str, partition: int, rows: int | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    import numpy as np

    from sgpc_framework.datasets import BENCHMARKS, benchmark
    from sgpc_framework.errors import InputError

    facts = BENCHMARKS.get(name)
    if rows is not None and part == "all" and facts is not None and facts.generate is not None:
        return facts.generate(rows, partition)
    data = benchmark(name, partition)
    X, y = {
        "all": (np.concatenate([data.X, data.X_test]), np.concatenate([data.y, data.y_test])),
        "train": (data.X, data.y),
        "test": (data.X_test, data.y_test),
    }[part]
    if rows is not None and rows > len(y):
        raise InputError(f"{name} has {len(y)} such rows, and {rows} were asked for")
    return X[:rows], y[:rows]


def _lines(X: NDArray[np.float64], y: NDArray[np.float64]) -> Iterator[list[Any]]:
    yield [*(f"x{i}" for i in range(1, X.shape[1] + 1)), "label"]
    for row, label in zip(X.tolist(), y.tolist(), strict=True):
        yield [*row, int(label)]


def _print_list(as_json: bool) -> None:
    from sgpc_framework.datasets import BENCHMARKS, FOLDER_VARIABLE, where

    entries: list[dict[str, Any]] = [
        {
            "name": name,
            "rows": facts.rows,
            "features": facts.features,
            "positive": facts.positive,
            "train": facts.train,
            "test": facts.test,
            "where": where(name),
        }
        for name, facts in BENCHMARKS.items()
    ]
    if as_json:
        print_json(entries)
        return
    print_table(
        ["name", "where", "rows", "features", "labelled +1", "train", "test"],
        [
            [
                entry["name"],
                entry["where"] or "not here",
                entry["rows"],
                entry["features"],
                f"{100 * entry['positive'] / entry['rows']:.1f} %",
                entry["train"],
                entry["test"],
            ]
            for entry in entries
        ],
        left=2,
    )
    if not all(entry["where"] for entry in entries):
        echo(f"Let {FOLDER_VARIABLE} name the folder with the files of the others.")
