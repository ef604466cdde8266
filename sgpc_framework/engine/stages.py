"""Steps 3 to 5 of Algorithm 1: the stages of one inner loop."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sgpc_framework.algebra.sites import Steps
from sgpc_framework.model.trace import Stage
from sgpc_framework.parts.abilities import has
from sgpc_framework.parts.calls import blame
from sgpc_framework.protocols import (
    BasisSelector,
    ScoresCandidates,
    SelectsWithMemory,
    SiteEstimator,
)
from sgpc_framework.rows.answers import Inclusion
from sgpc_framework.rows.candidates import Candidates
from sgpc_framework.rows.posterior import Posterior
from sgpc_framework.rows.row_functions import check_likelihood
from sgpc_framework.rows.view import Rows

Floats = NDArray[np.float64]
Chance = Callable[[int], np.random.Generator]
"""The generator of a stage, by its number: nothing random is carried from stage to stage."""


def stages(
    posterior: Posterior,
    selector: BasisSelector,
    site_estimator: SiteEstimator,
    max_basis: int,
    chance: Chance,
) -> Iterator[Stage]:
    """Include basis vectors until |u| = max_basis, or until nothing is left to include."""
    memory = memory_of(selector, posterior, chance(0))
    while posterior.size < max_basis and not posterior.exhausted:
        # 3. Select a basis vector j from uᶜ as per the chosen basis vector selection method.
        candidates = proposal(selector, posterior, chance(posterior.size + 1), memory)
        if candidates is None:
            return
        steps = _estimates(site_estimator, posterior, candidates)
        j = _least(selector, posterior, candidates, steps, memory)
        # 4. Update the site parameters pⱼ, mⱼ, posterior mean and variance.
        # 5. Set u = u ∪ {j} and uᶜ = uᶜ \ {j}.
        included = posterior.include(candidates, j, steps[j])
        yield _record(posterior, included)


def log_evidence(rows: Rows) -> Floats:
    """log Zᵢ: minus its mean over all rows is NLP_a (eq. 5), over the inactive ones NLP (eq. 4)."""
    return rows.log_z


def memory_of(
    selector: BasisSelector, posterior: Posterior, rng: np.random.Generator
) -> tuple[Any, ...]:
    """What a selector wants to be handed besides: its memory, or nothing."""
    if not has(selector, SelectsWithMemory):
        return ()
    with blame("selector", selector, "begun"):
        return (selector.begun(posterior, rng),)


def proposal(
    selector: BasisSelector,
    posterior: Posterior,
    rng: np.random.Generator,
    memory: tuple[Any, ...] = (),
) -> Candidates | None:
    """The candidates that a selector proposes; None if it has had enough."""
    with blame("selector", selector, "propose"):
        rows = selector.propose(posterior, rng, *memory)
        if rows is posterior.drawn and rows is not None:  # a draw is as it must be
            return posterior.candidates(rows)
        return None if rows is None else checked_candidates(rows, posterior)


def checked_candidates(proposed: object, posterior: Posterior) -> Candidates:
    """The proposed rows, if they are distinct and can all be included."""
    rows = np.asarray(proposed)
    rows = rows if rows.ndim else rows.reshape(1)
    if rows.ndim != 1 or rows.size == 0 or rows.dtype.kind not in "iu":
        raise ValueError(
            f"wanted one or more row numbers, found {rows.dtype} of shape {rows.shape}"
        )
    numbers = rows.tolist()
    if min(numbers) < 0 or max(numbers) >= len(posterior):
        outside = [row for row in numbers if not 0 <= row < len(posterior)]
        raise ValueError(f"wanted rows of 0 to {len(posterior) - 1}, found {outside}")
    candidates = posterior.candidates(rows)
    if not all(candidates.eligible.tolist()):
        unusable = set(candidates.index[~candidates.eligible].tolist())
        raise ValueError(
            "wanted inactive rows with some variance left, found "
            f"{[row for row in numbers if row in unusable]} among {numbers}"
        )
    if len(set(numbers)) < len(numbers):
        raise ValueError(f"wanted distinct rows, found {numbers}")
    return candidates


def _estimates(
    site_estimator: SiteEstimator, posterior: Posterior, candidates: Candidates
) -> Steps:
    with blame("sites", site_estimator, "estimate"):
        steps = site_estimator.estimate(posterior, candidates)
        at, shapes = candidates.at, (steps.coefficient.shape, steps.shrinkage.shape)
        if shapes != (at.mean.shape, at.variance.shape):
            raise ValueError(f"wanted a site for each of {len(candidates)} rows, found {steps}")
        variance = at.variance
        each = zip(steps.shrinkage.tolist(), variance.tolist(), strict=True)
        finite = all(map(math.isfinite, steps.coefficient.ravel().tolist()))
        if not finite or not all(0.0 < eta * v < 1.0 for eta, v in each):
            check_likelihood(candidates.at)
            raise ValueError(
                "wanted a finite coefficient and 0 < shrinkage * variance < 1, found coefficient "
                f"{steps.coefficient}, shrinkage * variance {steps.shrinkage * variance}"
            )
    return steps


def _least(
    selector: BasisSelector,
    posterior: Posterior,
    candidates: Candidates,
    steps: Steps,
    memory: tuple[Any, ...],
) -> int:
    """The position of the best candidate; the rows are in order, so ties go to the lowest."""
    if len(candidates) == 1:
        return 0
    if not has(selector, ScoresCandidates):
        return int(np.argmax(posterior.total(log_evidence, candidates, steps)))
    with blame("selector", selector, "score"):
        scores = np.asarray(selector.score(posterior, candidates, steps, *memory), dtype=np.float64)
        if scores.shape != (len(candidates),) or np.isnan(scores).any():
            raise ValueError(
                f"wanted a number for each of {len(candidates)} candidates, found {scores}"
            )
    return int(np.argmin(scores))


def _record(posterior: Posterior, included: Inclusion) -> Stage:
    loss = -included.log_z / posterior.total_weight
    if not math.isfinite(loss):
        posterior.check_likelihood()
    precision, mean, coefficient, shrinkage = posterior.last_site
    return Stage(
        row=posterior.basis[-1],
        precision=precision,
        mean=mean,
        coefficient=coefficient,
        shrinkage=shrinkage,
        predictive_loss=loss,
        training_error=included.wrong / posterior.total_weight,
    )
