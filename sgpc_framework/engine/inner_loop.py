"""Steps 3 to 5 of Algorithm 1: the stages of one inner loop."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from sgpc_framework.candidates import Candidates
from sgpc_framework.engine.trace import LOG_2, Stage
from sgpc_framework.errors import PluginError
from sgpc_framework.posterior import Posterior
from sgpc_framework.protocols import BasisSelector, ScoresCandidates, SiteEstimator
from sgpc_framework.rows import Rows
from sgpc_framework.sites import Steps

Floats = NDArray[np.float64]


def stages(
    posterior: Posterior,
    selector: BasisSelector,
    site_estimator: SiteEstimator,
    max_basis: int,
    rng: np.random.Generator,
) -> Iterator[Stage]:
    """Include basis vectors until |u| = max_basis, or until no row has anything left to give."""
    while posterior.size < max_basis and not posterior.exhausted:
        # 3. Select a basis vector j from uᶜ as per the chosen basis vector selection method.
        candidates = posterior.candidates(_proposed(selector, posterior, rng))
        steps = _estimated(site_estimator, posterior, candidates)
        j = _least(selector, posterior, candidates, steps)
        # 4. Update the site parameters pⱼ, mⱼ, posterior mean and variance.
        # 5. Set u = u ∪ {j} and uᶜ = uᶜ \ {j}.
        posterior.include(candidates, j, steps[j])
        yield _recorded(posterior)


def negative_log_evidence(rows: Rows) -> Floats:
    """-log Zᵢ: its mean over all rows is NLP_a (eq. 5), over the inactive ones NLP (eq. 4)."""
    return -rows.log_z


def _proposed(
    selector: BasisSelector, posterior: Posterior, rng: np.random.Generator
) -> NDArray[np.intp]:
    rows = np.atleast_1d(np.asarray(selector.propose(posterior, rng)))
    if rows.ndim != 1 or rows.size == 0 or not np.issubdtype(rows.dtype, np.integer):
        raise PluginError(
            f"selector {selector.name!r} must propose one or more integer row numbers, "
            f"found shape {rows.shape} of {rows.dtype} at stage {posterior.size + 1}"
        )
    inside = (rows >= 0) & (rows < len(posterior))
    usable = bool(np.all(inside)) and bool(np.all(posterior.eligible(rows)))
    if not usable or len(np.unique(rows)) < len(rows):
        raise PluginError(
            f"selector {selector.name!r} must propose distinct inactive rows with some variance "
            f"left, found {rows.tolist()} at stage {posterior.size + 1} of {len(posterior)} rows"
        )
    return rows


def _estimated(
    site_estimator: SiteEstimator, posterior: Posterior, candidates: Candidates
) -> Steps:
    steps = site_estimator.estimate(posterior, candidates)
    share = steps.shrinkage * candidates.at.variance
    proper = np.isfinite(steps.coefficient) & (share > 0.0) & (share < 1.0)
    if len(steps) != len(candidates) or not np.all(proper):
        raise PluginError(
            f"sites {site_estimator.name!r} must give a finite coefficient and a shrinkage with "
            f"0 < shrinkage * variance < 1 for each of {len(candidates)} candidates, found "
            f"coefficient {steps.coefficient}, shrinkage * variance {share} "
            f"at stage {posterior.size + 1}"
        )
    return steps


def _least(
    selector: BasisSelector, posterior: Posterior, candidates: Candidates, steps: Steps
) -> int:
    """The position of the best candidate; the rows are in order, so ties go to the lowest."""
    if len(candidates) == 1:
        return 0
    if isinstance(selector, ScoresCandidates):
        scores = np.asarray(selector.score(posterior, candidates, steps))
    else:
        scores = posterior.total(negative_log_evidence, candidates, steps)
    if scores.shape != (len(candidates),) or np.any(np.isnan(scores)):
        raise PluginError(
            f"selector {selector.name!r} must give one score for each of {len(candidates)} "
            f"candidates, found {scores!r} at stage {posterior.size + 1}"
        )
    return int(np.argmin(scores))


def _recorded(posterior: Posterior) -> Stage:
    loss, wrong = posterior.total(_loss_and_error) / len(posterior)
    precision, mean, coefficient, shrinkage = posterior.last_site
    return Stage(
        row=posterior.basis[-1],
        precision=precision,
        mean=mean,
        coefficient=coefficient,
        shrinkage=shrinkage,
        predictive_loss=float(loss),
        training_error=float(wrong),
    )


def _loss_and_error(rows: Rows) -> Floats:
    return np.stack([-rows.log_z, rows.log_z <= -LOG_2])
