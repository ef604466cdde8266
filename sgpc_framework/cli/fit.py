"""``sgpc fit``: from a table to a model file."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from tempfile import gettempdir
from time import perf_counter
from typing import TYPE_CHECKING, Any

import click

from sgpc_framework.cli.config_options import (
    build_config,
    changing_options,
    config_option,
    max_basis_option,
)
from sgpc_framework.cli.cost_options import check_costs, cost_options, deciding_by, named_costs
from sgpc_framework.cli.dask_options import connected, dask_option, read_frames
from sgpc_framework.cli.fit_on_dask import fit_frames, worth
from sgpc_framework.cli.fit_request import FitRequest
from sgpc_framework.cli.held_out import (
    as_line,
    counted_rows,
    figures,
    of_frequencies,
    split_rows,
)
from sgpc_framework.cli.option_groups import json_option
from sgpc_framework.cli.printing import STANDARD_OUTPUT, OutputPath, check_output, echo
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
from sgpc_framework.errors import ClusterError, InputError, ModelFileError

if TYPE_CHECKING:
    from sgpc_framework.config.config import Config
    from sgpc_framework.design import Design
    from sgpc_framework.files.checkpoints import Checkpoint
    from sgpc_framework.tables import Table, TableClassifier


@click.command(name="fit")
@data_argument
@target_option
@weight_option
@cost_options
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
@click.option(
    "--checkpoint",
    type=click.Path(path_type=Path),
    metavar="LOG",
    help="A file that keeps what happens, so that 'sgpc resume LOG' can go on if the fit dies.",
)
@click.option(
    "--holdout",
    type=click.FloatRange(0.0, 1.0, min_open=True, max_open=True),
    metavar="SHARE",
    help="Hold out this share of the rows, such as 0.2: the model is fitted to the others, and the "
    "figures on those held out are printed.",
)
@dask_option
@json_option
def command(
    name: str,
    max_basis: int | str | None,
    seed: int | None,
    changes: tuple[str, ...],
    checkpoint: Path | None,
    as_json: bool,
    **asked: Any,
) -> None:
    """Fit a classifier to the table DATA and write it to a file.

    DATA is a CSV, Parquet, npz or libsvm file. Columns of numbers are standardised, columns of
    words become a feature for each word, and both ways are kept with the model.

    Ctrl-C, or SIGTERM, ends the fit and writes the best model so far; a second one gives up. With
    --checkpoint, 'sgpc resume' goes on after either, and after a crash.

    \b
    sgpc fit train.csv --target species -o species.sgpc
    sgpc fit train.csv --target species -o small.sgpc --config fast --max-basis 20
    sgpc fit all.csv --target species -o species.sgpc --holdout 0.2
    sgpc fit 'rows-*.parquet' --target label -o model.sgpc --dask tcp://host:8786
    """
    request = FitRequest(**asked)
    config = build_config(name, changes, max_basis=max_basis, seed=seed)
    fit_as_asked(request, config, checkpoint, as_json)


def fit_as_asked(
    request: FitRequest, config: Config, checkpoint: Path | None, as_json: bool
) -> None:
    """Fit, write the model, and say how it went."""
    check_costs(request.costs, request.threshold)
    _check_outputs(request, checkpoint)
    from sgpc_framework.design import Design
    from sgpc_framework.files.checkpoints import Checkpoint
    from sgpc_framework.tables import TableClassifier

    kept = None if checkpoint is None else Checkpoint(checkpoint, request.as_plain())
    if request.cluster is not None:
        if request.holdout is not None:
            raise click.UsageError("--holdout is for files, not for --dask")
        _fit_on_dask(request, Design(config), kept, checkpoint, as_json)
        return
    table, column = read_with_target(
        request.data,
        request.target,
        request.format_,
        header=request.header,
        words=request.words,
        missing=request.missing,
        trust=request.trust,
    )
    weight, output = request.weight, request.output
    features = table.without([*request.drop, column, *([] if weight is None else [weight])])
    _warn_of_row_numbers(features)
    _check_classes(request, table, column)
    held = None
    if request.holdout is not None:
        _check_columns(features, request)
        table, held = split_rows(table, column, request.holdout, config.seed)
    began = perf_counter()
    with _word_of_the_log(checkpoint), fit_watcher(stoppable=True) as watcher:
        classifier = TableClassifier.fit(
            table,
            column,
            Design(config),
            sample_weight=weight,
            **request.learning,
            progress=watcher,
            checkpoint=kept,
        )
    classifier = deciding_by(classifier, request.costs, request.threshold)
    _save(classifier, output)
    seconds = perf_counter() - began
    summary = _summary(classifier, table, weight, seconds, output, watcher.stopping)
    if held is not None:
        summary |= figures(classifier, table, held, weight)
    _print(summary, output, checkpoint if watcher.stopping else None, as_json)


def _fit_on_dask(
    request: FitRequest,
    design: Design,
    kept: Checkpoint | None,
    checkpoint: Path | None,
    as_json: bool,
) -> None:
    """The same for rows that stay on workers."""
    assert request.cluster is not None
    if request.target is None:
        raise click.UsageError("--dask wants --target, the column with the labels")
    with _word_of_the_log(checkpoint), connected(request.cluster) as client:
        frames = read_frames(request.data, request.format_)
        classifier, seconds, stopped = fit_frames(
            frames, request.target, request.weight, design, **request.learning, checkpoint=kept
        )
        _save(classifier, request.output)  # before anything else that workers could fail at
        if request.costs or request.threshold is not None:  # of classes that only they knew
            try:
                classifier = deciding_by(classifier, request.costs, request.threshold)
            except InputError as error:
                raise InputError(
                    f"{error}. The model is there, without: {request.output}; 'sgpc decide' has "
                    "it decide otherwise"
                ) from error
            _save(classifier, request.output)
        try:
            figures = worth(classifier, frames, request.weight, client)
        except ClusterError as error:
            raise ClusterError(f"{error}. The model is there: {request.output}") from error
    summary = {**_about(classifier, request.output, stopped), **figures, "seconds": seconds}
    _print(summary, request.output, checkpoint if stopped else None, as_json)


def _print(summary: dict[str, Any], output: Path, to_resume: Path | None, as_json: bool) -> None:
    text = json.dumps(summary, indent=2) if as_json else _text(summary)
    echo(text, err=output == STANDARD_OUTPUT)
    _warn_of_memory(output)
    if to_resume is not None:
        echo(_to_go_on(to_resume), err=True)


def _warn_of_memory(output: Path) -> None:
    """A model that no command will open without being told so had better say it now."""
    from sgpc_framework.files.allowance import megabytes
    from sgpc_framework.files.inspection import inspect

    if output.is_file() and (file := inspect(output)).trust:
        echo(
            f"It takes about {megabytes(file.memory)} of memory: commands that open it want "
            "--trust, and sgpc_framework.load wants trust=True.",
            err=True,
        )


def _check_outputs(request: FitRequest, checkpoint: Path | None) -> None:
    check_output(request.output, request.data)
    _check_model_file(request.output)
    if checkpoint is not None:
        check_output(checkpoint, request.data, request.output)


@contextmanager
def _word_of_the_log(checkpoint: Path | None) -> Iterator[None]:
    """Who gives up, or has lost the workers, is told how to go on."""
    try:
        yield
    except (KeyboardInterrupt, ClusterError) as error:
        if checkpoint is not None:
            elsewhere = " --dask ADDRESS" if isinstance(error, ClusterError) else ""
            echo(f"\n{_to_go_on(checkpoint)}{elsewhere}", err=True)
        raise


def _to_go_on(checkpoint: Path) -> str:
    return f"To go on with the fit: sgpc resume {shlex.quote(str(checkpoint))}"


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


def _check_classes(request: FitRequest, table: Table, column: str) -> None:
    """Costs of classes that there are not are refused before the fit, not after it."""
    import numpy as np

    from sgpc_framework.model.costs import Costs
    from sgpc_framework.tables.labels import training_labels

    if request.costs or request.threshold is not None:
        classes = np.unique(training_labels(table, column)[1])
        if request.threshold is not None:
            Costs.of_threshold(classes, request.threshold)
        named_costs(classes, request.costs)


def _warn_of_row_numbers(features: Table) -> None:
    from sgpc_framework.tables.row_numbers import looks_like_row_number

    for column in features.columns:
        if looks_like_row_number(column):
            echo(
                f"Warning: column {column.name!r} looks like a number of the row: it is whole, and "
                "another one in every row. If it is nothing else, leave it out with --drop "
                f"{column.name!r}.",
                err=True,
            )


def _check_columns(features: Table, request: FitRequest) -> None:
    """What is wrong with the rows held out is said before the fit, too."""
    from sgpc_framework.tables import Encoding

    words = {features.column(name).name for name in request.words if name in features.names}
    Encoding.learn(features, impute=request.impute, words=words, max_words=request.max_words)


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

    rows = len(table)
    table, weights = counted_rows(table, weight)
    log_proba, codes = classifier.predict_log_proba(table), classifier.codes(table)
    return {
        **_about(classifier, output, stopped),
        "rows": rows,
        "training_error": error(log_proba, codes, weights, classifier.model.costs),
        "training_nlp": nlp(log_proba, codes, weights),
        **of_frequencies(np.bincount(codes, weights)),
        "seconds": seconds,
    }


def _about(classifier: TableClassifier, output: Path, stopped: bool) -> dict[str, Any]:
    """What can be said without the rows, in the order in which it is printed."""
    from sgpc_framework.model.classes import models_of

    return {
        "rows": 0,
        "columns": len(classifier.encoding.names),
        "features": len(classifier.encoding.features),
        "dates": [column.name for column in classifier.encoding.dates],
        "classes": classifier.classes.tolist(),
        "models": len(models_of(classifier.model)),
        "basis": len(classifier),
        "training_error": 0.0,
        "training_nlp": 0.0,
        "training_frequencies_error": 0.0,
        "training_frequencies_nlp": 0.0,
        "seconds": 0.0,
        "stopped": stopped,
        "model": str(output),
    }


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _text(summary: dict[str, Any]) -> str:
    labels = ", ".join(str(label) for label in summary["classes"][:6])
    more = ", ..." if len(summary["classes"]) > 6 else ""
    each = " a class" if summary["models"] > 1 else ""
    cut = ", stopped early" if summary["stopped"] else ""
    held = f"{as_line(summary)}\n" if "holdout_rows" in summary else ""
    named = ", ".join(summary["dates"])
    dates = f"dates, as features of the calendar: {named} (as words: --words)\n" if named else ""
    return (
        f"{_count(summary['rows'], 'row')}, {_count(summary['columns'], 'column')} "
        f"({_count(summary['features'], 'feature')}), classes {labels}{more}\n{dates}"
        f"{summary['basis']} basis vectors{each}{cut}, {summary['seconds']:.1f} seconds\n"
        f"training error {100 * summary['training_error']:.1f} %, "
        f"training log loss {summary['training_nlp']:.3f} (the class frequencies alone: "
        f"{100 * summary['training_frequencies_error']:.1f} %, "
        f"{summary['training_frequencies_nlp']:.3f})\n"
        f"{held}"
        f"written to {summary['model']}"
    )
