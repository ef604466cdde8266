"""The six kinds of parts: the slot, the protocol and the hook of each."""

from __future__ import annotations

from inspect import isfunction
from typing import Any, Literal

import attrs

from sgpc_framework.protocols import (
    BasisSelector,
    HyperObjective,
    Kernel,
    Likelihood,
    Refiner,
    SiteEstimator,
)

KindName = Literal["kernel", "likelihood", "selector", "sites", "objective", "refiner"]


@attrs.frozen
class Kind:
    """One kind of part.

    ``name`` is also the slot of the configuration, ``noun`` is how an error text speaks of it:
    with its article.
    """

    name: KindName
    noun: str
    protocol: Any
    hook: str

    @property
    def required(self) -> tuple[str, ...]:
        """The methods of the protocol, without which a class is not of this kind."""
        return tuple(
            name
            for name, member in vars(self.protocol).items()
            if isfunction(member) and (name == "__call__" or not name.startswith("_"))
        )

    def missing(self, cls: type) -> list[str]:
        """The required methods that a class does not have."""
        # Not getattr: every class can be called, which says nothing of its instances.
        present = {name for base in cls.__mro__ for name in vars(base)}
        return [name for name in self.required if name not in present]

    @property
    def demanding(self) -> tuple[Kind, ...]:
        """The kinds that ask for these methods and more: a refiner is no objective, though it has a
        loss."""
        return tuple(kind for kind in KINDS.values() if {*kind.required} > {*self.required})

    def has_instance(self, value: object) -> bool:
        """Whether an object can stand in this slot as it is."""
        return isinstance(value, self.protocol) and not any(
            isinstance(value, kind.protocol) for kind in self.demanding
        )


def own_name(cls: type) -> object:
    """What a class says it is called; ``None`` if it does not say."""
    return getattr(cls, "name", None)


KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind("kernel", "a kernel", Kernel, "sgpc_kernels"),
        Kind("likelihood", "a likelihood", Likelihood, "sgpc_likelihoods"),
        Kind("selector", "a selector", BasisSelector, "sgpc_basis_selectors"),
        Kind("sites", "a site estimator", SiteEstimator, "sgpc_site_estimators"),
        Kind("objective", "an objective", HyperObjective, "sgpc_hyper_objectives"),
        Kind("refiner", "a refiner", Refiner, "sgpc_refiners"),
    )
}
HOOKS: tuple[str, ...] = tuple(kind.hook for kind in KINDS.values())
