"""Graphs that can be generated anywhere: chains of atoms, of which some close to a ring."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sgpc_graphs.graph import Graph, rows_of

ATOMS = ("C",) * 18 + ("N", "O")


def random_graph(rng: np.random.Generator, *, ring: bool) -> Graph:
    """A chain of 6 to 12 atoms with branches; with ``ring``, its first six are a ring."""
    size = int(rng.integers(6, 13))
    edges = [(vertex, vertex + 1) for vertex in range(size - 1)]
    if ring:
        edges.append((0, 5))
    branches = int(rng.integers(0, 4))
    edges += [(int(rng.integers(size)), size + branch) for branch in range(branches)]
    labels = tuple(str(label) for label in rng.choice(ATOMS, size + branches))
    return Graph(labels, tuple(edges))


def rings_and_chains(rows: int, seed: int = 0) -> tuple[NDArray[np.object_], NDArray[np.str_]]:
    """Graphs, and whether each has a "ring" or is a "chain"; the atoms tell nothing."""
    rng = np.random.default_rng(seed)
    ring = rng.random(rows) < 0.5
    graphs = rows_of(random_graph(rng, ring=bool(each)) for each in ring)
    return graphs, np.where(ring, "ring", "chain")
