"""From rows of some classes to a classifier: how many models there are, and of what.

Two classes are one latent function, whose model says how probable the second class is. More of them
are a model for each class against the rest. All models of a classifier start at the same
hyperparameters, which are computed once from all inputs; or each where an earlier model of its
class has arrived.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Protocol

import attrs
from numpy.typing import NDArray

from sgpc_framework.config.config import Config
from sgpc_framework.config.provenance import Provenance
from sgpc_framework.engine.algorithm1 import initial
from sgpc_framework.engine.fit import fit
from sgpc_framework.engine.progress import OfManyModels, Progress, Watcher
from sgpc_framework.errors import StopFitting
from sgpc_framework.model.classes import Classifier
from sgpc_framework.model.many_classes import ONE_OR_REST, OneVsRest
from sgpc_framework.model.model import Model, nested
from sgpc_framework.parts.calls import using
from sgpc_framework.parts.hyperparameters import hyperparameters, parts_of, replaced, values
from sgpc_framework.rows.state import State
from sgpc_framework.rows.threads import one_blas_thread
from sgpc_framework.rows.training_rows import TrainingRows


@attrs.frozen
class Task:
    """What is fitted to rows whose labels are positions among the classes, and who watches.

    ``start`` is a classifier of the same features whose hyperparameters the fit starts from, where
    it has the same ones.
    """

    config: Config
    provenance: Provenance
    rows: TrainingRows
    classes: NDArray[Any]
    watch: Watcher
    n_jobs: int | None = None
    start: Classifier | None = None


class Strategy(Protocol):
    """How a classifier is made of models."""

    def fit(self, task: Task, /) -> Classifier: ...


class TwoClasses:
    """One latent function: high where the second class is probable."""

    def fit(self, task: Task, /) -> Model:
        before = task.start if isinstance(task.start, Model) else None
        return _model(task, 1, task.classes, task.config, before, task.watch)


class OneAgainstRest:
    """A latent function for each class, fitted for itself, which tells it from all others."""

    def fit(self, task: Task, /) -> OneVsRest:
        theta = initial(task.config, task.rows)
        task = attrs.evolve(
            task,
            config=attrs.evolve(task.config, kernel=theta.kernel, likelihood=theta.likelihood),
        )
        models = self._one_by_one(task) if task.n_jobs is None else self._in_parallel(task)
        return OneVsRest(task.classes, tuple(models))

    def _one_by_one(self, task: Task) -> Iterator[Model]:
        count = len(task.classes)
        for one in range(count):
            watch = OfManyModels(task.watch, one + 1, count)
            yield self._model(task, one, watch)
            _check_complete(watch, one + 1, count)

    def _in_parallel(self, task: Task) -> Iterator[Model]:
        """The same models. The watcher hears of each when it is done: other processes are deaf."""
        try:
            from joblib import Parallel, delayed
        except ImportError as error:
            raise ImportError(
                "n_jobs needs joblib, which is not installed: pip install joblib, "
                "or leave n_jobs out to fit one class after the other"
            ) from error
        count, deaf = len(task.classes), attrs.evolve(task, watch=_deaf)
        jobs = (delayed(self._model_and_end)(deaf, one) for one in range(count))
        done = Parallel(n_jobs=task.n_jobs, return_as="generator")(jobs)
        for one, (model, end) in enumerate(done):
            watch = OfManyModels(task.watch, one + 1, count)
            with suppress(StopFitting):
                for progress in end:
                    watch(progress)
            yield model
            _check_complete(watch, one + 1, count)

    def _model_and_end(self, task: Task, one: int) -> tuple[Model, deque[Progress]]:
        end: deque[Progress] = deque(maxlen=1)
        return self._model(task, one, end.append), end

    def _model(self, task: Task, one: int, watch: Watcher) -> Model:
        before = _earlier(task.start, task.classes.tolist()[one])
        return _model(task, one, ONE_OR_REST, task.config, before, watch)


def strategy_for(classes: NDArray[Any]) -> Strategy:
    """The strategy for so many classes."""
    return TwoClasses() if len(classes) == 2 else OneAgainstRest()


def _model(
    task: Task,
    position: int,
    classes: NDArray[Any],
    config: Config,
    before: Model | None,
    watch: Watcher,
) -> Model:
    """The model that tells the class at a position from all others."""
    rows = task.rows.against_rest(position)
    config = config if before is None else _continued(config, rows, before.state)
    with using(task.provenance.registry), one_blas_thread():  # joblib forgets the context
        result = fit(config, rows, watch)
        models = [
            Model(classes, state, result.trace, provenance=task.provenance)
            for state in result.states
        ]
    return nested(models) if result.refined else models[-1]


def _check_complete(watch: OfManyModels, done: int, count: int) -> None:
    if watch.stopped and done < count:
        raise StopFitting(
            f"the fit was stopped when {done} of {count} classes had a model and the others none, "
            "so that there is nothing to return"
        )


def _earlier(start: Classifier | None, label: Any) -> Model | None:
    """The model that a class may start from: its own, or the only one there is."""
    if isinstance(start, OneVsRest):
        known = dict(zip(start.classes.tolist(), start.models, strict=True))
        return known.get(label)
    return start


def _continued(config: Config, rows: TrainingRows, earlier: State) -> Config:
    """The configuration with the hyperparameters of an earlier model, if that has the same ones."""
    theta = initial(config, rows)
    if _places(theta) == _places(earlier):
        theta = replaced(theta, values(earlier))
    return attrs.evolve(config, kernel=theta.kernel, likelihood=theta.likelihood)


def _places(theta: State) -> list[object]:
    return [*map(type, parts_of(theta)), *(each.path for each in hyperparameters(theta))]


def _deaf(_: Progress) -> None:
    pass
