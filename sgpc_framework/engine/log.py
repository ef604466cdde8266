"""The log of a fit: what happened, enough to make the state again without choosing anything.

It is only ever added to. The trace is a view of it, the best model so far another; ``replay`` makes
the states of a fit from it and the rows, to the same bits. What is added is also kept in a journal;
what a journal has kept of an earlier life is recalled instead of being done again.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from itertools import takewhile
from time import perf_counter
from typing import Any, TypeVar

import attrs
import numpy as np

from sgpc_framework.algebra.rounding import Storage
from sgpc_framework.algebra.sites import Steps
from sgpc_framework.engine.journal import NOWHERE, Journal, Kept
from sgpc_framework.engine.log_records import (
    Began,
    Cut,
    Ended,
    Note,
    Record,
    RefinerEnded,
    RunEnded,
    Sampled,
    Stopped,
    Tried,
)
from sgpc_framework.engine.step6 import Reestimate
from sgpc_framework.errors import CheckpointError
from sgpc_framework.model.trace import Iteration, Stage, Trace
from sgpc_framework.rows.posterior import Posterior
from sgpc_framework.rows.state import State, latent_functions
from sgpc_framework.rows.training_rows import TrainingRows

R = TypeVar("R")


class Log:
    """What happened, in order; ``journal`` keeps it, and may know how it went before."""

    def __init__(self, journal: Journal = NOWHERE) -> None:
        self._records: list[Record] = []
        self._by_kind: defaultdict[type, list[Any]] = defaultdict(list)
        self._journal = journal
        self._earlier: deque[Kept] = deque(journal.earlier().get("", ()))

    def add(self, record: Record) -> None:
        """Something happened; if it did before, then in the same way."""
        if isinstance(record, Began) and self.ended:
            pass  # with the hyperparameters that the iteration before has ended with
        elif self._earlier:
            _require(self._earlier.popleft(), record)
        else:
            self._journal.keep(record)
        self._take(record)

    def _take(self, record: Record) -> None:
        if isinstance(record, RunEnded):  # many, and nobody looks back at them
            return
        self._records.append(record)
        self._by_kind[type(record)].append(record)

    # -- what an earlier life has left ---------------------------------------------------------

    def recalls(self, kind: type) -> bool:
        """Whether a record of that kind is still to be recalled."""
        return any(kept.kind is kind for kept in self._earlier)

    def recalled_until(
        self, kind: type, so_far: Callable[[], State] | None = None
    ) -> Iterator[Record]:
        """Every record up to the next of that kind, each of which has then happened; but for runs,
        if it is what came of them that is recalled."""
        while True:
            kept = self._earlier.popleft()
            if kept.kind is RunEnded and kind is not RunEnded:
                continue
            self._take(record := kept.record(so_far or _no_stages))
            yield record
            if kept.kind is kind:
                return

    def recalls_iteration(self, rows: TrainingRows, told: Callable[[int, Stage], None]) -> bool:
        """Whether the present iteration was completed in an earlier life; its stages are told as if
        they happened now."""
        if not self.recalls(Ended):
            return False
        recalled = self.recalled_until(Ended, lambda: self.state_so_far(rows))
        stages = (each for each in recalled if isinstance(each, Stage))
        for size, stage in enumerate(stages, start=1):
            _require_sound(stage, self.began.theta, len(rows))
            told(size, stage)
        return True

    def recalled_stages(self) -> Iterator[tuple[Tried, Stage]]:
        """The stages that come next."""
        while [kept.kind for kept in (*self._earlier,)[:2]] == [Tried, Stage]:
            tried, stage = (self._earlier.popleft().record(_no_stages) for _ in range(2))
            self._take(tried)
            self._take(stage)
            yield tried, stage

    def once(self, rng: np.random.Generator, run: Callable[[], State]) -> State:
        """Where a run of a refiner's optimiser ends. One that was finished in an earlier life is
        recalled, and leaves the generator as it left it then."""
        if self._earlier and self._earlier[0].kind is RunEnded:
            (ended,) = self.recalled_until(RunEnded)
            assert isinstance(ended, RunEnded)
            rng.bit_generator.state = ended.generator
            return ended.state
        state = run()
        self.add(RunEnded(state, rng.bit_generator.state))
        return state

    # -- what happened -------------------------------------------------------------------------

    def end(self, step6: Reestimate, why: str) -> None:
        """The present iteration ends."""
        self.add(Ended(step6, why, perf_counter() - self.began.at))

    def of(self, kind: type[R]) -> list[R]:
        """All records of a kind."""
        return [*self._by_kind[kind]]

    @property
    def began(self) -> Began:
        """How the present iteration began."""
        return self.of(Began)[-1]

    @property
    def stages(self) -> list[Stage]:
        """The stages of the present iteration."""
        present = takewhile(lambda record: not isinstance(record, Began), reversed(self._records))
        return [record for record in present if isinstance(record, Stage)][::-1]

    def state_so_far(self, rows: TrainingRows) -> State:
        """The state of the stages that there are in the present iteration."""
        theta, stages = self.began.theta, self.stages
        if not stages:
            return self.began.earlier or theta
        basis = np.array([stage.row for stage in stages], dtype=np.intp)
        return attrs.evolve(
            theta,
            basis=basis,
            inputs=rows.inputs(basis),
            precision=np.array([stage.precision for stage in stages]),
            mean=np.array(np.array([stage.mean for stage in stages]).T, order="C"),
        )

    @property
    def ended(self) -> list[Ended]:
        """The iterations that were completed."""
        return self.of(Ended)

    @property
    def place(self) -> tuple[int, int]:
        """The iteration and the stage that are being worked on, counted from one."""
        return len(self.ended) + 1, (len(self.stages) if self.of(Began) else 0) + 1

    @property
    def stopped(self) -> bool:
        """Whether someone wanted the fit to end."""
        return bool(self.of(Stopped))

    @property
    def best(self) -> int:
        """The position of the iteration with the least loss; the first of several."""
        losses = [ended.step6.loss for ended in self.ended]
        return losses.index(min(losses))

    def change(self) -> float:
        """How much the loss changed between the last two iterations."""
        losses = [ended.step6.loss for ended in self.ended[-2:]]
        return abs(losses[1] - losses[0]) if len(losses) == 2 else np.inf

    def state(self) -> State:
        """The best state of the stages and step 6."""
        return self._kept(self.ended[self.best].step6.best)

    def _kept(self, state: State) -> State:
        """What is kept of the state of an iteration, in the numbers of all rows."""
        for sampled in self.of(Sampled):
            state = state.numbered_by(sampled.rows)
        cuts = self.of(Cut)
        return state[: cuts[-1].stages] if cuts else state

    def refined(self) -> tuple[State, ...]:
        """The states that a refiner ended with, in order of size; of several of one size the last.
        None is larger than the whole, and but for the whole none is without basis vectors. Where it
        changed nothing there are none."""
        ended = self.of(RefinerEnded)
        ends = [end.state for end in ended] if any(end.changed for end in ended) else []
        by_size = {len(state): state for state in ends}
        smaller = [size for size in sorted(by_size) if 0 < size < len(ends[-1])]
        return (*(by_size[size] for size in smaller), *ends[-1:])

    def trace(self) -> Trace:
        """The log as people read it."""
        notes = tuple(note.text for note in self.of(Note))
        settled = [end.settled for end in self.of(RefinerEnded)]
        trace = Trace(
            tuple(self._iterations()), self.best, notes, settled=settled[-1] if settled else None
        )
        for sampled in self.of(Sampled):
            trace = trace.numbered_by(sampled.rows)
        return trace

    def _iterations(self) -> list[Iteration]:
        iterations: list[Iteration] = []
        for began, _, stages, ended in self._rounds():
            step6 = ended.step6
            iterations.append(
                Iteration(
                    number=len(iterations) + 1,
                    stages=stages,
                    ended=ended.why,
                    hyperparameters=began.theta.theta,
                    reestimated=step6.state.theta,
                    objective_before=step6.before,
                    objective_after=step6.after,
                    loss=step6.loss,
                    evaluations=step6.evaluations,
                    step6=step6.message,
                    seconds=ended.seconds,
                )
            )
        return iterations

    def _rounds(self) -> list[tuple[Began, tuple[Tried, ...], tuple[Stage, ...], Ended]]:
        """The completed iterations, with what each stage tried."""
        rounds = []
        began: Began | None = None
        tried: list[Tried] = []
        stages: list[Stage] = []
        for record in self._records:
            if isinstance(record, Began):
                began, tried, stages = record, [], []
            elif isinstance(record, Tried):
                tried.append(record)
            elif isinstance(record, Stage):
                stages.append(record)
            elif isinstance(record, Ended) and began is not None:
                rounds.append((began, tuple(tried), tuple(stages), record))
        return rounds


def replay(log: Log, rows: TrainingRows, storage: Storage = "float64") -> tuple[State, ...]:
    """The states of a fit, made again from its log: by the same stages, without choosing them."""
    began, tried, stages, ended = log._rounds()[log.best]
    if began.earlier is not None:
        return log.refined() or (log.state(),)
    for sampled in log.of(Sampled):
        rows = rows.subset(sampled.rows)
    posterior = rows.posterior(
        began.theta.kernel, began.theta.likelihood, max(1, len(stages)), storage
    )
    for together, stage in zip(tried, stages, strict=True):
        include_again(posterior, together, stage)
    theta = ended.step6.best
    state = attrs.evolve(posterior.state(), kernel=theta.kernel, likelihood=theta.likelihood)
    return log.refined() or (log._kept(state),)


def _no_stages() -> State:
    raise CheckpointError("an iteration ends where none was begun: the log is damaged, delete it")


def _require_sound(stage: Stage, theta: State, rows: int) -> None:
    means = np.atleast_1d(stage.mean)
    if not (
        0 <= stage.row < rows
        and len(means) == latent_functions(theta.likelihood)
        and stage.precision > 0.0
        and np.isfinite([stage.precision, *means]).all()
    ):
        raise CheckpointError(
            f"wanted a stage with one of {rows} rows and a site, found {stage!r}: the log is "
            "damaged, delete it to start anew"
        )


def include_again(posterior: Posterior, tried: Tried, stage: Stage) -> None:
    """A stage that has happened, without choosing anything."""
    rows = np.asarray(tried.rows)
    if stage.row not in rows or np.any(rows < 0) or np.any(rows >= len(posterior)):
        raise CheckpointError(
            f"wanted a stage with one of the rows that were tried, of 0 to {len(posterior) - 1}, "
            f"found row {stage.row} of {tried.rows!r}: the log is damaged, delete it to start anew"
        )
    candidates = posterior.candidates(tried.rows)
    position = int(np.searchsorted(candidates.index, stage.row))
    coefficient = np.reshape(stage.coefficient, (-1, 1))  # of each latent function
    step = Steps(coefficient[0] if len(coefficient) == 1 else coefficient, stage.shrinkage)
    posterior.include(candidates, position, step)


def _require(kept: Kept, record: Record) -> None:
    """What happens again happens as it did."""
    if not kept.agrees(record):
        raise CheckpointError(
            f"the fit does not go as it went before: it came to {record!r}, where the log has "
            f"another {kept.kind.__name__}. The log was written by other code, or on another kind "
            "of machine: resume it there, or delete it, or choose another name, to start anew"
        )
