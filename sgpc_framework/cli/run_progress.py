"""How a run of many fits is going: a bar at a terminal, else a line now and then."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from sgpc_framework.cli.printing import echo

if TYPE_CHECKING:
    from sgpc_framework.lab.running import Progress

LINES_EVERY = 30.0
"""Seconds between two lines where there is no terminal."""


@contextmanager
def progress_display() -> Iterator[Callable[[Progress], object]]:
    """Shows what it is told of each job that is done, on standard error."""
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
            echo(f"{text}: {at.problem}" if at.problem else text, err=True)

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
