"""From checked data to fitted models: one for two classes, one against the rest for each of more.

All classes start at the same hyperparameters, which are computed once from all inputs.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from sgpc_framework.config import Config
from sgpc_framework.engine.algorithm1 import Progress, Watcher, started
from sgpc_framework.engine.refinement import Refinable
from sgpc_framework.engine.sizing import fitted
from sgpc_framework.engine.trace import Trace
from sgpc_framework.many_classes import OneVsRest
from sgpc_framework.model import Model, nested
from sgpc_framework.protocols import Inputs
from sgpc_framework.rows import read_only
from sgpc_framework.threads import one_blas_thread

Truths = NDArray[np.bool_]
ONE_OR_REST = np.array([False, True])
"""The classes of a model that tells one class from the rest."""


def fitted_model(
    config: Config, X: Inputs, classes: NDArray[Any], second: Truths, watch: Watcher
) -> Model:
    """The model of two classes; ``second`` says which rows belong to the second of them."""
    with one_blas_thread():
        found = fitted(config, X, read_only(np.where(second, 1.0, -1.0)), watch)
    models = [_model(classes, state, found.trace) for state in found.states]
    return nested(models) if found.changed else models[-1]


def fitted_models(
    config: Config,
    X: Inputs,
    classes: NDArray[Any],
    codes: NDArray[np.intp],
    watch: Watcher,
    n_jobs: int | None,
) -> OneVsRest:
    """A model for each class against the rest; ``codes`` are the rows' positions in ``classes``."""
    config = started(config, X)
    count = len(classes)
    if n_jobs is None:
        models = _in_turn(config, X, codes, count, watch)
    else:
        models = _in_parallel(config, X, codes, count, watch, n_jobs)
    return OneVsRest(classes, tuple(models))


def _in_turn(
    config: Config, X: Inputs, codes: NDArray[np.intp], count: int, watch: Watcher
) -> Iterator[Model]:
    for one in range(count):
        yield fitted_model(config, X, ONE_OR_REST, codes == one, _numbered(watch, one, count))


def _in_parallel(
    config: Config, X: Inputs, codes: NDArray[np.intp], count: int, watch: Watcher, n_jobs: int
) -> Iterator[Model]:
    try:
        from joblib import Parallel, delayed
    except ImportError as error:
        raise ImportError(
            "n_jobs needs joblib, which is not installed: pip install joblib, "
            "or leave n_jobs out to fit one class after the other"
        ) from error
    jobs = (delayed(_with_its_end)(config, X, codes == one) for one in range(count))
    done = Parallel(n_jobs=n_jobs, return_as="generator")(jobs)
    for one, (model, end) in enumerate(done):
        for progress in end:
            _numbered(watch, one, count)(progress)
        yield model


def _with_its_end(config: Config, X: Inputs, second: Truths) -> tuple[Model, deque[Progress]]:
    """A model, and the last that was heard of its progress: other processes cannot be watched."""
    end: deque[Progress] = deque(maxlen=1)
    return fitted_model(config, X, ONE_OR_REST, second, end.append), end


def _numbered(watch: Watcher, one: int, count: int) -> Watcher:
    return lambda progress: watch(attrs.evolve(progress, model=one + 1, models=count))


def _model(classes: NDArray[Any], state: Refinable, trace: Trace) -> Model:
    return Model.of(
        classes,
        state.sites.basis,
        state.sites.basis_inputs,
        state.sites.precision,
        state.sites.mean,
        state.kernel,
        state.likelihood,
        trace,
    )
