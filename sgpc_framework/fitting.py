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
from sgpc_framework.errors import StopFitting
from sgpc_framework.many_classes import ONE_OR_REST, OneVsRest
from sgpc_framework.model import Model, nested
from sgpc_framework.protocols import Inputs
from sgpc_framework.provenance import Provenance
from sgpc_framework.rows import read_only
from sgpc_framework.threads import one_blas_thread

Codes = NDArray[np.intp]


@attrs.frozen
class Fitter:
    """Fits one design to some inputs; ``provenance`` is that of the models."""

    config: Config
    X: Inputs
    provenance: Provenance

    def model(self, classes: NDArray[Any], second: NDArray[np.bool_], watch: Watcher) -> Model:
        """The model of two classes; ``second`` says which rows belong to the second of them."""
        with one_blas_thread():
            found = fitted(self.config, self.X, read_only(np.where(second, 1.0, -1.0)), watch)
        models = [self._model(classes, state, found.trace) for state in found.states]
        return nested(models) if found.changed else models[-1]

    def models(self, count: int, codes: Codes, watch: Watcher) -> Iterator[Model]:
        """A model for each class against the rest; ``codes`` says which class each row is of."""
        for one in range(count):
            numbered = _Numbered(watch, one, count)
            yield self.model(ONE_OR_REST, codes == one, numbered)
            if numbered.stopped and one + 1 < count:
                raise StopFitting(
                    f"the fit was stopped when {one + 1} of {count} classes had a model and the "
                    "others none, so that there is nothing to return"
                )

    def models_in_parallel(
        self, count: int, codes: Codes, watch: Watcher, n_jobs: int
    ) -> Iterator[Model]:
        """The same models. ``watch`` hears of each when it is done: other processes are deaf."""
        try:
            from joblib import Parallel, delayed
        except ImportError as error:
            raise ImportError(
                "n_jobs needs joblib, which is not installed: pip install joblib, "
                "or leave n_jobs out to fit one class after the other"
            ) from error
        jobs = (delayed(self._model_and_end)(codes == one) for one in range(count))
        done = Parallel(n_jobs=n_jobs, return_as="generator")(jobs)
        for one, (model, end) in enumerate(done):
            for progress in end:
                _Numbered(watch, one, count)(progress)
            yield model

    def _model_and_end(self, second: NDArray[np.bool_]) -> tuple[Model, deque[Progress]]:
        end: deque[Progress] = deque(maxlen=1)
        return self.model(ONE_OR_REST, second, end.append), end

    def _model(self, classes: NDArray[Any], state: Refinable, trace: Trace) -> Model:
        return Model.of(
            classes,
            state.sites.basis,
            state.sites.basis_inputs,
            state.sites.precision,
            state.sites.mean,
            state.kernel,
            state.likelihood,
            trace,
            self.provenance,
        )


def fitted_model(
    config: Config,
    X: Inputs,
    classes: NDArray[Any],
    codes: Codes,
    watch: Watcher,
    n_jobs: int | None = None,
) -> Model | OneVsRest:
    """The model of a design; ``codes`` are the rows' positions among the classes."""
    provenance = Provenance.of(config)
    if len(classes) == 2:
        return Fitter(config, X, provenance).model(classes, codes == 1, watch)
    fitter = Fitter(started(config, X), X, provenance)
    if n_jobs is None:
        models = fitter.models(len(classes), codes, watch)
    else:
        models = fitter.models_in_parallel(len(classes), codes, watch, n_jobs)
    return OneVsRest(classes, tuple(models))


class _Numbered:
    """Says which class a progress belongs to, and remembers whether the watcher had enough."""

    def __init__(self, watch: Watcher, one: int, count: int) -> None:
        self._watch = watch
        self._one = one
        self._count = count
        self.stopped = False

    def __call__(self, progress: Progress) -> None:
        try:
            self._watch(attrs.evolve(progress, model=self._one + 1, models=self._count))
        except StopFitting:
            self.stopped = True
            raise
