"""``sgpc export``: a model in another language."""

from __future__ import annotations

from pathlib import Path

import click

from sgpc_framework.cli.printing import OutputPath, check_output, echo
from sgpc_framework.cli.progress_bars import working


@click.command(name="export")
@click.argument("model", type=click.Path(path_type=Path))
@click.option(
    "--to",
    type=click.Choice(("onnx", "numpy", "c", "js")),
    help="The language. Default: as the name of the output ends (.onnx, .py, .c, .js).",
)
@click.option(
    "-o",
    "--output",
    type=OutputPath(),
    metavar="FILE",
    help="The file to write, replacing what is there. Default: MODEL with another ending.",
)
@click.option(
    "--size", type=click.IntRange(min=1), help="Export the model of so many basis vectors."
)
@click.option(
    "--rows",
    type=click.IntRange(min=1, max=100_000),
    default=64,
    show_default=True,
    help="How many random rows to try the file with before it is written.",
)
@click.option("--trust", is_flag=True, help="Load a model of any size.")
def command(
    model: Path, to: str | None, output: Path | None, size: int | None, rows: int, trust: bool
) -> None:
    """Write MODEL in another language, encoding of its table included.

    ONNX runs in any ONNX runtime, a Python module needs NumPy alone, C99 and JavaScript need
    nothing. The file is tried beside the model on random rows first, and nothing is written if a
    probability differs by more than 1e-6. What could not be tried here, for want of a C compiler or
    of Node, is said.

    \b
    sgpc export species.sgpc --to onnx
    sgpc export species.sgpc -o web/species.js
    """
    from sgpc_framework.adapters.portable.exports import SUFFIXES, export
    from sgpc_framework.files.model_files import load

    if output is None:
        if to is None:
            raise click.UsageError("say which language: --to onnx, numpy, c or js; or name a file")
        output = model.with_suffix(SUFFIXES[to])
    check_output(output, model)
    classifier = load(model, trust=trust)
    if size is not None:
        classifier = classifier.truncated(size)
    with working("exporting"):
        exported = export(classifier, output, to, rows=rows)
    echo(f"wrote {exported}", err=True)
