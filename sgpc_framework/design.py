"""From a configuration to a design, and from a design to a fitted model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import NDArray

from sgpc_framework.config.config import Config
from sgpc_framework.config.config_files import is_configuration_file
from sgpc_framework.config.provenance import Provenance
from sgpc_framework.engine.classifiers import strategy_for
from sgpc_framework.engine.progress import Progress
from sgpc_framework.engine.task import Task
from sgpc_framework.errors import InputError
from sgpc_framework.model.classes import Classifier, models_of
from sgpc_framework.parts.calls import using
from sgpc_framework.plugin.registry import Registry
from sgpc_framework.rows.checking import (
    checked_inputs,
    checked_jobs,
    checked_labels,
    checked_weights,
    classes_with_weight,
    is_dask_collection,
    warn_of_shares,
)
from sgpc_framework.rows.training_rows import TrainingRows

if TYPE_CHECKING:
    from sgpc_framework.files.checkpoints import Checkpoint


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
        checkpoint: Checkpoint | str | PathLike[str] | None = None,
    ) -> Classifier:
        """Run Algorithm 1, then the refiner.

        More than two classes have a latent function each, in one model; with ``strategy =
        "one-vs-rest"``, or a likelihood that knows two classes only, each has a model of its own.
        ``sample_weight`` has a number for each row: one of weight two counts as two rows in every
        loss, one of weight zero does not count at all. Without it, every row counts one.
        ``progress`` is called after every stage. ``n_jobs`` fits models in parallel, if there are
        several, through joblib; ``progress`` then hears of each when it is done. ``start`` is a
        model of the same features that the fit goes on from: from its basis and hyperparameters if
        the design would have arrived at its like, and otherwise from hyperparameters of the same
        names. ``checkpoint`` names a file in which all that happens is kept. If the fit dies, the
        same call resumes it from there, and ends with the same bits.

        X and y may be Dask arrays or Dask data frames: their rows then stay on the workers of the
        ``Client`` that there is, and the model has the same bits.
        """
        n_jobs = checked_jobs(n_jobs)
        if n_jobs is not None and is_dask_collection(X):
            raise InputError(
                "n_jobs fits classes in parallel processes of this machine, and the rows are on "
                "workers, which all work on each class: leave n_jobs out"
            )
        rows, classes = self._rows(X, y, sample_weight)
        return self.fit_rows(
            rows,
            classes,
            progress=progress,
            n_jobs=n_jobs,
            start=start,
            checkpoint=checkpoint,
        )

    def fit_rows(
        self,
        rows: TrainingRows,
        classes: NDArray[Any],
        *,
        progress: Callable[[Progress], object] = lambda _: None,
        n_jobs: int | None = None,
        start: Classifier | None = None,
        checkpoint: Checkpoint | str | PathLike[str] | None = None,
    ) -> Classifier:
        """The same for rows that are laid already, labelled by positions among the classes."""
        if start is not None:
            models_of(start)  # raises if it is none
        with using(self.registry):
            task = Task(self.config, self._provenance, rows, classes, progress, n_jobs, start)
            try:
                if checkpoint is None:
                    return strategy_for(task).fit(task)
                from sgpc_framework.files.checkpoints import open_checkpoint

                with open_checkpoint(task, checkpoint) as on_disk:
                    return strategy_for(on_disk).fit(on_disk)
            except MemoryError as error:
                error.add_note(_what_needs_less(self.config, len(rows)))
                raise

    def _rows(self, X: Any, y: Any, sample_weight: Any) -> tuple[TrainingRows, NDArray[Any]]:
        """The rows, labelled by positions among the classes, and the classes."""
        if is_dask_collection(X):
            from sgpc_framework.adapters.dask.collections import rows_of_collections

            return rows_of_collections(X, y, sample_weight, self.config)
        inputs = checked_inputs(X)
        classes, positions = checked_labels(y, len(inputs))
        weight = checked_weights(sample_weight, len(inputs))
        if weight is not None:
            warn_of_shares(int(np.count_nonzero(weight)), float(weight.sum()))
            classes, positions = classes_with_weight(classes, positions, weight)
        labels = positions.astype(np.float64)
        return TrainingRows.of(inputs, labels, self.config.block_rows, weight=weight), classes

    @cached_property
    def _provenance(self) -> Provenance:
        """The same for every fit of the design."""
        return Provenance.of(self.config, self.registry)


def _what_needs_less(config: Config, rows: int) -> str:
    """For who ran out of memory: the largest array of a fit, and how to have a smaller one."""
    size = min(rows, config.max_basis) if isinstance(config.max_basis, int) else rows
    seen = min(rows, config.stage_rows) if isinstance(config.stage_rows, int) else rows
    megabytes = seen * size * np.dtype(config.storage).itemsize / 2**20
    return (
        f"the largest array of a fit, M, has up to {seen} x {size} numbers of {config.storage} "
        f"({megabytes:.0f} MB): fewer basis vectors (max_basis), a sample of the rows for the "
        "stages (stage_rows) and storage = 'float32' need less"
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
        return Design(config.replaced(overrides, registry=registry), registry)
    if isinstance(config, str) and not is_configuration_file(config):
        config = {"preset": config}
    if isinstance(config, (str, PathLike)):
        read = Config.from_file(Path(config), registry=registry, overrides=overrides)
        return Design(read, registry)
    return Design(Config.from_mapping(config, registry=registry, overrides=overrides), registry)
