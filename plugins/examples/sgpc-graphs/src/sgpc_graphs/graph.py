"""Graphs with labelled vertices, as a fit takes them and as a file stores them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

MOST_VERTICES = 100_000
"""More than any graph that this kernel is for, and few enough for a file that lies."""


@attrs.frozen
class Graph:
    """A label for each vertex, and undirected edges between vertices by their numbers.

    >>> Graph(("C", "C", "O"), ((0, 1), (1, 2))).neighbours
    ((1,), (0, 2), (1,))
    """

    labels: tuple[str, ...]
    edges: tuple[tuple[int, int], ...] = ()

    def __attrs_post_init__(self) -> None:
        if len(self.labels) > MOST_VERTICES:
            raise ValueError(f"wanted at most {MOST_VERTICES} vertices, found {len(self.labels)}")
        if not all(isinstance(label, str) for label in self.labels):
            raise TypeError("wanted the label of every vertex as a string")
        for edge in self.edges:
            inside = len(edge) == 2 and all(
                type(vertex) is int and 0 <= vertex < len(self.labels) for vertex in edge
            )
            if not inside:
                raise ValueError(f"wanted edges between vertices by their numbers, found {edge!r}")

    @property
    def neighbours(self) -> tuple[tuple[int, ...], ...]:
        """The vertices that each vertex is joined to."""
        joined: list[list[int]] = [[] for _ in self.labels]
        for one, other in self.edges:
            joined[one].append(other)
            joined[other].append(one)
        return tuple(map(tuple, joined))


def rows_of(graphs: Iterable[Graph]) -> NDArray[np.object_]:
    """Graphs as rows that can be indexed by arrays of row numbers."""
    every = list(graphs)
    return np.fromiter(every, dtype=object, count=len(every))


def encoded(graphs: Iterable[Graph]) -> list[dict[str, Any]]:
    """Graphs as plain data."""
    return [
        {"labels": list(graph.labels), "edges": [list(edge) for edge in graph.edges]}
        for graph in graphs
    ]


def decoded(data: Any) -> NDArray[np.object_]:
    """The way back; whatever ``encoded`` would not have written is refused."""
    if not isinstance(data, list):
        raise TypeError(f"wanted a list of graphs, found {type(data).__name__}")
    graphs = []
    for entry in data:
        if not isinstance(entry, dict) or set(entry) != {"labels", "edges"}:
            raise ValueError("wanted labels and edges of each graph")
        if not isinstance(entry["labels"], list) or not isinstance(entry["edges"], list):
            raise TypeError("wanted labels and edges as lists")
        edges = tuple(tuple(edge) for edge in entry["edges"])
        graphs.append(Graph(tuple(entry["labels"]), edges))
    return rows_of(graphs)
