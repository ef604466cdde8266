"""Expectation propagation over the basis vectors."""

from sgpc_plugins.refiners.expectation_propagation.sweeps import ExpectationPropagation

__all__ = ["ExpectationPropagation"]
