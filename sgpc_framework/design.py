"""From a configuration to a design, and from a design to a fitted model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

import attrs
import numpy as np

from sgpc_framework.config.config import Config
from sgpc_framework.config.config_files import is_configuration_file
from sgpc_framework.config.provenance import Provenance
from sgpc_framework.engine.classifiers import strategy_for
from sgpc_framework.engine.progress import Progress
from sgpc_framework.engine.task import Task
from sgpc_framework.model.classes import Classifier
from sgpc_framework.parts.calls import using
from sgpc_framework.plugin.registry import Registry
from sgpc_framework.rows.checking import (
    checked_inputs,
    checked_labels,
    checked_weights,
    classes_with_weight,
    warn_of_shares,
)
from sgpc_framework.rows.training_rows import TrainingRows


@attrs.frozen
class Design:
    """A classifier to be fitted: a checked configuration whose slots hold the parts.

    ``registry`` is where the parts come from, if not from the installed plugins: errors, provenance
    and the files of its models use it.
    """

    config: Config
    registry: Registry | None = attrs.field(default=None, eq=False, repr=False)

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        sample_weight: Any = None,
        progress: Callable[[Progress], object] = lambda _: None,
        n_jobs: int | None = None,
        start: Classifier | None = None,
    ) -> Classifier:
        """Run Algorithm 1, then the refiner.

        More than two classes have a latent function each, in one model; with ``strategy =
        "one-vs-rest"``, or a likelihood that knows two classes only, each has a model of its own.
        ``sample_weight`` has a number for each row: one of weight two counts as two rows in every
        loss, one of weight zero does not count at all. Without it, every row counts one.
        ``progress`` is called after every stage. ``n_jobs`` fits models in parallel, if there are
        several, through joblib; ``progress`` then hears of each when it is done. ``start`` is a
        model of the same features whose hyperparameters the fit starts from, where it has the same
        ones.
        """
        inputs = checked_inputs(X)
        classes, positions = checked_labels(y, len(inputs))
        weight = checked_weights(sample_weight, len(inputs))
        if weight is not None:
            warn_of_shares(weight)
            classes, positions = classes_with_weight(classes, positions, weight)
        labels = positions.astype(np.float64)
        rows = TrainingRows.of(inputs, labels, self.config.block_rows, weight=weight)
        with using(self.registry):
            task = Task(self.config, self._provenance, rows, classes, progress, n_jobs, start)
            return strategy_for(task).fit(task)

    @cached_property
    def _provenance(self) -> Provenance:
        """The same for every fit of the design."""
        return Provenance.of(self.config, self.registry)


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
        return Design(config.replaced(overrides, registry=registry), registry)
    if isinstance(config, str) and not is_configuration_file(config):
        config = {"preset": config}
    if isinstance(config, (str, PathLike)):
        read = Config.from_file(Path(config), registry=registry, overrides=overrides)
        return Design(read, registry)
    return Design(Config.from_mapping(config, registry=registry, overrides=overrides), registry)
