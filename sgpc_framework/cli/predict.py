"""``sgpc predict``: labels and probabilities for the rows of a table."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sgpc_framework.cli.dask_options import connected, dask_option, read_frames
from sgpc_framework.cli.explanations import HEADING, explanation_cells
from sgpc_framework.cli.model_options import open_classifier, open_pieces, prediction_options
from sgpc_framework.cli.option_groups import json_option
from sgpc_framework.cli.prediction_files import (
    PARQUET,
    Columns,
    check_format,
    csv_file,
    json_output,
    parquet_file,
)
from sgpc_framework.cli.printing import OutputPath, check_output
from sgpc_framework.cli.progress_bars import working
from sgpc_framework.cli.rejected_rows import Rejected

if TYPE_CHECKING:
    from sgpc_framework.tables import Column, Table, TableClassifier


@click.command(name="predict")
@prediction_options
@click.option(
    "-o",
    "--output",
    type=OutputPath(),
    metavar="FILE",
    help="The file to write, replacing what is there: Parquet if its name ends in .parquet or .pq, "
    "CSV otherwise, packed if it ends in .gz. Without it, or with -, standard output.",
)
@click.option(
    "--keep",
    multiple=True,
    metavar="COLUMN",
    help="A column of DATA to repeat before the predictions, such as one that identifies the row. "
    "May be given more than once.",
)
@click.option(
    "--on-bad-row",
    type=click.Choice(("fail", "skip")),
    default="fail",
    show_default=True,
    help="Whether a row that cannot be predicted (a value is missing, say) ends it all, or is left "
    "out.",
)
@click.option(
    "--rejected",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="With --on-bad-row skip, a CSV file that gets the rows that were left out, and why.",
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
    on_bad_row: str,
    rejected: Path | None,
    escape_formulas: bool,
    explain: bool,
    cluster: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Predict the label of each row of DATA, and the probability of each class.

    One line of CSV for each row: the column 'predicted' has the label, and 'probability_LABEL' the
    probability of each label. DATA must have the columns that the model was fitted to, in any
    order; others do not matter. DATA may be -, standard input: CSV, unless --format says otherwise.

    \b
    sgpc predict species.sgpc new.csv -o predicted.csv --keep id
    sgpc predict species.sgpc new.csv -o predicted.parquet --on-bad-row skip --rejected bad.csv
    zcat new.csv.gz | sgpc predict species.sgpc - > predicted.csv
    sgpc predict model.sgpc 'new-*.parquet' -o predicted/ --dask tcp://host:8786

    CSV and Parquet files are read and written piece by piece, so that they may be larger than
    memory. With --dask, the folder that -o names gets a Parquet file for each partition of DATA,
    written by the workers: it must be on a disk that all of them see.
    """
    skip = on_bad_row == "skip"
    if rejected is not None and not skip:
        raise click.UsageError("--rejected is for the rows that --on-bad-row skip leaves out")
    if cluster is not None:
        if skip:
            raise click.UsageError("--on-bad-row skip is for files, not for --dask")
        if explain:
            raise click.UsageError("--explain is for rows of this machine: leave out --dask")
        _predict_on_dask(model, data, output, keep, cluster, as_json, **options)
        return
    if as_json and output:
        raise click.UsageError("-o writes CSV or Parquet; --json prints to standard output")
    check_format(output)
    check_output(output, model, data)
    check_output(rejected, model, data, *([] if output is None else [output]))
    classifier, pieces = open_pieces(model, data, keep=keep, skip=skip, **options)
    with ExitStack() as closing:
        refused = closing.enter_context(Rejected(rejected, escape_formulas)) if skip else None
        if as_json:
            write = closing.enter_context(json_output())
        elif output is not None and output.suffix.lower() in PARQUET:
            write = closing.enter_context(parquet_file(output))
        else:
            write = closing.enter_context(csv_file(output, escape_formulas))
        for piece in pieces:
            table = piece.table if refused is None else refused.without(piece, classifier.encoding)
            columns = _predicted(classifier, table, keep)
            if explain:
                columns[HEADING] = (
                    explanation_cells(classifier, table, as_json) if len(table) else []
                )
            write(columns)


def _predicted(classifier: TableClassifier, table: Table, keep: tuple[str, ...]) -> Columns:
    """Kept columns, labels and probabilities of some rows, which are predicted once."""
    from sgpc_framework.metrics.merits import probabilities

    kept = {column.name: _kept(column) for column in map(table.column, keep)}
    heading = [f"probability_{label}" for label in classifier.classes.tolist()]
    if not len(table):
        return {**kept, "predicted": [], **{name: [] for name in heading}}
    with working("predicting"):
        log_proba = classifier.predict_log_proba(table)
    labels = classifier.decide(log_proba).tolist()
    proba = probabilities(log_proba).T.tolist()
    return {**kept, "predicted": labels, **dict(zip(heading, proba, strict=True))}


def _kept(column: Column) -> list[Any]:
    """The values as they came: whole numbers of a file that has types as such, or else texts."""
    if column.typed != "integer":
        return list(column.as_words())
    return [None if value != value else int(value) for value in column.values.tolist()]


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
    with connected(cluster) as client:
        from sgpc_framework.adapters.dask.cluster import Cluster

        there = Cluster(client)
        frames = read_frames(data, format_)
        (sample,) = there.computed(frames.head(1, npartitions=-1, compute=False))
        classifier = open_classifier(model, options["size"], options["unseen"], options["trust"])
        first = _predicted_frame(sample, classifier, keep)
        predicted = frames.map_partitions(
            _predicted_frame, classifier, keep, meta=first.iloc[:0], enforce_metadata=False
        )
        with working("predicting"):
            written = predicted.to_parquet(
                str(output), write_index=False, write_metadata_file=False, compute=False
            )
            there.computed(written)


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
