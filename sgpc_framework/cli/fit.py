"""``sgpc fit``: from a table to a model file."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from tempfile import gettempdir
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal

import click

from sgpc_framework.cli.config_options import (
    build_config,
    changing_options,
    config_option,
    max_basis_option,
)
from sgpc_framework.cli.option_groups import json_option
from sgpc_framework.cli.printing import STANDARD_OUTPUT, OutputPath, check_output
from sgpc_framework.cli.progress_bars import fit_watcher
from sgpc_framework.cli.table_options import (
    data_argument,
    encoding_options,
    read_with_target,
    reading_options,
    target_option,
    unseen_option,
    weight_option,
)
from sgpc_framework.errors import ModelFileError

if TYPE_CHECKING:
    from sgpc_framework.tables import Table, TableClassifier


@click.command(name="fit")
@data_argument
@target_option
@weight_option
@click.option(
    "-o",
    "--output",
    type=OutputPath(),
    required=True,
    metavar="MODEL",
    help="The model file. One that is there is replaced when the fit is done.",
)
@config_option
@max_basis_option
@changing_options
@encoding_options
@unseen_option
@reading_options
@json_option
def command(
    data: Path,
    target: str | None,
    weight: str | None,
    output: Path,
    name: str,
    max_basis: int | str | None,
    seed: int | None,
    changes: tuple[str, ...],
    drop: tuple[str, ...],
    words: tuple[str, ...],
    impute: bool,
    standardise: bool,
    unseen: Literal["refuse", "zero"],
    max_words: int,
    format_: str | None,
    header: bool | None,
    missing: tuple[str, ...],
    trust: bool,
    as_json: bool,
) -> None:
    """Fit a classifier to the table DATA and write it to a file.

    DATA is a CSV, Parquet, npz or libsvm file. Columns of numbers are standardised, columns of
    words become a feature for each word, and both ways are kept with the model.

    Ctrl-C, or SIGTERM, ends the fit and writes the best model so far; a second one gives up.

    \b
    sgpc fit train.csv --target species -o species.sgpc
    sgpc fit train.csv --target species -o small.sgpc --config fast --max-basis 20
    """
    check_output(output, data)
    _check_model_file(output)
    config = build_config(name, changes, max_basis=max_basis, seed=seed)

    from sgpc_framework.design import Design
    from sgpc_framework.tables import TableClassifier

    table, column = read_with_target(
        data, target, format_, header=header, words=words, missing=missing, trust=trust
    )
    _warn_of_counters(table.without([*drop, column, *([] if weight is None else [weight])]))
    began = perf_counter()
    with fit_watcher(stoppable=True) as watcher:
        classifier = TableClassifier.fit(
            table,
            column,
            Design(config),
            sample_weight=weight,
            drop=drop,
            words=words,
            standardise=standardise,
            impute=impute,
            unseen=unseen,
            max_words=max_words,
            progress=watcher,
        )
    _save(classifier, output)
    seconds = perf_counter() - began
    summary = _summary(classifier, table, weight, seconds, output, watcher.stopping)
    text = json.dumps(summary, indent=2) if as_json else _text(summary)
    click.echo(text, err=output == STANDARD_OUTPUT)


def _check_model_file(path: Path) -> None:
    """A model may be replaced by a model. Anything else, a table say, is not ours to destroy."""
    from sgpc_framework.files.archive import is_sealed

    if path.is_file() and path.stat().st_size and not is_sealed(path):
        raise click.ClickException(
            f"{path} is there and is not a model file; choose another name, or delete it"
        )


def _save(classifier: TableClassifier, output: Path) -> None:
    """Write the model; if that fails, beside its place or for the time being, so that hours of
    computing are not lost."""
    try:
        classifier.save(output)
    except ModelFileError as error:
        spare = f"{output.stem[:100]}-{token_hex(4)}.sgpc"
        beside = (output.parent,) if output.is_file() or not output.exists() else ()
        for folder in (*beside, Path(gettempdir())):
            with suppress(ModelFileError):
                classifier.save(folder / spare)
                raise click.ClickException(
                    f"{error}; the model was not lost: it is in {folder / spare}"
                ) from error
        raise


def _warn_of_counters(features: Table) -> None:
    import numpy as np

    for column in features.columns:
        if column.is_numeric and len(features) > 2 and np.all(np.diff(column.values) == 1.0):
            click.echo(
                f"Warning: column {column.name!r} numbers the rows. If it is nothing else, leave "
                f"it out with --drop {column.name!r}.",
                err=True,
            )


def _summary(
    classifier: TableClassifier,
    table: Table,
    weight: str | None,
    seconds: float,
    output: Path,
    stopped: bool,
) -> dict[str, Any]:
    import numpy as np

    from sgpc_framework.metrics.merits import error, nlp
    from sgpc_framework.tables.row_weights import weights_of

    rows, weights = len(table), None
    if weight is not None:
        _, weights = weights_of(table, weight)
        counted = np.flatnonzero(weights)
        table, weights = table.rows(counted), weights[counted]
    log_proba, codes = classifier.predict_log_proba(table), classifier.codes(table)
    return {
        "rows": rows,
        "columns": len(classifier.encoding.names),
        "features": len(classifier.encoding.features),
        "classes": classifier.classes.tolist(),
        "basis": len(classifier),
        "training_error": error(log_proba, codes, weights),
        "training_nlp": nlp(log_proba, codes, weights),
        "seconds": seconds,
        "stopped": stopped,
        "model": str(output),
    }


def _text(summary: dict[str, Any]) -> str:
    labels = ", ".join(str(label) for label in summary["classes"][:6])
    more = ", ..." if len(summary["classes"]) > 6 else ""
    each = " a class" if len(summary["classes"]) > 2 else ""
    cut = ", stopped early" if summary["stopped"] else ""
    return (
        f"{summary['rows']} rows, {summary['columns']} columns "
        f"({summary['features']} features), classes {labels}{more}\n"
        f"{summary['basis']} basis vectors{each}{cut}, {summary['seconds']:.1f} seconds\n"
        f"training error {100 * summary['training_error']:.1f} %, "
        f"training NLP {summary['training_nlp']:.3f}\n"
        f"written to {summary['model']}"
    )
