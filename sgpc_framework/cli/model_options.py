"""Opening a model for a table: what ``predict`` and ``evaluate`` have in common."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from sgpc_framework.cli.option_groups import together
from sgpc_framework.cli.progress_bars import working
from sgpc_framework.cli.table_options import data_argument, reading_options

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sgpc_framework.tables import Table, TableClassifier
    from sgpc_framework.tables.table_pieces import Piece

true_labels_option = click.option(
    "--target",
    metavar="COLUMN",
    help="The column with the true labels, if it is not that of the training table.",
)

variant_options = together(
    click.option(
        "--size",
        type=click.IntRange(min=1),
        help="Use the model of so many basis vectors, if it has one.",
    ),
    click.option(
        "--unseen",
        type=click.Choice(("refuse", "zero")),
        help="What a word that training has not seen is: an error, or none of the known ones. "
        "Default: as the model was fitted.",
    ),
)
"""Which of the models in a file, and what it makes of words: ``size``, ``unseen``."""

prediction_options = together(
    click.argument("model", type=click.Path(path_type=Path)),
    data_argument,
    variant_options,
    reading_options,
)
"""MODEL, DATA, and how to use them."""


def open_model(
    model: Path,
    data: Path,
    target: str | None,
    size: int | None,
    unseen: Literal["refuse", "zero"] | None,
    format_: str | None,
    header: bool | None,
    missing: tuple[str, ...],
    trust: bool,
    keep: tuple[str, ...] = (),
) -> tuple[TableClassifier, Table]:
    """The classifier of a model file, and the table for it; ``target`` has the true labels.

    Columns to ``keep``, unless they are features, are read as they are written.
    """
    import attrs

    from sgpc_framework.files.model_files import load
    from sgpc_framework.tables import TableClassifier, read_table
    from sgpc_framework.tables.table_files import DEFAULT_TARGET, format_of

    classifier = load(model, trust=trust)
    words = _words(classifier, keep)
    if isinstance(classifier, TableClassifier) and classifier.classes.dtype.kind == "U":
        words = (*words, classifier.target)
    with working(f"reading {data}"):
        table = read_table(
            data, format=format_, header=header, words=words, missing=missing, trust=trust
        )
    if not isinstance(classifier, TableClassifier):
        labels = target or DEFAULT_TARGET.get(format_ or format_of(data))
        classifier = TableClassifier.of_matrix_model(classifier, table, labels)
    if target is not None:
        classifier = attrs.evolve(classifier, target=table.column(target).name)
    return changed(classifier, size, unseen), table


def open_pieces(
    model: Path,
    data: Path,
    size: int | None,
    unseen: Literal["refuse", "zero"] | None,
    format_: str | None,
    header: bool | None,
    missing: tuple[str, ...],
    trust: bool,
    keep: tuple[str, ...],
    skip: bool,
) -> tuple[TableClassifier, Iterator[Piece]]:
    """The classifier of a model file, and the table for it piece by piece."""
    from itertools import chain

    from sgpc_framework.files.model_files import load
    from sgpc_framework.tables import TableClassifier
    from sgpc_framework.tables.table_files import DEFAULT_TARGET, format_of
    from sgpc_framework.tables.table_pieces import STANDARD_INPUT, read_pieces

    classifier = load(model, trust=trust)
    pieces = read_pieces(
        data,
        format=format_,
        header=header,
        words=_words(classifier, keep),
        missing=missing,
        trust=trust,
        skip=skip,
    )
    with working(f"reading {data}"):
        first = next(pieces)
    if not isinstance(classifier, TableClassifier):
        kind = format_ or ("csv" if data == STANDARD_INPUT else format_of(data))
        labels = DEFAULT_TARGET.get(kind)
        classifier = TableClassifier.of_matrix_model(classifier, first.table, labels)
    return changed(classifier, size, unseen), chain([first], pieces)


def open_classifier(
    model: Path,
    size: int | None,
    unseen: Literal["refuse", "zero"] | None,
    trust: bool,
) -> TableClassifier:
    """The classifier of a model file for tables that are elsewhere."""
    from sgpc_framework.errors import InputError
    from sgpc_framework.files.model_files import load
    from sgpc_framework.tables import TableClassifier

    classifier = load(model, trust=trust)
    if not isinstance(classifier, TableClassifier):
        raise InputError(
            f"{model}: wanted a model that was fitted to a table (sgpc fit), found one of arrays, "
            "which does not know the columns"
        )
    return changed(classifier, size, unseen)


def _words(classifier: object, keep: Sequence[str]) -> tuple[str, ...]:
    """The columns that are read as words, those to ``keep`` among them unless they are features."""
    from sgpc_framework.tables import TableClassifier

    if not isinstance(classifier, TableClassifier):
        return ()
    features = classifier.encoding.names
    return (*classifier.encoding.words, *(name for name in keep if name not in features))


def changed(
    classifier: TableClassifier, size: int | None, unseen: Literal["refuse", "zero"] | None
) -> TableClassifier:
    """The classifier of a size, with another opinion of words that it has not seen."""
    import attrs

    if unseen is not None:
        classifier = attrs.evolve(
            classifier, encoding=attrs.evolve(classifier.encoding, unseen=unseen)
        )
    return classifier if size is None else classifier.truncated(size)
