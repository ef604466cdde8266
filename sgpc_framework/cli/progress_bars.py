"""How a fit is going, for whoever sits at the terminal; silence where nobody does.

Ctrl-C, or SIGTERM, asks a watched fit to end with what it has; a second one ends it at once.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from types import FrameType
from typing import TYPE_CHECKING, Any

from sgpc_framework.cli.printing import echo
from sgpc_framework.errors import StopFitting

if TYPE_CHECKING:
    from sgpc_framework.engine.progress import Progress


class Watcher:
    """The ``progress`` of a fit: draws a bar if there is one, and passes on the wish to stop.

    Where there are several fits, a second bar counts them: ``expect`` their number, and say
    ``begin`` before each.
    """

    def __init__(self, bar: Any = None) -> None:
        self.stopping = False
        self._bar = bar
        self._phase = "starting"
        self._all: Any = None
        if bar is not None:
            self._task = bar.add_task(self._phase, total=None, loss="")

    def __call__(self, at: Progress) -> None:
        if self._bar is not None:
            self._draw(*_phase(at))
        if self.stopping:
            raise StopFitting

    @property
    def visible(self) -> bool:
        """Whether there is a bar to be seen."""
        return self._bar is not None

    def expect(self, fits: int) -> None:
        """So many fits are going to be watched."""
        if self._bar is not None:
            self._all = self._bar.add_task("", total=fits, loss="", completed=-1)

    def begin(self, title: str) -> None:
        """The next of several fits begins."""
        if self._bar is not None:
            self._bar.update(self._all, description=title, advance=1)

    def _draw(self, phase: str, step: int, steps: int, loss: float) -> None:
        if phase != self._phase:  # the time left is that of the phase
            self._bar.reset(self._task, description=phase)
            self._phase = phase
        self._bar.update(self._task, completed=step, total=steps, loss=f"loss {loss:.4f}")

    def stop(self, *_: int | FrameType | None) -> None:
        """A handler of SIGINT and SIGTERM."""
        if self.stopping:
            raise KeyboardInterrupt
        self.stopping = True
        text = "Stopping with the best model so far; Ctrl-C again to give up."
        if self._bar is not None:
            self._bar.console.print(text)
        else:
            echo(text, err=True)


def _phase(at: Progress) -> tuple[str, int, int, float]:
    """What is being done, how far it is, and the loss there."""
    which = f"model {at.model} of {at.models}, " if at.models > 1 else ""
    if at.refining is not None:
        doing = f"{which}refining, {at.refining.doing}"
        return doing, at.refining.step, at.refining.steps, at.refining.loss
    rounds = f", iteration {at.iteration} of {at.max_iterations}" if at.iteration > 1 else ""
    return f"{which}stages{rounds}", at.basis, at.max_basis, at.stage.predictive_loss


@contextmanager
def working(what: str) -> Iterator[None]:
    """Says what is being done, while it is, if standard error is a terminal."""
    from rich.console import Console

    console = Console(stderr=True, highlight=False, markup=False)
    with console.status(what) if console.is_terminal else nullcontext():
        yield


@contextmanager
def fit_watcher(*, stoppable: bool = False) -> Iterator[Watcher]:
    """A watcher with a bar on standard error, if that is a terminal."""
    from rich.console import Console

    console = Console(stderr=True, highlight=False, markup=False)
    if not console.is_terminal:
        yield from _until_interrupted(Watcher(), stoppable)
        return
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        SpinnerColumn,
        TextColumn,
        TimeRemainingColumn,
    )
    from rich.table import Column

    with Progress(
        SpinnerColumn(),
        TextColumn("{task.description}", table_column=Column(no_wrap=True, overflow="ellipsis")),
        BarColumn(bar_width=None),
        MofNCompleteColumn(),
        TextColumn("{task.fields[loss]}"),
        TimeRemainingColumn(),
        TextColumn("left"),
        console=console,
        transient=True,
    ) as bar:
        yield from _until_interrupted(Watcher(bar), stoppable)


def _until_interrupted(watcher: Watcher, stoppable: bool) -> Iterator[Watcher]:
    if not stoppable:
        yield watcher
        return
    before = {each: signal.signal(each, watcher.stop) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield watcher
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
