"""``sgpc predict``: labels and probabilities for the rows of a table."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sgpc_framework.cli.model_options import open_model, prediction_options
from sgpc_framework.cli.option_groups import json_option
from sgpc_framework.cli.printing import OutputPath, check_output, print_json, write_csv
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
@json_option
def command(
    model: Path,
    data: Path,
    output: Path | None,
    keep: tuple[str, ...],
    as_json: bool,
    **options: Any,
) -> None:
    """Predict the label of each row of DATA, and the probability of each class.

    One line of CSV for each row: the column 'predicted' has the label, and 'probability_LABEL' the
    probability of each label. DATA must have the columns that the model was fitted to, in any
    order; others do not matter.

    \b
    sgpc predict species.sgpc new.csv -o predicted.csv --keep id
    """
    if as_json and output:
        raise click.UsageError("-o writes CSV; --json prints to standard output")
    check_output(output, model, data)
    classifier, table = open_model(model, data, None, **options)
    rows = _rows(classifier, table, keep)
    if as_json:
        heading = next(rows)
        print_json([dict(zip(heading, row, strict=True)) for row in rows])
    else:
        write_csv(rows, output)


def _rows(classifier: TableClassifier, table: Table, keep: tuple[str, ...]) -> Iterator[list[Any]]:
    from sgpc_framework.metrics.merits import most_probable, probabilities

    kept = [table.column(name) for name in keep]
    with working("predicting"):
        log_proba = classifier.predict_log_proba(table)
    labels = classifier.classes[most_probable(log_proba)].tolist()
    heading = [f"probability_{label}" for label in classifier.classes.tolist()]
    yield [*(column.name for column in kept), "predicted", *heading]
    proba = probabilities(log_proba).tolist()
    copies = [column.as_words().tolist() for column in kept]
    for row, label in enumerate(labels):
        yield [*(copy[row] for copy in copies), label, *proba[row]]
