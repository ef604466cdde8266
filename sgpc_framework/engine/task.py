"""What is to be fitted, and one model of it.

A fit starts at the hyperparameters of its configuration, or where an earlier model has arrived.
"""

from __future__ import annotations

from typing import Any

import attrs
from numpy.typing import NDArray

from sgpc_framework.config.config import Config
from sgpc_framework.config.provenance import Provenance
from sgpc_framework.engine.algorithm1 import initial
from sgpc_framework.engine.fit import fit
from sgpc_framework.engine.progress import Watcher
from sgpc_framework.model.classes import Classifier
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


def model_of(
    task: Task,
    rows: TrainingRows,
    classes: NDArray[Any],
    before: Model | None,
    watch: Watcher,
) -> Model:
    """The model of rows whose labels are what the likelihood takes."""
    config = task.config
    config = config if before is None else _continued(config, rows, before.state)
    with using(task.provenance.registry), one_blas_thread():  # joblib forgets the context
        result = fit(config, rows, watch)
        models = [
            Model(classes, state, result.trace, provenance=task.provenance)
            for state in result.states
        ]
    return nested(models) if result.refined else models[-1]


def _continued(config: Config, rows: TrainingRows, earlier: State) -> Config:
    """The configuration with the hyperparameters of an earlier model, if its kernel has the same
    ones; its likelihood may be that of another number of classes, and then counts for nothing."""
    theta = initial(config, rows)
    kernel, likelihood = theta.kernel, theta.likelihood
    if _places(kernel) == _places(earlier.kernel):
        kernel = replaced(kernel, values(earlier.kernel))
        if _places(likelihood) == _places(earlier.likelihood):
            likelihood = replaced(likelihood, values(earlier.likelihood))
    return attrs.evolve(config, kernel=kernel, likelihood=likelihood)


def _places(part: object) -> list[object]:
    return [*map(type, parts_of(part)), *(each.path for each in hyperparameters(part))]
