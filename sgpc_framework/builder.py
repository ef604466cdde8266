"""From a configuration to a design, and from a design to a fitted model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import attrs
from numpy.typing import NDArray

from sgpc_framework.config import Config
from sgpc_framework.config_files import is_configuration_file
from sgpc_framework.engine.algorithm1 import Progress
from sgpc_framework.engine.refinement import Refinable
from sgpc_framework.engine.sizing import fitted
from sgpc_framework.engine.trace import Trace
from sgpc_framework.inputs import checked_inputs, checked_labels
from sgpc_framework.model import Model, nested
from sgpc_framework.plugin.registry import Registry
from sgpc_framework.rows import read_only
from sgpc_framework.threads import one_blas_thread


@attrs.frozen
class Design:
    """A classifier to be fitted: a checked configuration whose slots hold the parts."""

    config: Config

    def fit(
        self, X: Any, y: Any, *, progress: Callable[[Progress], object] = lambda _: None
    ) -> Model:
        """Run Algorithm 1, then the refiner. ``progress`` is called after every stage."""
        inputs = checked_inputs(X)
        classes, signs = checked_labels(y, len(inputs))
        inputs, signs = read_only(inputs), read_only(signs)
        with one_blas_thread():
            found = fitted(self.config, inputs, signs, progress)
        models = [_model(classes, state, found.trace) for state in found.states]
        return nested(models) if found.changed else models[-1]


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


def build(
    config: Config | Mapping[str, Any] | str | PathLike[str] | None = None,
    *,
    registry: Registry | None = None,
    **overrides: Any,
) -> Design:
    """Build a design from a mapping, a preset's name, a TOML or JSON file, or a ready ``Config``.

    Everything has a default: ``build()`` is the paper's method with a working set of two. Keyword
    arguments replace single entries: ``build("accurate", max_basis=40)``.
    """
    if isinstance(config, Config):
        return Design(config.replaced(overrides, registry=registry))
    if isinstance(config, str) and not is_configuration_file(config):
        config = {"preset": config}
    if isinstance(config, (str, PathLike)):
        return Design(Config.from_file(Path(config), registry=registry, overrides=overrides))
    return Design(Config.from_mapping(config, registry=registry, overrides=overrides))
