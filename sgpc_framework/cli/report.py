"""``sgpc report``: one page on how a model was made and what it does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from sgpc_framework.cli.model_options import open_model, prediction_options, true_labels_option
from sgpc_framework.cli.printing import OutputPath, check_output, echo
from sgpc_framework.cli.progress_bars import working


@click.command(name="report")
@prediction_options
@click.option(
    "-o",
    "--output",
    type=OutputPath(),
    default=Path("report.html"),
    show_default=True,
    metavar="FILE",
    help="The HTML file to write, replacing what is there.",
)
@true_labels_option
@click.option("--title", metavar="TEXT", help="The heading of the page.")
def command(
    model: Path, data: Path, output: Path, target: str | None, title: str | None, **options: Any
) -> None:
    """Write one HTML page on a MODEL, judged by the rows of DATA.

    What one decides by first: a threshold to move with its costs and the confusion that follows,
    calibration, the greatest surprises and why, which columns matter, all figures of merit; then
    how it was fitted. Of two features, the stages play. The page needs no network and nothing
    beside it. Take DATA that the fit has not seen.

    \b
    sgpc report species.sgpc test.csv -o report.html
    """
    from sgpc_framework.files.whole_file import whole_file
    from sgpc_framework.report import render_table

    check_output(output, model, data)
    classifier, table = open_model(model, data, target, **options)
    try:
        with working("drawing the report"):
            page = render_table(classifier, table, title=title)
        with whole_file(output) as file:
            file.write(page.encode())
    except ImportError as error:
        raise click.ClickException(str(error)) from error
    except OSError as error:
        raise click.ClickException(f"{output}: cannot be written: {error.strerror}") from error
    echo(f"wrote {output}, {len(page) / 1024:.0f} kB: open it in a browser", err=True)
