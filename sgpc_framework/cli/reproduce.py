"""``sgpc reproduce``: the paper's experiments, run again, with a page about how they came out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import attrs
import click

from sgpc_framework.cli.option_groups import Numbers
from sgpc_framework.cli.printing import echo
from sgpc_framework.cli.run_progress import progress_display

EXPERIMENTS = ("figure1", "experiment1", "experiment2", "experiment3", "beyond", "timing")


class OnePerSize(Numbers):
    """A number for all sizes, or one for each, such as ``10,10,10,6``."""

    wanted = "one number of at least 1, or four by commas"

    def check(self, numbers: tuple[int, ...]) -> tuple[int, ...]:
        if len(numbers) not in (1, 4):
            raise ValueError
        return super().check(numbers * 4 if len(numbers) == 1 else numbers)


def _not_zero(_: click.Context, __: click.Parameter, value: int) -> int:
    if value == 0:
        raise click.BadParameter("wanted a number of processes, or -1 for one a processor, found 0")
    return value


@click.command(name="reproduce")
@click.option("--quick", is_flag=True, help="Few rows, partitions and rounds: some minutes.")
@click.option(
    "--only",
    multiple=True,
    type=click.Choice(EXPERIMENTS),
    help="This part of it; several times for several parts.",
)
@click.option("--sets", "sets", multiple=True, help="This data set; several times for several.")
@click.option("--partitions", type=OnePerSize(), help="How many, at all sizes or at each.")
@click.option("--iterations", type=OnePerSize(), help="Outer iterations at most, likewise.")
@click.option("--working-sets", type=Numbers(), help="The working sets of Experiment 2.")
@click.option(
    "-j",
    "--jobs",
    type=int,
    default=-1,
    show_default=True,
    callback=_not_zero,
    help="Processes; -1: one a processor.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("reproduction"),
    show_default=True,
    help="Folder of the page, its figures and the CSV files.",
)
@click.option(
    "--cells",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder of the finished cells.  [default: cells in the output folder]",
)
@click.option("--report", "report_only", is_flag=True, help="Only the page, of what is finished.")
def command(
    quick: bool,
    only: tuple[str, ...],
    sets: tuple[str, ...],
    partitions: tuple[int, int, int, int] | None,
    iterations: tuple[int, int, int, int] | None,
    working_sets: tuple[int, ...] | None,
    jobs: int,
    output: Path,
    cells: Path | None,
    report_only: bool,
) -> None:
    """Run the paper's experiments and write a page that compares them with its statements.

    A cell is one fit. Finished cells are kept and not computed again, so an interrupted run goes on
    where it was. The six data sets are read from SGPC_DATA_DIR; three of them are generated where
    it does not have them, and the others left out.
    """
    from sgpc_framework.lab import plan
    from sgpc_framework.lab.reproduction import reproduce

    scale = plan.quick() if quick else plan.Scale()
    changes: dict[str, Any] = {
        "sets": sets,
        "partitions": partitions,
        "iterations": iterations,
        "working_sets": working_sets,
    }
    scale = attrs.evolve(scale, **{name: value for name, value in changes.items() if value})
    try:
        with progress_display() as watch:
            page = reproduce(
                output,
                scale,
                only or EXPERIMENTS,
                cells=cells,
                workers=jobs,
                watch=watch,
                compute=not report_only,
                command=_command_line(quick, only=only, **changes),
            )
    except ImportError as error:
        raise click.ClickException(str(error)) from error
    except OSError as error:
        raise click.ClickException(
            f"{error.filename or output}: cannot be written: {error.strerror}; finished cells are "
            "kept, and the same command goes on from there"
        ) from error
    except KeyboardInterrupt:
        echo(
            "interrupted: finished cells are kept, the same command goes on from there, and "
            "--report writes the page of what there is",
            err=True,
        )
        raise click.exceptions.Exit(130) from None
    echo(f"the page is {page}")


def _command_line(quick: bool, **options: tuple[object, ...] | None) -> str:
    """The command with the options that matter to its results.

    >>> _command_line(True, only=("timing", "beyond"), partitions=(2, 2, 2, 1), iterations=None)
    'sgpc reproduce --quick --only timing --only beyond --partitions 2,2,2,1'
    """
    words = ["sgpc reproduce", *(["--quick"] if quick else [])]
    for name, values in options.items():
        if values and isinstance(values[0], int):
            words.append(f"--{name.replace('_', '-')} {','.join(map(str, values))}")
        else:
            words += [f"--{name} {value}" for value in values or ()]
    return " ".join(words)
