"""From rows of some classes to a classifier: how many models there are, and of what.

Two classes are one latent function, whose model says how probable the second class is. More of them
are a latent function each, in one model; or, where the likelihood has no form for many classes or
the configuration says so, a model for each class against the rest.
"""

from __future__ import annotations

from typing import Protocol

import attrs

from sgpc_framework.engine.one_against_rest import OneAgainstRest
from sgpc_framework.engine.task import Task, model_of
from sgpc_framework.errors import InputError
from sgpc_framework.model.classes import Classifier
from sgpc_framework.model.model import Model
from sgpc_framework.parts.abilities import has
from sgpc_framework.parts.calls import blame
from sgpc_framework.protocols import Likelihood, ManyClasses, SeveralFunctions
from sgpc_framework.rows.state import latent_functions


class Strategy(Protocol):
    """How a classifier is made of models."""

    def fit(self, task: Task, /) -> Classifier: ...


class TwoClasses:
    """One latent function: high where the second class is probable."""

    def fit(self, task: Task, /) -> Model:
        before = task.start if isinstance(task.start, Model) else None
        rows = task.rows.against_rest(1)
        return model_of(task, rows, task.classes, before, task.watch, task.journal)


class Joint:
    """A latent function for each class, all of them in one model."""

    def fit(self, task: Task, /) -> Model:
        likelihood = _for_classes(task.config.likelihood, len(task.classes))
        task = attrs.evolve(task, config=attrs.evolve(task.config, likelihood=likelihood))
        before = task.start if isinstance(task.start, Model) else None
        return model_of(task, task.rows, task.classes, before, task.watch, task.journal)


def strategy_for(task: Task) -> Strategy:
    """The strategy for the classes of a task."""
    likelihood = task.config.likelihood
    if has(likelihood, SeveralFunctions):
        return Joint()
    if len(task.classes) == 2:
        return TwoClasses()
    joint = task.config.strategy == "joint" and has(likelihood, ManyClasses)
    return Joint() if joint else OneAgainstRest()


def _for_classes(likelihood: Likelihood, count: int) -> Likelihood:
    """The form of a likelihood for so many classes."""
    form: Likelihood = likelihood
    if has(likelihood, ManyClasses):
        with blame("likelihood", likelihood, "for_classes"):
            form = likelihood.for_classes(count)
    if latent_functions(form) != count:
        raise InputError(
            f"likelihood {form.name!r} has {latent_functions(form)} latent functions, and y has "
            f"{count} classes: use one that has as many"
        )
    return form
