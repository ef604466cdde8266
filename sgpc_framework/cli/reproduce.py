"""``sgpc reproduce``: the paper's experiments, run again, with a page about how they came out."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import click

if TYPE_CHECKING:
    from sgpc_framework.lab.running import Progress

EXPERIMENTS = ("figure1", "experiment1", "experiment2", "experiment3", "beyond", "timing")
LINES_EVERY = 30.0
"""Seconds between two lines where there is no terminal."""


class Numbers(click.ParamType[tuple[int, ...]]):
    """Whole numbers of at least 1, by commas."""

    name = "N[,N...]"
    wanted = "numbers of at least 1 by commas"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[int, ...]:
        if isinstance(value, tuple):
            return value
        try:
            numbers = self.check(tuple(int(part) for part in str(value).split(",")))
        except ValueError:
            self.fail(f"wanted {self.wanted}, found {value!r}")
        return numbers

    def check(self, numbers: tuple[int, ...]) -> tuple[int, ...]:
        if min(numbers) < 1:
            raise ValueError
        return numbers


class OnePerSize(Numbers):
    """A number for all sizes, or one for each, such as ``10,10,10,6``."""

    wanted = "one number of at least 1, or four by commas"

    def check(self, numbers: tuple[int, ...]) -> tuple[int, ...]:
        if len(numbers) not in (1, 4):
            raise ValueError
        return super().check(numbers * 4 if len(numbers) == 1 else numbers)


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
        with _progress_display() as watch:
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
    except KeyboardInterrupt:
        click.echo(
            "interrupted: finished cells are kept, the same command goes on from there, and "
            "--report writes the page of what there is",
            err=True,
        )
        raise click.exceptions.Exit(130) from None
    click.echo(f"the page is {page}")


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


@contextmanager
def _progress_display() -> Iterator[Callable[[Progress], object]]:
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn
    from rich.progress import Progress as Bar

    console = Console(stderr=True)
    if not console.is_terminal:
        yield _lines()
        return
    columns = TextColumn("{task.fields[state]}"), BarColumn(), TextColumn("{task.description}")
    with Bar(*columns, console=console, transient=True) as bar:
        task = bar.add_task("starting", total=1.0, state="")

        def show(at: Progress) -> None:
            if at.problem:
                bar.console.print(f"{at.job}: {at.problem}")
            bar.update(task, completed=at.share, description=str(at.job), state=_state(at))

        yield show


def _lines() -> Callable[[Progress], object]:
    """Without a terminal: a line now and then, and one for every problem."""
    last = [-LINES_EVERY]

    def show(at: Progress) -> None:
        now = time.monotonic()
        if at.problem or at.done == at.of or now - last[0] >= LINES_EVERY:
            last[0] = now
            text = f"{_state(at)}: {at.job}"
            click.echo(f"{text}: {at.problem}" if at.problem else text, err=True)

    return show


def _state(at: Progress) -> str:
    left = "" if at.seconds_left is None else f", {_duration(at.seconds_left)} left"
    return f"{at.done}/{at.of}{left}"


def _duration(seconds: float) -> str:
    """
    >>> _duration(59), _duration(125), _duration(7300)
    ('59 s', '2 min', '2.0 h')
    """
    if seconds < 60:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 3600 else f"{seconds / 3600:.1f} h"
