"""``sgpc predict``: labels and probabilities for the rows of a table."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sgpc_framework.cli.dask_options import connected, dask_option, read_frames
from sgpc_framework.cli.explanations import HEADING, explanation_cells
from sgpc_framework.cli.model_options import open_classifier, open_model, prediction_options
from sgpc_framework.cli.option_groups import json_option
from sgpc_framework.cli.printing import (
    OutputPath,
    check_output,
    print_json,
    without_formulas,
    write_csv,
)
from sgpc_framework.cli.progress_bars import working

if TYPE_CHECKING:
    from sgpc_framework.tables import Table, TableClassifier


@click.command(name="predict")
@prediction_options
@click.option(
    "-o",
    "--output",
    type=OutputPath(),
    metavar="FILE",
    help="The CSV file to write, replacing what is there. Otherwise standard output.",
)
@click.option(
    "--keep",
    multiple=True,
    metavar="COLUMN",
    help="A column of DATA to repeat before the predictions, such as one that identifies the row. "
    "May be given more than once.",
)
@click.option(
    "--escape-formulas",
    is_flag=True,
    help="Put an apostrophe before texts that a spreadsheet would take for formulas.",
)
@click.option(
    "--explain",
    is_flag=True,
    help="Add a column that says which columns and which basis vectors a prediction comes from.",
)
@dask_option
@json_option
def command(
    model: Path,
    data: Path,
    output: Path | None,
    keep: tuple[str, ...],
    escape_formulas: bool,
    explain: bool,
    cluster: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Predict the label of each row of DATA, and the probability of each class.

    One line of CSV for each row: the column 'predicted' has the label, and 'probability_LABEL' the
    probability of each label. DATA must have the columns that the model was fitted to, in any
    order; others do not matter.

    \b
    sgpc predict species.sgpc new.csv -o predicted.csv --keep id
    sgpc predict model.sgpc 'new-*.parquet' -o predicted/ --dask tcp://host:8786

    With --dask, the folder that -o names gets a Parquet file for each partition of DATA, written by
    the workers: it must be on a disk that all of them see.
    """
    if cluster is not None:
        if explain:
            raise click.UsageError("--explain is for rows of this machine: leave out --dask")
        _predict_on_dask(model, data, output, keep, cluster, as_json, **options)
        return
    if as_json and output:
        raise click.UsageError("-o writes CSV; --json prints to standard output")
    check_output(output, model, data)
    classifier, table = open_model(model, data, None, keep=keep, **options)
    rows = _rows(classifier, table, keep)
    if explain:
        rows = _explained(rows, explanation_cells(classifier, table, as_json))
    if as_json:
        heading = next(rows)
        print_json([dict(zip(heading, row, strict=True)) for row in rows])
    else:
        write_csv(map(without_formulas, rows) if escape_formulas else rows, output)


def _explained(rows: Iterator[list[Any]], cells: list[Any]) -> Iterator[list[Any]]:
    yield [*next(rows), HEADING]
    for row, cell in zip(rows, cells, strict=True):
        yield [*row, cell]


def _rows(classifier: TableClassifier, table: Table, keep: tuple[str, ...]) -> Iterator[list[Any]]:
    from sgpc_framework.metrics.merits import probabilities

    kept = [table.column(name) for name in keep]
    with working("predicting"):
        log_proba = classifier.predict_log_proba(table)
    labels = classifier.decide(log_proba).tolist()
    heading = [f"probability_{label}" for label in classifier.classes.tolist()]
    yield [*(column.name for column in kept), "predicted", *heading]
    proba = probabilities(log_proba).tolist()
    copies = [column.as_words().tolist() for column in kept]
    for row, label in enumerate(labels):
        yield [*(copy[row] for copy in copies), label, *proba[row]]


def _predict_on_dask(
    model: Path,
    data: Path,
    output: Path | None,
    keep: tuple[str, ...],
    cluster: str,
    as_json: bool,
    format_: str | None,
    **options: Any,
) -> None:
    if output is None or as_json:
        raise click.UsageError("--dask writes Parquet files: name their folder with -o")
    if output.exists() and (output.is_file() or any(output.iterdir())):
        raise click.ClickException(
            f"{output} is there and not an empty folder; choose another name"
        )
    with connected(cluster):
        frames = read_frames(data, format_)
        sample = frames.head(1, npartitions=-1)
        classifier = open_classifier(model, options["size"], options["unseen"], options["trust"])
        first = _predicted_frame(sample, classifier, keep)
        predicted = frames.map_partitions(
            _predicted_frame, classifier, keep, meta=first.iloc[:0], enforce_metadata=False
        )
        with working("predicting"):
            predicted.to_parquet(str(output), write_index=False, write_metadata_file=False)


def _predicted_frame(frame: Any, classifier: TableClassifier, keep: tuple[str, ...]) -> Any:
    """Kept columns, predictions and probabilities of a partition."""
    import pandas as pd

    from sgpc_framework.metrics.merits import probabilities

    heading = [f"probability_{label}" for label in classifier.classes.tolist()]
    if not len(frame):
        return pd.DataFrame({name: [] for name in (*keep, "predicted", *heading)})
    log_proba = classifier.predict_log_proba(frame)
    labels = classifier.decide(log_proba)
    kept = {name: frame[name].to_numpy() for name in keep}
    columns = dict(zip(heading, probabilities(log_proba).T, strict=True))
    return pd.DataFrame({**kept, "predicted": labels, **columns})
