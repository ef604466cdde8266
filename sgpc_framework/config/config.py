"""The configuration of a fit: which parts, and Algorithm 1's settings.

>>> import tomllib
>>> config = Config.from_mapping({"kernel": {"name": "matern-32"}, "max_basis": 40})
>>> Config.from_mapping(tomllib.loads(config.to_toml())) == config
True
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from itertools import pairwise
from numbers import Integral
from pathlib import Path
from typing import Any, Literal

import attrs
import tomli_w

from sgpc_framework.config.config_files import read_mapping
from sgpc_framework.config.presets import preset
from sgpc_framework.config.structure import nothings, plain, structured, unregistered
from sgpc_framework.errors import ConfigError
from sgpc_framework.parts.options import one_of
from sgpc_framework.parts.undeclared import untunable_parts
from sgpc_framework.plugin.kinds import KINDS
from sgpc_framework.plugin.registry import Registry, default_registry
from sgpc_framework.protocols import (
    BasisSelector,
    HyperObjective,
    Kernel,
    Likelihood,
    Refiner,
    SiteEstimator,
)

__all__ = ["DEFAULT_PARTS", "Config"]

DEFAULT_PARTS: Mapping[str, Any] = {
    "kernel": "squared-exponential",
    "likelihood": "probit",
    "selector": {"name": "adaptive-sampling", "working_set": 2},
    "sites": "moment-matching",
    "objective": "nlp",
    "refiner": "none",
}
"""What fills the slots that nobody mentions: the paper's method with kappa = 2."""


def _at_least(least: float) -> Callable[[Any, attrs.Attribute[Any], Any], None]:
    def validate(_: Any, field: attrs.Attribute[Any], value: Any) -> None:
        if not value >= least:
            raise ValueError(f"wanted {field.name} of at least {least:g}, found {value!r}")

    return validate


def _word_or_at_least(word: str, least: int) -> Callable[[Any, attrs.Attribute[Any], Any], None]:
    numbers = _at_least(least)

    def validate(instance: Any, field: attrs.Attribute[Any], value: Any) -> None:
        if isinstance(value, str) and value == word:
            return
        if isinstance(value, bool) or not isinstance(value, Integral):
            raise TypeError(f"wanted {field.name} a whole number or {word!r}, found {value!r}")
        numbers(instance, field, value)

    return validate


def _ascending(_: Any, field: attrs.Attribute[Any], value: Any) -> None:
    whole = isinstance(value, tuple) and all(type(size) is int for size in value)
    if not whole or not all(0 < here < above for here, above in pairwise((*value, math.inf))):
        raise ValueError(
            f"wanted {field.name} to be whole numbers of at least 1, each above the one before, "
            f"found {value!r}"
        )


def _part(_: Any, field: attrs.Attribute[Any], value: Any) -> None:
    kind = KINDS[field.name]
    if not kind.has_instance(value):
        raise TypeError(
            f"wanted {kind.noun}, ready made, found {value!r}; "
            "Config.from_mapping takes names and mappings"
        )
    if problems := untunable_parts(value):
        raise TypeError("; ".join(problems))


