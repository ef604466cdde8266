"""``sgpc lab``: methods compared on many data sets, and the results of several people merged."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Any

import click

from sgpc_framework.cli.option_groups import Numbers
from sgpc_framework.cli.printing import echo
from sgpc_framework.cli.run_progress import progress_display


@click.group(name="lab", no_args_is_help=True)
def command() -> None:
    """Compare methods on many data sets: is my selector better?"""


@command.command()
@click.argument("plan", type=click.Path(path_type=Path), required=False)
@click.option(
    "-m",
    "--method",
    "methods",
    multiple=True,
    metavar="METHOD",
    help="A method to compare: a part with options, 'pool:keep=40'; file.py:Class; a preset; a "
    "TOML or JSON file; or several of these, 'fast + pool'. May be given more than once.",
)
@click.option(
    "--suite",
    multiple=True,
    metavar="SUITE",
    help="Data sets: generated, paper, openml:ID,..., a folder of tables, a table, or the name "
    "of a set. May be given more than once.  [default: generated]",
)
@click.option("--sets", multiple=True, metavar="NAME", help="Of these, only this data set.")
@click.option("--target", metavar="COLUMN", help="The column with the labels of tables.")
@click.option(
    "--sizes", type=Numbers(), metavar="N,...", help="Numbers of basis vectors.  [default: 40]"
)
@click.option("--partitions", type=click.IntRange(min=1), help="Of each data set.  [default: 10]")
@click.option(
    "--iterations", type=click.IntRange(min=1), help="Outer iterations at most.  [default: 10]"
)
@click.option("--rows", type=click.IntRange(min=2), help="Training rows at most.  [default: all]")
@click.option(
    "--control", metavar="METHOD", help="With which the others are compared.  [default: the first]"
)
@click.option(
    "--against",
    multiple=True,
    metavar="paper|FILE",
    help="Known results to compare with: those of the paper's methods, or a results.csv.",
)
@click.option("--base", metavar="NAME|FILE", help="What methods change.  [default: the paper's]")
@click.option(
    "-j", "--jobs", type=int, default=-1, show_default=True, help="Processes; -1: one a processor."
)
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("comparison"),
    show_default=True,
    help="Folder of the page, its pictures, the CSV files and the finished cells.",
)
@click.option("--report", "report_only", is_flag=True, help="Only the page, of what is finished.")
def run(
    plan: Path | None,
    methods: tuple[str, ...],
    suite: tuple[str, ...],
    jobs: int,
    output: Path,
    report_only: bool,
    **settings: Any,
) -> None:
    """Compare methods, by options or by the TOML file PLAN, and write a page about it.

    Every method is fitted to every partition of every data set, at every size. Finished fits are
    kept, so the same command goes on where it was interrupted. Options change what PLAN says.

    \b
    sgpc lab run -m pool -m 'adaptive-sampling:working_set=2' --sizes 20,40 -o results
    sgpc lab run -m mine.py:Selector --suite paper --against paper -o results
    """
    from sgpc_framework.lab.comparison_plan import Plan
    from sgpc_framework.lab.judgement import fewest_partitions
    from sgpc_framework.lab.laboratory import run_plan

    said = {key: value for key, value in settings.items() if value not in (None, ())}
    if methods:
        said["methods"] = list(methods)
    if plan is not None:
        said |= {"suite": list(suite)} if suite else {}
        chosen = Plan.from_file(plan, downloads=output / "data", **said)
    elif methods:
        del said["methods"]
        chosen = Plan.of(methods, suite or "generated", downloads=output / "data", **said)
    else:
        raise click.UsageError("wanted a PLAN or --method")
    if chosen.rivals and not report_only:
        computed = sum(cell.recipe in chosen.rivals for cell in chosen.cells)
        click.echo(
            f"of the paper's methods {len(chosen.given)} fits are known, {computed} are computed",
            err=True,
        )
    enough = fewest_partitions(len(chosen.names) - 1)
    if chosen.partitions < enough and not report_only:
        click.echo(
            f"with {chosen.partitions} partitions no set can tell {len(chosen.names)} methods "
            f"apart at 0.05: --partitions {enough} is the least",
            err=True,
        )
    try:
        with progress_display() as watch:
            report = run_plan(
                chosen,
                output,
                workers=jobs,
                watch=watch,
                compute=not report_only,
                command=_command_line(sys.argv),
            )
    except ImportError as error:
        raise click.ClickException(str(error)) from error
    except KeyboardInterrupt:
        echo(
            "interrupted: finished fits are kept, the same command goes on from there, and "
            "--report writes the page of what there is",
            err=True,
        )
        raise click.exceptions.Exit(130) from None
    failed = len(report.findings.problems)
    if failed:
        first, why = next(iter(report.findings.problems.items()))
        echo(f"{failed} failed, such as {first}: {why}", err=True)
    echo(f"the page is {report.html}, and {report.markdown.name} beside it")


def _command_line(words: list[str]) -> str:
    """What was typed, if it was this command."""
    return shlex.join(["sgpc", *words[1:]]) if "lab" in words[1:2] else ""


@command.command()
@click.argument("folders", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    required=True,
    help="The folder that gets them: that of a run, or a new one.",
)
def merge(folders: tuple[Path, ...], output: Path) -> None:
    """Put the finished fits of other FOLDERS into one, so that no run computes them again.

    A fit is known by everything it depends on, so results of other versions, rows or settings
    never stand in for each other.
    """
    from sgpc_framework.lab.store import merge as merge_stores

    differing = 0
    for folder in folders:
        merged = merge_stores(folder, output)
        differing += len(merged.differing)
        echo(
            f"{folder}: {merged.added} new, {merged.known} known already"
            + (f", {len(merged.differing)} different" if merged.differing else "")
        )
        for key in merged.differing:
            echo(f"{folder}: {key} was computed before with another result", err=True)
    if differing:
        raise click.ClickException(
            f"{differing} results differ from those that were there, which stay: the same fit on "
            "two machines should come to the same"
        )
