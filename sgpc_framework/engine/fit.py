"""From checked data to fitted models: one for two classes, one against the rest for each of more.

All classes start at the same hyperparameters, which are computed once from all inputs; or each
where a model that is there already has arrived.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from sgpc_framework.config.config import Config
from sgpc_framework.config.provenance import Provenance
from sgpc_framework.engine.algorithm1 import Progress, Watcher, started
from sgpc_framework.engine.refinement import Refinable
from sgpc_framework.engine.size_search import fitted
from sgpc_framework.engine.step6 import Theta
from sgpc_framework.errors import StopFitting
from sgpc_framework.model.many_classes import ONE_OR_REST, OneVsRest
from sgpc_framework.model.model import Model, nested
from sgpc_framework.model.trace import Trace
from sgpc_framework.parts import hyperparameters as hyper
from sgpc_framework.parts.calls import using
from sgpc_framework.protocols import Inputs
from sgpc_framework.rows.threads import one_blas_thread
from sgpc_framework.rows.view import read_only

Codes = NDArray[np.unsignedinteger]
Earlier = Sequence[Model | None]
"""For each class the model that its fit starts from, if any."""


@attrs.frozen
class Fitter:
    """Fits one design to some inputs; ``provenance`` is that of the models."""

    config: Config
    X: Inputs
    provenance: Provenance

    def model(
        self,
        classes: NDArray[Any],
        second: NDArray[np.bool_],
        watch: Watcher,
        earlier: Model | None = None,
    ) -> Model:
        """The model of two classes; ``second`` says which rows belong to the second of them."""
        config = self.config if earlier is None else _continued(self.config, self.X, earlier)
        with using(self.provenance.registry), one_blas_thread():  # joblib forgets the context
            found = fitted(config, self.X, read_only(np.where(second, 1.0, -1.0)), watch)
        models = [self._model(classes, state, found.trace) for state in found.states]
        return nested(models) if found.changed else models[-1]

    def models(self, earlier: Earlier, codes: Codes, watch: Watcher) -> Iterator[Model]:
        """A model for each class against the rest; ``codes`` says which class each row is of."""
        for one, before in enumerate(earlier):
            numbered = _Numbered(watch, one, len(earlier))
            yield self.model(ONE_OR_REST, codes == one, numbered, before)
            if numbered.stopped and one + 1 < len(earlier):
                raise StopFitting(
                    f"the fit was stopped when {one + 1} of {len(earlier)} classes had a model and "
                    "the others none, so that there is nothing to return"
                )

    def models_in_parallel(
        self, earlier: Earlier, codes: Codes, watch: Watcher, n_jobs: int
    ) -> Iterator[Model]:
        """The same models. ``watch`` hears of each when it is done: other processes are deaf."""
        try:
            from joblib import Parallel, delayed
        except ImportError as error:
            raise ImportError(
                "n_jobs needs joblib, which is not installed: pip install joblib, "
                "or leave n_jobs out to fit one class after the other"
            ) from error
        jobs = (
            delayed(self._model_and_end)(codes == one, before) for one, before in enumerate(earlier)
        )
        done = Parallel(n_jobs=n_jobs, return_as="generator")(jobs)
        for one, (model, end) in enumerate(done):
            for progress in end:
                _Numbered(watch, one, len(earlier))(progress)
            yield model

    def _model_and_end(
        self, second: NDArray[np.bool_], earlier: Model | None
    ) -> tuple[Model, deque[Progress]]:
        end: deque[Progress] = deque(maxlen=1)
        return self.model(ONE_OR_REST, second, end.append, earlier), end

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
    start: Model | OneVsRest | None = None,
) -> Model | OneVsRest:
    """The model of a design; ``codes`` are the rows' positions among the classes."""
    provenance = Provenance.of(config)
    if len(classes) == 2:
        earlier = start if isinstance(start, Model) else None
        return Fitter(config, X, provenance).model(classes, codes == 1, watch, earlier)
    fitter = Fitter(started(config, X), X, provenance)
    each = [_earlier(start, label) for label in classes.tolist()]
    if n_jobs is None:
        models = fitter.models(each, codes, watch)
    else:
        models = fitter.models_in_parallel(each, codes, watch, n_jobs)
    return OneVsRest(classes, tuple(models))


def _earlier(start: Model | OneVsRest | None, label: Any) -> Model | None:
    """The model that a class may start from: its own, or the only one there is."""
    if isinstance(start, OneVsRest):
        known = dict(zip(start.classes.tolist(), start.models, strict=True))
        return known.get(label)
    return start


def _continued(config: Config, X: Inputs, earlier: Model) -> Config:
    """The configuration with the hyperparameters of an earlier model, if that has the same ones."""
    config = started(config, X)
    here = Theta(config.kernel, config.likelihood)
    found = Theta(earlier.kernel, earlier.likelihood)
    if _places(here) == _places(found):
        here = hyper.replaced(here, hyper.values(found))
    return attrs.evolve(config, kernel=here.kernel, likelihood=here.likelihood)


def _places(theta: Theta) -> list[object]:
    return [*map(type, hyper.parts_of(theta)), *(h.path for h in hyper.hyperparameters(theta))]


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
