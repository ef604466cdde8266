"""The Weisfeiler-Lehman kernel: graphs are alike if their vertices have like surroundings."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from hashlib import blake2b
from typing import Any, ClassVar, final

import attrs
import numpy as np
from attrs.validators import ge, instance_of, le
from scipy.sparse import csr_array
from sgpc_framework.authors import Floats, Inputs, KernelArithmetic, Pullback, hyperparameter

from sgpc_graphs.graph import Graph, decoded, encoded, rows_of


@final
@attrs.frozen
class WeisfeilerLehman(KernelArithmetic):
    """The cosine between the counts of all subtree patterns up to a depth.

        k(G, H) = variance · φ(G)·φ(H) / (‖φ(G)‖ ‖φ(H)‖)

    φ_s(G) is how many vertices of G have the name s. At depth 0 a vertex is named by its label, at
    depth d by its name at depth d - 1 and those of its neighbours, in order; names of all depths
    up to ``depth`` are counted. ``variance`` is the prior variance of the function. A graph without
    vertices has no names: its function value is zero for certain.

    Shervashidze, Schweitzer, van Leeuwen, Mehlhorn & Borgwardt (2011), "Weisfeiler-Lehman graph
    kernels".

    >>> path = Graph(("C", "C", "C"), ((0, 1), (1, 2)))
    >>> ring = Graph(("C", "C", "C"), ((0, 1), (1, 2), (2, 0)))
    >>> WeisfeilerLehman(depth=1)(rows_of([path]), rows_of([path, ring])).round(3)
    array([[1.   , 0.756]])
    """

    name: ClassVar[str] = "weisfeiler-lehman"

    variance: float = hyperparameter(1.0, bounds=(1e-6, 1e6))
    depth: int = attrs.field(default=3, validator=[instance_of(int), ge(0), le(20)])

    def __call__(self, X: Inputs, Z: Inputs, /) -> Floats:
        left, right = self._patterns(X), self._patterns(Z)
        columns = {name: j for j, name in enumerate(dict.fromkeys(n for c in left for n in c))}
        cosines = _matrix(left, columns) @ _matrix(right, columns).T
        return self.variance * np.asarray(cosines.toarray(), dtype=np.float64)

    def diag(self, X: Inputs, /) -> Floats:
        return self.variance * np.array([float(bool(c)) for c in self._patterns(X)])

    def linearised(self, X: Inputs, Z: Inputs, /) -> tuple[Floats, Pullback]:
        return self._with_pullback(self(X, Z))

    def linearised_diag(self, X: Inputs, /) -> tuple[Floats, Pullback]:
        return self._with_pullback(self.diag(X))

    def encode_inputs(self, X: Inputs, /) -> Any:
        return encoded(X)

    def decode_inputs(self, data: Any, /) -> Inputs:
        return decoded(data)

    def sample_inputs(self, rows: int, rng: np.random.Generator, /) -> Inputs:
        from sgpc_graphs.molecules import random_graph

        return rows_of(random_graph(rng, ring=bool(rng.random() < 0.5)) for _ in range(rows))

    def _with_pullback(self, K: Floats) -> tuple[Floats, Pullback]:
        return K, lambda G: np.array([np.vdot(G, K) / self.variance])

    def _patterns(self, X: Inputs) -> list[dict[int, float]]:
        return [_patterns(graph, self.depth) for graph in X]


@lru_cache(maxsize=100_000)
def _patterns(graph: Graph, depth: int) -> dict[int, float]:
    """The names in a graph and their counts, as a vector of length one. A fit asks for the same
    graphs at every stage: naming their vertices once is enough."""
    names = [_code(f"0 {label}") for label in graph.labels]
    counts = Counter(names)
    neighbours = graph.neighbours
    for _ in range(depth):
        names = [
            _code(f"{name} {sorted(names[other] for other in around)}")
            for name, around in zip(names, neighbours, strict=True)
        ]
        counts.update(names)
    norm = float(np.sqrt(sum(count**2 for count in counts.values())))
    return {name: count / norm for name, count in counts.items()}


def _code(text: str) -> int:
    """A number for a name: not Python's ``hash``, which is another in every process."""
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big")


def _matrix(patterns: list[dict[int, float]], columns: dict[int, int]) -> csr_array:
    """Graphs x names, of those names that have a column."""
    known = [
        (i, columns[name], count)
        for i, counts in enumerate(patterns)
        for name, count in counts.items()
        if name in columns
    ]
    rows, places, counts = zip(*known, strict=True) if known else ((), (), ())
    shape = (len(patterns), len(columns))
    return csr_array((np.array(counts, dtype=np.float64), (rows, places)), shape=shape)
