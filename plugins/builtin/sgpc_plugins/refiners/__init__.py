"""Built-in refiners (after the stages)."""

from sgpc_framework.authors import hookimpl
from sgpc_plugins.refiners.corrective import Corrective
from sgpc_plugins.refiners.expectation_propagation import ExpectationPropagation
from sgpc_plugins.refiners.no_refiner import NoRefiner
from sgpc_plugins.refiners.prune import Prune

__all__ = ["Corrective", "ExpectationPropagation", "NoRefiner", "Prune"]


@hookimpl
def sgpc_refiners() -> list[type]:
    return [Corrective, ExpectationPropagation, NoRefiner, Prune]
