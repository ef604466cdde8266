"""After the stages: the refiner, on the whole basis and on its first vectors of chosen sizes.

A refiner fits the sites to work together, so that a prefix of them is no longer a model of its own.
It therefore runs once for each size that is to be had, always from where the stages ended. A fit
that was stopped during the stages is not refined, and every prefix of it is a model.
"""

from __future__ import annotations

from collections.abc import Iterator

import attrs
import numpy as np
from numpy.typing import NDArray

from sgpc_framework.config.config import Config
from sgpc_framework.engine.algorithm1 import Progress, Watcher, design_classifier
from sgpc_framework.engine.refinement import Refinable, Refining
from sgpc_framework.errors import StopFitting
from sgpc_framework.model.trace import Size, Trace
from sgpc_framework.parts.calls import calling
from sgpc_framework.protocols import Inputs

Floats = NDArray[np.float64]


@attrs.frozen(eq=False)
class Fitted:
    """The outcome of a fit.

    ``states`` has one state for each size that the refiner ran at, the whole one last. Unless it
    ``changed`` something, every prefix of the whole is a model as well.
    """

    states: tuple[Refinable, ...]
    changed: bool
    trace: Trace
    stopped: bool = False

    @property
    def whole(self) -> Refinable:
        """The state of the largest size."""
        return self.states[-1]


def fitted_at_sizes(config: Config, X: Inputs, y: Floats, watch: Watcher) -> Fitted:
    """Algorithm 1, then the refiner at each of ``config.sizes`` and on the whole."""
    patient = _Patient(watch)
    found = design_classifier(config, X, y, patient.stage)
    theta = found.theta
    whole = Refinable(found.sites, theta.kernel, theta.likelihood, tell=patient.refining)
    most = len(whole.sites.mean)
    sizes = [*(size for size in config.sizes if size < most), most]
    starts = [attrs.evolve(whole, sites=whole.sites.first(size)) for size in sizes]
    states = tuple(starts if found.stopped else (_refined(config, start) for start in starts))
    changed = any(_differ(*pair) for pair in zip(states, starts, strict=True))
    notes = [*found.trace.notes, *_notes(config, states)]
    records: tuple[Size, ...] = ()
    if changed:
        records = tuple(Size(len(s.sites.mean), s.predictive_loss()) for s in states if most)
        missed = [size for size in config.sizes if size > most]
        if missed:
            notes.append(f"sizes {missed} were left out: there are {most} basis vectors")
    if patient.stopped:
        notes.append("the fit was stopped while it was refined, which has been cut short")
    trace = attrs.evolve(found.trace, notes=tuple(notes), sizes=records)
    return Fitted(states, changed, trace, found.stopped or patient.stopped)


class _Patient:
    """Passes on what happens, and remembers whether the watcher wants a refiner to end."""

    def __init__(self, watch: Watcher) -> None:
        self._watch = watch
        self._last: Progress | None = None
        self.stopped = False

    def stage(self, progress: Progress) -> None:
        self._last = progress
        self._watch(progress)

    def refining(self, refining: Refining) -> bool:
        if self._last is not None and not self.stopped:
            try:
                self._watch(attrs.evolve(self._last, refining=refining))
            except StopFitting:
                self.stopped = True
        return not self.stopped


def _refined(config: Config, start: Refinable) -> Refinable:
    rng = np.random.default_rng([config.seed, 0])  # the same for every size, as if fitted alone
    with calling("refiner", config.refiner, "refine"):
        refined = config.refiner.refine(start, rng)
        _check(refined, start)
    return refined


def _check(refined: Refinable, start: Refinable) -> None:
    new, old = refined.sites, start.sites
    sizes = {len(new.basis_inputs), len(new.precision), len(new.mean)}
    if sizes != {len(old.mean)}:
        raise ValueError(f"wanted {len(old.mean)} basis vectors and sites as before, found {sizes}")
    finite = np.all(np.isfinite(new.precision)) and np.all(np.isfinite(new.mean))
    if not finite or not np.all(new.precision > 0.0):
        raise ValueError("wanted finite sites with positive precisions")


def _differ(refined: Refinable, start: Refinable) -> bool:
    """Whether a refiner changed anything. Parts and inputs are compared as objects: they may not
    know what equality is."""
    new, old = refined.sites, start.sites
    same = (
        refined.kernel is start.kernel
        and refined.likelihood is start.likelihood
        and new.basis_inputs is old.basis_inputs
        and np.array_equal(new.precision, old.precision)
        and np.array_equal(new.mean, old.mean)
    )
    return not same


def _notes(config: Config, states: tuple[Refinable, ...]) -> Iterator[str]:
    for state in states:
        where = "" if state is states[-1] else f" at size {len(state.sites.mean)}"
        for note in state.notes:
            yield f"refiner {config.refiner.name}{where}: {note}"
