"""Where a fit is: what whoever watches it is told."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import attrs

from sgpc_framework.errors import StopFitting
from sgpc_framework.model.trace import Stage
from sgpc_framework.protocols import Refining
from sgpc_framework.rows.numbering import Numbering
from sgpc_framework.rows.state import NO_ROW


class Progress(NamedTuple):
    """Where a fit is; callers of ``fit`` may ask to be told after every stage.

    While a refiner works, it is told how far that is, in ``refining``; the rest stays as it was
    after the last stage. Who is told may raise ``StopFitting``: the fit ends with what it has.

    With one model for each of many classes there are several ``models``; ``model`` says which of
    them it is, counted from one. The second half of them is there to choose how the first half goes
    together.
    """

    iteration: int
    max_iterations: int
    basis: int
    max_basis: int
    stage: Stage
    model: int = 1
    models: int = 1
    refining: Refining | None = None


Watcher = Callable[[Progress], object]


class Patience:
    """Passes on what happens, and remembers whether the watcher wants a refiner to end, or failed
    while it was told by one."""

    def __init__(self, watch: Watcher) -> None:
        self._watch = watch
        self._last: Progress | None = None
        self.over = False
        self.failure: BaseException | None = None

    def stage(self, progress: Progress) -> None:
        """A stage is done; the watcher may raise ``StopFitting``."""
        self._last = progress
        self._watch(progress)

    def refining(self, refining: Refining) -> bool:
        """A refiner tells how far it is; the answer is whether it may go on."""
        if self._last is not None and not self.over:
            try:
                self._watch(self._last._replace(refining=refining))
            except StopFitting:
                self.over = True
            except BaseException as error:
                self.failure = error
                raise
        return not self.over


class OfSomeRows:
    """Tells of rows by what whoever gave them calls them, if some were left out."""

    def __init__(self, watch: Watcher, numbers: Numbering) -> None:
        self._watch = watch
        self._numbers = numbers

    def __call__(self, progress: Progress) -> None:
        row = progress.stage.row
        row = row if row == NO_ROW else int(self._numbers[row])
        stage = attrs.evolve(progress.stage, row=row)
        self._watch(progress._replace(stage=stage))


class OfManyModels:
    """Says which class a progress belongs to, and remembers whether the watcher had enough."""

    def __init__(self, watch: Watcher, model: int, models: int) -> None:
        self._watch = watch
        self._model = model
        self._models = models
        self.stopped = False

    def __call__(self, progress: Progress) -> None:
        try:
            self._watch(progress._replace(model=self._model, models=self._models))
        except StopFitting:
            self.stopped = True
            raise