@attrs.frozen(kw_only=True)
class Config:
    """Everything a fit needs besides the data. The slots hold components, ready to be used.

    Made by :meth:`from_mapping` or :meth:`from_file`, which take a slot as a name, as a mapping
    with ``name`` and options, or as an instance, and give defaults to what is not mentioned.
    """

    kernel: Kernel = attrs.field(validator=_part)
    """The prior covariance. Default ``squared-exponential``."""

    likelihood: Likelihood = attrs.field(validator=_part)
    """The noise model. Default ``probit``."""

    selector: BasisSelector = attrs.field(validator=_part)
    """Step 3, the next basis vector. Default ``adaptive-sampling`` with a working set of 2."""

    sites: SiteEstimator = attrs.field(validator=_part)
    """Step 4, the site of a basis vector. Default ``moment-matching``."""

    objective: HyperObjective = attrs.field(validator=_part)
    """Step 6, the loss that the hyperparameters minimise. Default ``nlp``."""

    refiner: Refiner = attrs.field(validator=_part)
    """What is done after the last stage. Default ``none``."""

    strategy: Literal["joint", "one-vs-rest"] = one_of("joint", "one-vs-rest")
    """More than two classes: ``joint``, one model with a latent function for each, the default; or
    ``one-vs-rest``, a model for each, as for a likelihood that has no form for many classes."""

    max_basis: int | Literal["auto"] = attrs.field(
        default=80, validator=_word_or_at_least("auto", 1)
    )
    """d_max, the most basis vectors a model may have. Default 80, at least 1; ``"auto"`` lets rows
    that are held out choose."""

    sizes: tuple[int, ...] = attrs.field(default=(), validator=_ascending)
    """The sizes besides the whole at which the refiner runs, so that the model can be truncated to
    them. Default none; each at least 1 and above the one before."""

    stage_rows: int | Literal["all"] = attrs.field(
        default="all", validator=_word_or_at_least("all", 1)
    )
    """How many rows the stages see: a sample where there are more, ``"all"`` by default. A refiner
    and the search for a size see all rows in any case."""

    max_iterations: int = attrs.field(default=20, validator=_at_least(1))
    """iter_max, the most rounds of the outer loop. Default 20, at least 1."""

    tolerance: float = attrs.field(default=1e-4, validator=_at_least(0))
    """tol, the change of the loss between two outer iterations at which the outer loop stops.
    Default 1e-4, at least 0 (which never stops it early)."""

    optimizer: Literal["conjugate-gradients", "l-bfgs-b"] = one_of(
        "l-bfgs-b", "conjugate-gradients"
    )
    """Step 6's optimiser: ``conjugate-gradients`` as in the paper, or ``l-bfgs-b``, the default."""

    optimizer_steps: int = attrs.field(default=20, validator=_at_least(1))
    """The most iterations of the optimiser in one step 6. Default 20, at least 1."""

    block_rows: int = attrs.field(default=8192, validator=_at_least(1))
    """How many rows are worked on at a time. Default 8192, at least 1. Sums are taken and rows are
    drawn block by block: bits depend on it where there are more rows."""

    storage: Literal["float64", "float32", "disk"] = one_of("float64", "float32", "disk")
    """How a fit keeps M, its largest array. Default ``float64``; ``float32`` halves it, for large
    data, and keeps six digits of the sites; ``disk`` has it in files, for more rows than fit into
    memory, with the bits of ``float64``."""

    seed: int = attrs.field(default=0, validator=_at_least(0))
    """Where all randomness of a fit comes from. Default 0, at least 0; same seed and block_rows,
    same bits, on any number of threads."""

    @classmethod
    def from_mapping(
        cls,
        mapping: Mapping[str, Any] | None = None,
        registry: Registry | None = None,
        *,
        overrides: Mapping[str, Any] | None = None,
    ) -> Config:
        """A configuration from plain data; ``ConfigError`` with everything that is wrong with it.

        ``overrides`` replaces whole keys of the mapping: a slot in it does not inherit options. A
        key ``preset`` names the recipe (``presets``) that all other keys are changes to.
        """
        for given in (mapping, overrides):
            if given is not None and not isinstance(given, Mapping):
                raise ConfigError(
                    [f"wanted a mapping, found {given!r}; from_file reads files @ the top level"]
                )
        said = {**(mapping or {}), **(overrides or {})}
        recipe = preset(said.pop("preset"), said) if "preset" in said else {}
        return structured({**DEFAULT_PARTS, **recipe, **said}, cls, registry or default_registry())

    @classmethod
    def from_file(
        cls,
        path: str | Path,
        registry: Registry | None = None,
        *,
        overrides: Mapping[str, Any] | None = None,
    ) -> Config:
        """A configuration from a ``.toml`` or ``.json`` file."""
        mapping = read_mapping(Path(path))
        try:
            return cls.from_mapping(mapping, registry, overrides=overrides)
        except ConfigError as error:
            error.add_note(f"the configuration was read from {path}")
            raise

    def replaced(self, changes: Mapping[str, Any], registry: Registry | None = None) -> Config:
        """Another configuration with some keys replaced, checked like :meth:`from_mapping`."""
        if "preset" in changes:
            raise ConfigError(
                ["wanted changes to a configuration that says everything, found a preset @ preset"]
            )
        present = {field.name: getattr(self, field.name) for field in attrs.fields(type(self))}
        return type(self).from_mapping(present, registry, overrides=changes)

    def to_mapping(self) -> dict[str, Any]:
        """The configuration as plain data: each slot as a mapping with its name and options."""
        mapping: dict[str, Any] = plain(self)
        return mapping

    def to_toml(self, registry: Registry | None = None) -> str:
        """The configuration as the text of a TOML file from which :meth:`from_file` makes it again.

        ``ConfigError`` if a file could not say it, above all because the registry does not have the
        class of a component.
        """
        mapping = self.to_mapping()
        problems = [*unregistered(self, registry or default_registry()), *nothings(self)]
        if problems:
            raise ConfigError(problems)
        return tomli_w.dumps(mapping)
