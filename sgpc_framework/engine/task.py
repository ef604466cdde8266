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
from sgpc_framework.engine.continuing import Continuing
from sgpc_framework.engine.fit import fit
from sgpc_framework.engine.journal import NOWHERE, Journal
from sgpc_framework.engine.progress import Watcher
from sgpc_framework.model.classes import Classifier
from sgpc_framework.model.model import Model, nest_sizes
from sgpc_framework.parts.calls import using
from sgpc_framework.rows.threads import one_blas_thread
from sgpc_framework.rows.training_rows import TrainingRows


@attrs.frozen
class Task:
    """What is fitted to rows whose labels are positions among the classes, and who watches.

    ``start`` is a classifier of the same features that the fit goes on from (``continuing``).
    ``journal`` keeps what happens, and knows what happened before.
    """

    config: Config
    provenance: Provenance
    rows: TrainingRows
    classes: NDArray[Any]
    watch: Watcher
    n_jobs: int | None = None
    start: Classifier | None = None
    journal: Journal = NOWHERE


def model_of(
    task: Task,
    rows: TrainingRows,
    classes: NDArray[Any],
    before: Model | None,
    watch: Watcher,
    journal: Journal,
) -> Model:
    """The model of rows whose labels are what the likelihood takes."""
    config, earlier = task.config, None
    with using(task.provenance.registry), one_blas_thread():  # joblib forgets the context
        if before is not None:
            theta = initial(config, rows)
            here = Continuing(config, task.provenance, theta, rows, classes)
            config, earlier = here.after(before)
        result = fit(config, rows, watch, journal, earlier)
        models = [
            Model(classes, state, result.trace, provenance=task.provenance)
            for state in result.states
        ]
    return nest_sizes(models) if result.refined else models[-1]
