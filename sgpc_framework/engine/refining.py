"""After the stages: the refiner, on the whole basis and on its first vectors of chosen sizes.

A refiner fits the sites to work together, so that a prefix of them is no longer a model of its own.
It therefore runs once for each size that is to be had, always from where the stages ended.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np

from sgpc_framework.config.config import Config
from sgpc_framework.config.structure import plain
from sgpc_framework.engine.log import Log
from sgpc_framework.engine.log_records import Note, RefinerEnded
from sgpc_framework.engine.progress import Patience
from sgpc_framework.engine.slopes import predictive_loss
from sgpc_framework.errors import NumericalError, NumericalWarning, PluginError
from sgpc_framework.parts.abilities import has
from sgpc_framework.parts.calls import blame
from sgpc_framework.protocols import Refined, Refiner, RefinesInRuns
from sgpc_framework.rows.state import NO_ROW, State
from sgpc_framework.rows.training_rows import TrainingRows

SAMPLE = 10_000
"""The most rows that are asked whether a refiner made the model worse."""


def refine(
    config: Config, whole: State, rows: TrainingRows, log: Log, patience: Patience
) -> tuple[State, ...]:
    """The refined state at each of ``config.sizes`` and on the whole, which comes last.

    If the refiner changed nothing, that is the whole as it was, every prefix of which is a model.
    """
    sizes = [*(size for size in config.sizes if size < len(whole)), len(whole)]
    starts = [whole[:size] for size in sizes[:-1]] + [whole]
    ends = [_run_or_recall(config, start, rows, log, patience) for start in starts]
    for end, size in zip(ends, sizes, strict=True):
        for text in _worded_notes(config, end, None if size == len(whole) else size):
            log.add(Note(text))
    if patience.over:
        log.add(Note("the fit was stopped while it was refined, which has been cut short"))
    if not any(end.changed for end in ends):
        return (whole,)
    for end, start in zip(ends, starts, strict=True):
        for text in _worse(config, start, end.state, rows):
            warnings.warn(text, NumericalWarning, stacklevel=2)
            log.add(Note(text))
    missed = [size for size in config.sizes if size > len(whole)]
    if missed:
        log.add(Note(f"sizes {missed} were left out: there are {len(whole)} basis vectors"))
    return log.refined()


def _run_or_recall(
    config: Config, start: State, rows: TrainingRows, log: Log, patience: Patience
) -> RefinerEnded:
    """Where the refiner ended, now or in an earlier life."""
    if log.recalls(RefinerEnded):
        *_, ended = log.recalled_until(RefinerEnded)
        assert isinstance(ended, RefinerEnded)
        return ended
    end = _run(config, start, rows, log, patience)
    settled = None if end.settled is None else plain(end.settled)
    log.add(
        RefinerEnded(len(start), end.state, end.notes, _changes_anything(end.state, start), settled)
    )
    return log.of(RefinerEnded)[-1]


def _run(config: Config, start: State, rows: TrainingRows, log: Log, patience: Patience) -> Refined:
    rng = np.random.default_rng([config.seed, 0])  # the same for every size, as if fitted alone
    refiner, told = config.refiner, patience.refining
    try:
        with blame("refiner", refiner, "refine"):
            if has(refiner, RefinesInRuns):
                end = refiner.refine_in_runs(start, rows, rng, told, log.once)
            else:
                end = refiner.refine(start, rows, rng, told)
            _check(end, len(rows))
            end.state.form()  # which may not exist
    except NumericalError as error:
        text = f"the model was not refined: {error}. The one of the stages is returned"
        warnings.warn(text, NumericalWarning, stacklevel=2)
        return Refined(start, (text,))
    except PluginError:
        if patience.failure is not None:  # the watcher's error is not the refiner's
            raise patience.failure from None
        raise
    return end


def _worse(config: Config, start: State, end: State, rows: TrainingRows) -> Iterator[str]:
    """What is to be said if a refiner made the model worse, by a sample of the rows."""
    if len(end) < len(start):
        return
    if len(rows) > SAMPLE:
        rows = rows.subset(rows.draw(SAMPLE, np.random.default_rng([config.seed, 0, 3])))
    before, after = (predictive_loss(state, rows) for state in (start, end))
    if _rises_clearly(before, after, start):
        yield (
            f"the refiner {config.refiner.name!r} made the model worse: NLP over {len(rows)} "
            f"training rows rose from {before:.4f} to {after:.4f} at size {len(start)}"
        )


def _rises_clearly(before: float, after: float, start: State) -> bool:
    """Beyond that of even odds. Up to there a refiner may raise NLP on purpose: what the stages
    learnt by heart has to be forgotten. (One that leaves out basis vectors is not asked.)"""
    even_odds = np.log(2 if start.mean.ndim == 1 else len(start.mean))
    return not after <= max(before, even_odds) + 0.05


def _check(end: object, rows: int) -> None:
    if not isinstance(end, Refined) or not isinstance(end.state, State):
        raise TypeError(f"wanted Refined(state, notes), found {type(end).__name__}")
    if not isinstance(end.notes, tuple) or not all(isinstance(note, str) for note in end.notes):
        raise TypeError(f"wanted notes as a tuple of strings, found {end.notes!r}")
    if end.settled is not None and not isinstance(end.settled, Refiner):
        raise TypeError(f"wanted a settled refiner or none, found {end.settled!r}")
    state = end.state
    sizes = {
        len(state.basis),
        len(state.inputs),
        len(state.precision),
        state.mean.shape[-1],
    }
    if len(sizes) > 1:
        raise ValueError(
            f"wanted as many basis vectors, row numbers and sites as each other, found {sizes}"
        )
    if not all(NO_ROW <= row < rows for row in state.basis.tolist()):
        raise ValueError(
            f"wanted row numbers of 0 to {rows - 1}, and {NO_ROW} for a basis vector that is no "
            f"row, found {state.basis}"
        )
    finite = np.all(np.isfinite(state.precision)) and np.all(np.isfinite(state.mean))
    if not finite or not np.all(state.precision > 0.0):
        raise ValueError("wanted finite sites with positive precisions")


def _changes_anything(end: State, start: State) -> bool:
    """Whether a refiner changed anything. Parts and inputs are compared as objects: they may not
    know what equality is."""
    same = (
        end.kernel is start.kernel
        and end.likelihood is start.likelihood
        and end.inputs is start.inputs
        and np.array_equal(end.precision, start.precision)
        and np.array_equal(end.mean, start.mean)
    )
    return not same


def _worded_notes(config: Config, end: RefinerEnded, size: int | None) -> Iterator[str]:
    where = "" if size is None else f" at size {size}"
    for note in end.notes:
        yield f"refiner {config.refiner.name}{where}: {note}"
