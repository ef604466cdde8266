"""After the stages: the refiner, on the whole basis and on its first vectors of chosen sizes.

A refiner fits the sites to work together, so that a prefix of them is no longer a model of its own.
It therefore runs once for each size that is to be had, always from where the stages ended.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np

from sgpc_framework.config.config import Config
from sgpc_framework.engine.log import Log, Note, RefinerEnded
from sgpc_framework.engine.progress import Patience
from sgpc_framework.errors import NumericalError, NumericalWarning, PluginError
from sgpc_framework.parts.calls import blame
from sgpc_framework.protocols import Refined
from sgpc_framework.rows.state import NO_ROW, State
from sgpc_framework.rows.training_rows import TrainingRows


def refine(
    config: Config, whole: State, rows: TrainingRows, log: Log, patience: Patience
) -> tuple[State, ...]:
    """The refined state at each of ``config.sizes`` and on the whole, which comes last.

    If the refiner changed nothing, that is the whole as it was, every prefix of which is a model.
    """
    sizes = [*(size for size in config.sizes if size < len(whole)), len(whole)]
    starts = [whole[:size] for size in sizes[:-1]] + [whole]
    ends = [_refined(config, start, rows, patience) for start in starts]
    for end, size in zip(ends, sizes, strict=True):
        for text in _notes(config, end, None if size == len(whole) else size):
            log.add(Note(text))
    if patience.over:
        log.add(Note("the fit was stopped while it was refined, which has been cut short"))
    if not any(_differ(end.state, start) for end, start in zip(ends, starts, strict=True)):
        return (whole,)
    for end, size in zip(ends, sizes, strict=True):
        log.add(RefinerEnded(size, end.state))
    missed = [size for size in config.sizes if size > len(whole)]
    if missed:
        log.add(Note(f"sizes {missed} were left out: there are {len(whole)} basis vectors"))
    return log.refined()


def _refined(config: Config, start: State, rows: TrainingRows, patience: Patience) -> Refined:
    rng = np.random.default_rng([config.seed, 0])  # the same for every size, as if fitted alone
    try:
        with blame("refiner", config.refiner, "refine"):
            end = config.refiner.refine(start, rows, rng, patience.refining)
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


def _check(end: object, rows: int) -> None:
    if not isinstance(end, Refined) or not isinstance(end.state, State):
        raise TypeError(f"wanted Refined(state, notes), found {type(end).__name__}")
    if not isinstance(end.notes, tuple) or not all(isinstance(note, str) for note in end.notes):
        raise TypeError(f"wanted notes as a tuple of strings, found {end.notes!r}")
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


def _differ(end: State, start: State) -> bool:
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


def _notes(config: Config, end: Refined, size: int | None) -> Iterator[str]:
    where = "" if size is None else f" at size {size}"
    for note in end.notes:
        yield f"refiner {config.refiner.name}{where}: {note}"
