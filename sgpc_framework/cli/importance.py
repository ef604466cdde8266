"""``sgpc importance``: which columns of a table a model gets its knowledge from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from sgpc_framework.cli.model_options import open_model, prediction_options, true_labels_option
from sgpc_framework.cli.option_groups import json_option
from sgpc_framework.cli.printing import echo, print_json, print_table
from sgpc_framework.cli.progress_bars import working


@click.command(name="importance")
@prediction_options
@true_labels_option
@click.option(
    "--repeats",
    type=click.IntRange(min=1),
    default=5,
    show_default=True,
    help="How often each column is permuted.",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, help="The seed of the permutations.")
@json_option
def command(
    model: Path,
    data: Path,
    target: str | None,
    repeats: int,
    seed: int,
    as_json: bool,
    **options: Any,
) -> None:
    """Say which columns of DATA matter to a MODEL: what its log loss loses without each.

    The values of a column are dealt out anew among the rows, all features of a column of words
    together, and the log loss rises by what the model got from the column. After the ± is a
    standard error, over rows and repeats: what is less than two of them may be nothing. Take DATA
    that the fit has not seen. Columns that say the same stand in for each other.

    \b
    sgpc importance species.sgpc test.csv
    """
    classifier, table = open_model(model, data, target, **options)
    with working("permuting columns"):
        importances = classifier.importance(table, repeats=repeats, seed=seed)
    if as_json:
        print_json([{"column": e.column, "loss": e.loss, "noise": e.noise} for e in importances])
        return
    print_table(
        ["column", "log loss rises by", ""],
        [
            [e.column, f"{e.loss:z.4f}", f"± {e.noise:.4f}{'' if e.matters else ' ?'}"]
            for e in importances
        ],
        title=f"{model} on {data}: {len(table)} rows, {repeats} permutations of each column",
    )
    if not all(each.matters for each in importances):
        echo("? less than two standard errors: it may be nothing")
