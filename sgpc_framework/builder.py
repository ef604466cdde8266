"""From a configuration to a design, and from a design to a fitted model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import attrs
import numpy as np

from sgpc_framework.blame import calling
from sgpc_framework.config import Config
from sgpc_framework.config_files import is_configuration_file
from sgpc_framework.engine.algorithm1 import Progress, design_classifier
from sgpc_framework.engine.refinement import Refinable
from sgpc_framework.inputs import checked_inputs, checked_labels
from sgpc_framework.model import Model
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
            found = design_classifier(self.config, inputs, signs, progress)
            fitted = Refinable(found.sites, found.theta.kernel, found.theta.likelihood)
            rng = np.random.default_rng([self.config.seed, 0])
            with calling("refiner", self.config.refiner, "refine"):
                refined = self.config.refiner.refine(fitted, rng)
                _check_refined(refined, fitted)
        notes = (f"refiner {self.config.refiner.name}: {note}" for note in refined.notes)
        return Model.of(
            classes,
            found.sites.basis,
            refined.sites.basis_inputs,
            refined.sites.precision,
            refined.sites.mean,
            refined.kernel,
            refined.likelihood,
            attrs.evolve(found.trace, notes=(*found.trace.notes, *notes)),
        )


def _check_refined(refined: Refinable, fitted: Refinable) -> None:
    new, old = refined.sites, fitted.sites
    sizes = {len(new.basis_inputs), len(new.precision), len(new.mean)}
    if sizes != {len(old.mean)}:
        raise ValueError(f"wanted {len(old.mean)} basis vectors and sites as before, found {sizes}")
    finite = np.all(np.isfinite(new.precision)) and np.all(np.isfinite(new.mean))
    if not finite or not np.all(new.precision > 0.0):
        raise ValueError("wanted finite sites with positive precisions")


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
