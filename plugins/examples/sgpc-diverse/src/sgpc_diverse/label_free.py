"""Selectors that cover the inputs and do not look at labels."""

from __future__ import annotations

from typing import ClassVar, final

import attrs
import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, solve_triangular
from sgpc_framework.authors import (
    Floats,
    Inputs,
    Posterior,
    Rows,
    positive_number,
    whole_number,
)

Numbers = NDArray[np.intp]


@final
@attrs.frozen
class PivotedCholesky:
    """A row drawn in proportion to what the basis leaves unexplained of it.

        P(j) ∝ Aⱼⱼ

    Aⱼⱼ is the posterior variance. With sites of infinite precision it is the residual of a partial
    Cholesky factor of the Gram matrix, and this is randomly pivoted Cholesky; with ours, rows near
    an imprecise site keep some chance.

    Chen, Epperly, Tropp & Webber (2022), "Randomly pivoted Cholesky".
    """

    name: ClassVar[str] = "pivoted-cholesky"

    def propose(self, posterior: Posterior, rng: np.random.Generator) -> NDArray[np.intp]:
        return posterior.sample(_variance, 1, rng)


@final
@attrs.frozen
class RidgeLeverage:
    """Rows in an order that is drawn once, in proportion to their ridge leverage scores.

        τⱼ = [K (K + λ n I)⁻¹]ⱼⱼ

    K is the Gram matrix of ``pool`` rows drawn uniformly, n their number and λ the ``ridge`` in
    units of the mean of its diagonal. τⱼ says how much of row j no other row explains.

    Alaoui & Mahoney (2015), "Fast randomized kernel ridge regression with statistical guarantees";
    Musco & Musco (2017), "Recursive sampling for the Nyström method".
    """

    name: ClassVar[str] = "ridge-leverage"

    pool: int = whole_number(500)
    ridge: float = positive_number(1e-3)

    def begun(self, posterior: Posterior, rng: np.random.Generator) -> Numbers:
        rows, X = _pool(posterior, self.pool, rng)
        K = posterior.kernel(X, X)
        ridge = self.ridge * len(rows) * max(float(np.mean(np.diagonal(K))), 1e-300)
        scores = np.diagonal(cho_solve(cho_factor(K + ridge * np.eye(len(rows))), K))
        # Drawing without replacement: the exponential race, first come first served.
        return rows[np.argsort(rng.exponential(size=len(rows)) / np.maximum(scores, 1e-300))]

    def propose(
        self, posterior: Posterior, rng: np.random.Generator, memory: Numbers
    ) -> int | None:
        return _first_eligible(posterior, memory)


@attrs.define(eq=False)
class Distances:
    """How far each row of a pool is from the nearest basis vector, in feature space."""

    rows: Numbers
    X: Inputs
    squares: Floats
    basis: int = 0
    """How many basis vectors have been looked at."""


@final
@attrs.frozen
class KernelKmeans:
    """The seeding of k-means++ in feature space.

        P(j) ∝ minᵤ ‖φ(xⱼ) - φ(u)‖² = minᵤ k(xⱼ, xⱼ) - 2 k(xⱼ, u) + k(u, u)

    over the basis vectors u, among ``pool`` rows that are drawn once. A stage costs one column of
    the kernel on the pool.

    Arthur & Vassilvitskii (2007), "k-means++: the advantages of careful seeding"; Oglic & Gärtner
    (2017), "Nyström method with kernel k-means++ samples as landmarks".
    """

    name: ClassVar[str] = "kernel-kmeans"

    pool: int = whole_number(500)

    def begun(self, posterior: Posterior, rng: np.random.Generator) -> Distances:
        rows, X = _pool(posterior, self.pool, rng)
        return Distances(rows, X, np.full(len(rows), np.inf))

    def propose(
        self, posterior: Posterior, rng: np.random.Generator, memory: Distances
    ) -> int | None:
        kernel = posterior.kernel
        for row in posterior.basis[memory.basis :]:
            U = posterior.candidates(np.array([row])).at.X
            cross = kernel(memory.X, U)[:, 0]
            squares = kernel.diag(memory.X) - 2.0 * cross + kernel.diag(U)[0]
            memory.squares = np.minimum(memory.squares, np.maximum(squares, 0.0))
        memory.basis = posterior.size
        weights = memory.squares if posterior.size else np.ones(len(memory.rows))
        race = rng.exponential(size=len(weights)) / np.maximum(weights, 1e-300)
        return _first_eligible(posterior, memory.rows[np.argsort(race)])


@attrs.define(eq=False)
class Stream:
    """Rows in the order in which they come, and how many have come."""

    rows: Numbers
    seen: int = 0


@final
@attrs.frozen
class Novelty:
    """The next row of a stream that the basis does not explain; the stages end with the stream.

        γⱼ = k(xⱼ, xⱼ) - k(xⱼ, u) K(u, u)⁻¹ k(u, xⱼ) > ``tolerance`` · k(xⱼ, xⱼ)

    γⱼ is the squared distance of φ(xⱼ) from the span of the basis, known as novelty. The stream is
    a permutation of at most ``rows`` rows, of which ``batch`` are looked at together.

    Csató & Opper (2002), "Sparse on-line Gaussian processes".
    """

    name: ClassVar[str] = "novelty"

    tolerance: float = positive_number(0.05)
    rows: int = whole_number(5000)
    batch: int = whole_number(50)

    def begun(self, posterior: Posterior, rng: np.random.Generator) -> Stream:
        return Stream(rng.permutation(len(posterior))[: self.rows])

    def propose(self, posterior: Posterior, rng: np.random.Generator, memory: Stream) -> int | None:
        kernel, basis = posterior.kernel, np.array(posterior.basis, dtype=np.intp)
        U = posterior.candidates(basis).at.X if len(basis) else None
        if U is not None:
            K = kernel(U, U)
            L = np.linalg.cholesky(K + 1e-10 * np.mean(np.diagonal(K)) * np.eye(len(K)))
        while memory.seen < len(memory.rows):
            batch = memory.rows[memory.seen : memory.seen + self.batch]
            candidates = posterior.candidates(batch)  # in the order of their numbers
            prior = kernel.diag(candidates.at.X)
            residual = prior.copy()
            if U is not None:
                residual -= np.sum(
                    solve_triangular(L, kernel(U, candidates.at.X), lower=True) ** 2, axis=0
                )
            novel = candidates.index[candidates.eligible & (residual > self.tolerance * prior)]
            places = np.flatnonzero(np.isin(batch, novel))
            if len(places):
                memory.seen += int(places[0]) + 1
                return int(batch[places[0]])
            memory.seen += len(batch)
        return None if posterior.size else _first_eligible(posterior, memory.rows)


def _pool(posterior: Posterior, size: int, rng: np.random.Generator) -> tuple[Numbers, Inputs]:
    candidates = posterior.candidates(posterior.sample(_equal, size, rng))
    return candidates.index, candidates.at.X


def _first_eligible(posterior: Posterior, order: Numbers) -> int | None:
    """The first row of an order that can be included; enough, if there is none left."""
    candidates = posterior.candidates(order)
    usable = order[np.isin(order, candidates.index[candidates.eligible])]
    if len(usable):
        return int(usable[0])
    return None if posterior.size else posterior.argmin(_variance)


def _variance(rows: Rows) -> Floats:
    return rows.variance


def _equal(rows: Rows) -> Floats:
    return np.ones(len(rows))
