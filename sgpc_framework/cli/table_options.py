"""Options of the commands that read tables."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sgpc_framework.cli.option_groups import together
from sgpc_framework.cli.progress_bars import working

if TYPE_CHECKING:
    from sgpc_framework.tables import Table

FORMATS = ("csv", "parquet", "npz", "libsvm")

data_argument = click.argument("data", type=click.Path(path_type=Path))
target_option = click.option(
    "--target",
    metavar="COLUMN",
    help="The column with the labels: its name, or its position from 1 on, -1 for the last. "
    "Without it, 'y' of an npz file and 'label' of a libsvm file.",
)


weight_option = click.option(
    "--weight",
    metavar="COLUMN",
    help="A column with the weights of the rows, which is then no feature: a row of weight 2 "
    "counts as two rows, one of weight 0 not at all.",
)


reading_options = together(
    click.option(
        "--format",
        "format_",
        type=click.Choice(FORMATS),
        help="The format of DATA, if its name does not end in .csv, .tsv, .parquet, .npz, "
        ".libsvm or the like.",
    ),
    click.option(
        "--header/--no-header",
        default=None,
        help="Whether the first row of a CSV file names the columns; otherwise it is looked at.",
    ),
    click.option(
        "--missing",
        multiple=True,
        metavar="TEXT",
        help="A text that stands for a missing value, besides nothing, ?, NA, N/A, #N/A, NaN "
        "and null. May be given more than once.",
    ),
    click.option(
        "--trust",
        is_flag=True,
        help="Let files take more memory than ten times their size and 64 MB (models: 256 MB): "
        "compressed and sparse tables, and large models.",
    ),
)
"""How to read a file: ``format``, ``header``, ``missing``, ``trust``."""


unseen_option = click.option(
    "--unseen",
    type=click.Choice(("refuse", "zero")),
    default="refuse",
    show_default=True,
    help="What a word that training has not seen is to a prediction: an error, or none of the "
    "known ones.",
)


encoding_options = together(
    click.option(
        "--drop",
        multiple=True,
        metavar="COLUMN",
        help="A column to leave out. May be given more than once.",
    ),
    click.option(
        "--words",
        multiple=True,
        metavar="COLUMN",
        help="A column that holds words although they look like numbers. May be given more "
        "than once.",
    ),
    click.option(
        "--impute",
        is_flag=True,
        help="Put the median, or the most frequent word, where a value is missing; otherwise "
        "missing values are refused.",
    ),
    click.option(
        "--standardise/--no-standardise",
        default=True,
        show_default=True,
        help="Whether numbers are shifted and scaled to mean 0 and deviation 1.",
    ),
    click.option(
        "--max-words",
        type=click.IntRange(min=1),
        default=100,
        show_default=True,
        help="The most different words of a column: each becomes a feature.",
    ),
)
"""How columns become features: ``drop``, ``words``, ``impute``, ``standardise``, ..."""


def read_with_target(
    data: Path, target: str | None, format_: str | None, words: tuple[str, ...] = (), **options: Any
) -> tuple[Table, str]:
    """The table, and the name of the column with the labels: words if zeros stand in front."""
    from sgpc_framework.errors import InputError
    from sgpc_framework.tables.table_files import DEFAULT_TARGET, format_of, read_table

    with working(f"reading {data}"):
        table = read_table(data, format=format_, words=words, **options)
    target = target or DEFAULT_TARGET.get(format_ or format_of(data))
    if target is None:
        shown = ", ".join(table.names[:20]) + (", ..." if len(table.names) > 20 else "")
        raise InputError(f"which column has the labels? Say --target; {data} has {shown}")
    column = table.column(target)
    if column.padded:
        with working(f"reading {data}"):
            table = read_table(data, format=format_, words=(*words, column.name), **options)
    return table, column.name
