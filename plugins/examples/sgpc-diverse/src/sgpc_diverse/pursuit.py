"""Matching and gradient pursuit: what the slope of the loss says of a candidate."""

from __future__ import annotations

from typing import ClassVar, final

import attrs
import numpy as np
from numpy.typing import NDArray
from sgpc_framework.authors import Candidates, Floats, Posterior, Rows, Steps, whole_number


@final
@attrs.frozen
class MatchingPursuit:
    """The candidate whose basis function, with its best coefficient, lowers NLP most.

        gainⱼ = gⱼ² / (2 hⱼ),   gⱼ = Σᵢ αᵢ k̃ᵢⱼ,   hⱼ = Σᵢ νᵢ k̃ᵢⱼ²

    over ``working_set`` rows drawn uniformly. k̃ᵢⱼ is the posterior covariance of rows i and j, the
    basis function that including j adds; -gⱼ and hⱼ are the slope and the curvature of the loss
    along it, and the gain is that of one step of Newton.

    Keerthi & Chu (2006), "A matching pursuit approach to sparse Gaussian process regression".
    """

    name: ClassVar[str] = "matching-pursuit"

    working_set: int = whole_number(59)

    def propose(self, posterior: Posterior, rng: np.random.Generator) -> NDArray[np.intp]:
        return posterior.sample(_equal, self.working_set, rng)

    def score(self, posterior: Posterior, candidates: Candidates, steps: Steps) -> Floats:
        slope, curvature = _along_columns(posterior, candidates, steps)
        # νᵢ may be negative where a label is taken for wrong: such a column is no better than flat.
        gains = slope**2 / (2.0 * np.maximum(curvature, 1e-12 * (1.0 + np.abs(slope))))
        return -gains.sum(axis=0)


@final
@attrs.frozen
class GradientPursuit:
    """The candidate along whose basis function NLP falls fastest.

        j = argmax |d NLP / d coefficient| = argmax |Σᵢ αᵢ k̃ᵢⱼ| / √Aⱼⱼ

    over ``working_set`` rows drawn uniformly; √Aⱼⱼ is the size of the function at its own row. It
    is the weak learner of gradient boosting, where basis functions are the learners.

    Mallat & Zhang (1993), "Matching pursuits with time-frequency dictionaries"; Friedman (2001),
    "Greedy function approximation: a gradient boosting machine".
    """

    name: ClassVar[str] = "gradient-pursuit"

    working_set: int = whole_number(59)

    def propose(self, posterior: Posterior, rng: np.random.Generator) -> NDArray[np.intp]:
        return posterior.sample(_equal, self.working_set, rng)

    def score(self, posterior: Posterior, candidates: Candidates, steps: Steps) -> Floats:
        slope, _ = _along_columns(posterior, candidates, steps)
        return -np.sqrt(np.sum(slope**2, axis=0) / candidates.at.variance)


def _along_columns(
    posterior: Posterior, candidates: Candidates, steps: Steps
) -> tuple[Floats, Floats]:
    """Slope and curvature of the log evidence along each candidate's column, for each function."""
    nowhere = Steps(0.0 * steps.coefficient, 0.0 * steps.shrinkage)
    sums = posterior.total(_slope_and_curvature, candidates, nowhere)  # a row for each candidate
    slope, curvature = np.split(sums.T, 2)
    return slope, curvature


def _slope_and_curvature(rows: Rows) -> Floats:
    alpha, nu = np.atleast_2d(rows.alpha), np.atleast_2d(rows.nu)
    return np.concatenate([alpha * rows.column, nu * rows.column**2])


def _equal(rows: Rows) -> Floats:
    return np.ones(len(rows))
