"""Many classes one by one: a model for each, which tells it from all others.

What is left to choose is how they go together (``OneVsRest.odds_share``). The rows that models were
fitted to are no judges of that, because they make everybody look sure. So the design is fitted once
more, to some of the rows, and others say which share is best.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import suppress

import attrs
import numpy as np
from numpy.typing import NDArray

from sgpc_framework.engine.algorithm1 import initial
from sgpc_framework.engine.journal import NOWHERE, Carried, Journal
from sgpc_framework.engine.judging import PairedLosses
from sgpc_framework.engine.log import Log
from sgpc_framework.engine.log_records import Began, Note
from sgpc_framework.engine.optimisers import minimise
from sgpc_framework.engine.progress import OfManyModels, Progress, Watcher
from sgpc_framework.engine.step6 import Reestimate
from sgpc_framework.engine.task import Task, model_of
from sgpc_framework.engine.trial import Trial
from sgpc_framework.errors import StopFitting
from sgpc_framework.model.classes import Classifier
from sgpc_framework.model.many_classes import ONE_OR_REST, OneVsRest, combine_classes
from sgpc_framework.model.model import Model
from sgpc_framework.parts.calls import using
from sgpc_framework.parts.hyperparameters import FreeVector, replaced, values
from sgpc_framework.protocols import RowLoss
from sgpc_framework.rows.holding_out import HeldOut
from sgpc_framework.rows.view import Rows

Floats = NDArray[np.float64]

ODDS_SHARES = (0.0, 0.25, 0.5, 1.0)
"""What is tried. Of those that are as good as the best but for the noise, the least is taken."""

MOST_TRIED = 2500
"""The most rows that models are fitted to for the sake of this choice; as many judge."""


class OneAgainstRest:
    """A latent function for each class, fitted for itself, which tells it from all others.

    All models start at the same hyperparameters, which are computed once from all inputs; or each
    where an earlier model of its class has arrived. A fit that is stopped has the models so far,
    and for the other classes what can be said without basis vectors: how frequent they are.
    """

    def fit(self, task: Task, /) -> OneVsRest:
        theta = initial(task.config, task.rows)
        config = attrs.evolve(task.config, kernel=theta.kernel, likelihood=theta.likelihood)
        task = attrs.evolve(task, config=config)
        run = _Run(task, 0)
        models = list(run.models())
        if run.stopped:
            others = range(len(models), len(task.classes))
            models += [_without_basis(task, one) for one in others]
            return OneVsRest(task.classes, tuple(models))
        return OneVsRest(task.classes, tuple(models), _odds_share(task, max(map(len, models))))


class _Run:
    """The models of all classes, one after the other or in parallel, until the watcher had enough.

    ``before`` them so many models were fitted, of twice as many as there are classes: each is
    fitted once to all rows, and once for the choice of ``odds_share``.
    """

    def __init__(self, task: Task, before: int) -> None:
        self._task = task
        self._before = before
        self._count = len(task.classes)
        self.stopped = False

    def models(self) -> Iterator[Model]:
        """Those of the classes in order; when it is stopped, the first of them."""
        in_order = self._one_by_one() if self._task.n_jobs is None else self._in_parallel()
        for model, watch in in_order:
            yield model
            if watch.stopped:
                self.stopped = True
                return

    def _one_by_one(self) -> Iterator[tuple[Model, OfManyModels]]:
        for one in range(self._count):
            watch = self._watch(one)
            yield _model(self._task, one, watch, self._journal(one)), watch

    def _in_parallel(self) -> Iterator[tuple[Model, OfManyModels]]:
        """The same models. The watcher hears of each when it is done: other processes are deaf."""
        try:
            from joblib import Parallel, delayed
        except ImportError as error:
            raise ImportError(
                "n_jobs needs joblib, which is not installed: pip install joblib, "
                "or leave n_jobs out to fit one class after the other"
            ) from error
        deaf = attrs.evolve(self._task, watch=_deaf, journal=NOWHERE)
        carried = (Carried.from_(self._journal(one)) for one in range(self._count))
        jobs = (delayed(_model_and_more)(deaf, one, each) for one, each in enumerate(carried))
        done = Parallel(n_jobs=self._task.n_jobs, return_as="generator")(jobs)
        for one, (model, end, journal) in enumerate(done):
            journal.brought_to(self._journal(one))
            watch = self._watch(one)
            with suppress(StopFitting):
                for progress in end:
                    watch(progress)
            yield model, watch

    def _journal(self, one: int) -> Journal:
        return self._task.journal.within(f"class {one}")

    def _watch(self, one: int) -> OfManyModels:
        return OfManyModels(self._task.watch, self._before + one + 1, 2 * self._count)


def _model(task: Task, one: int, watch: Watcher, journal: Journal) -> Model:
    """The model that tells the class at a position from all others."""
    before = _earlier(task.start, task.classes.tolist()[one])
    return model_of(task, task.rows.against_rest(one), ONE_OR_REST, before, watch, journal)


def _model_and_more(
    task: Task, one: int, journal: Carried
) -> tuple[Model, deque[Progress], Carried]:
    end: deque[Progress] = deque(maxlen=1)
    model = _model(task, one, end.append, journal)
    return model, end, attrs.evolve(journal, recalled={})


def _earlier(start: Classifier | None, label: object) -> Model | None:
    """The model that a class may start from: its own, or the only one there is."""
    if isinstance(start, OneVsRest):
        known = dict(zip(start.classes.tolist(), start.models, strict=True))
        return known.get(label)
    return start


def _odds_share(task: Task, size: int) -> float:
    """The share that rows which were held out prefer, with models of that size; 0 where rows are
    too few to hold any out, or nobody wants to wait."""
    rng = np.random.default_rng([task.config.seed, 0, 3])
    held_out = HeldOut(task.rows, rng, 2 * MOST_TRIED, MOST_TRIED)
    if not held_out.possible:
        return ODDS_SHARES[0]
    fitted, judges = held_out.split()
    config = attrs.evolve(task.config, max_basis=max(1, size), sizes=())
    again = attrs.evolve(
        task,
        config=config,
        rows=task.rows.subset(fitted),
        journal=task.journal.within("odds share"),
    )
    run = _Run(again, len(task.classes))
    models = list(run.models())
    if run.stopped:
        return ODDS_SHARES[0]
    X, own = task.rows.inputs(judges), task.rows.labels(judges).astype(np.intp)
    each = [model.predict_log_proba(X) for model in models]
    places = np.arange(len(own))
    by_share = np.array([-combine_classes(each, share)[places, own] for share in ODDS_SHARES])
    losses = PairedLosses.of(by_share, task.rows.weights(judges))
    excess = losses.means - losses.means.min()
    best = int(excess.argmin())
    return next(share for a, share in enumerate(ODDS_SHARES) if excess[a] <= losses.noise(a, best))


def _without_basis(task: Task, one: int) -> Model:
    """A model of a class that nobody waited for: hyperparameters that suit the share of its rows,
    and no basis vectors."""
    rows = task.rows.against_rest(one)
    with using(task.provenance.registry):
        theta = initial(task.config, rows)
        box = FreeVector.of(theta)

        def function(free: Floats) -> tuple[float, Floats]:
            loss = Trial.at(free, theta, rows, theta).mean(_minus_log_z)
            return loss.value, loss.gradient

        least, most = box.free(box.least), box.free(box.most)
        start = box.free(values(theta))
        minimum = minimise(function, start, least, most, "l-bfgs-b", 20, 1e-4)
        state = replaced(theta, box.natural(minimum.point))
        log = Log()
        log.add(Began(theta))
        why = "the fit was stopped before this class had any basis vector"
        log.end(Reestimate.unchanged(state, minimum.value, "not reached"), why)
        log.add(Note(f"{why}: its probability is the same everywhere, but for the others"))
        return Model(ONE_OR_REST, state, log.trace(), provenance=task.provenance)


def _minus_log_z(rows: Rows) -> RowLoss:
    return RowLoss(-rows.log_z, d_log_z=-1.0)


def _deaf(_: Progress) -> None:
    pass
