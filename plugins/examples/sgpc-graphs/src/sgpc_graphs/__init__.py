"""Graphs as inputs: the Weisfeiler-Lehman kernel, whose models are saved without pickles."""

from sgpc_framework.authors import hookimpl

from sgpc_graphs.graph import Graph
from sgpc_graphs.molecules import rings_and_chains
from sgpc_graphs.weisfeiler_lehman import WeisfeilerLehman

__all__ = ["Graph", "WeisfeilerLehman", "rings_and_chains"]


@hookimpl
def sgpc_kernels() -> list[type]:
    return [WeisfeilerLehman]
