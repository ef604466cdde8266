"""Steps 3 to 5 of Algorithm 1: the stages of one inner loop."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from sgpc_framework.algebra.sites import Steps
from sgpc_framework.model.trace import LOG_2, Stage
from sgpc_framework.parts.calls import blamed, calling
from sgpc_framework.protocols import BasisSelector, ScoresCandidates, SiteEstimator
from sgpc_framework.rows.candidates import Candidates
from sgpc_framework.rows.posterior import Posterior
from sgpc_framework.rows.view import Rows

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


def log_evidence(rows: Rows) -> Floats:
    """log Zᵢ: minus its mean over all rows is NLP_a (eq. 5), over the inactive ones NLP (eq. 4)."""
    return rows.log_z


def _proposed(
    selector: BasisSelector, posterior: Posterior, rng: np.random.Generator
) -> NDArray[np.intp]:
    with calling("selector", selector, "propose"):
        return checked_rows(selector.propose(posterior, rng), posterior)


def checked_rows(proposed: object, posterior: Posterior) -> NDArray[np.intp]:
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
    if not all(posterior.eligible(rows).tolist()):
        unusable = rows[~posterior.eligible(rows)].tolist()
        raise ValueError(
            f"wanted inactive rows with some variance left, found {unusable} among {numbers}"
        )
    if len(set(numbers)) < len(numbers):
        raise ValueError(f"wanted distinct rows, found {numbers}")
    return rows.astype(np.intp, copy=False)


def _estimated(
    site_estimator: SiteEstimator, posterior: Posterior, candidates: Candidates
) -> Steps:
    with calling("sites", site_estimator, "estimate"):
        steps = site_estimator.estimate(posterior, candidates)
        if not len(steps.coefficient) == len(steps.shrinkage) == len(candidates):
            raise ValueError(f"wanted a site for each of {len(candidates)} rows, found {steps}")
        share = steps.shrinkage * candidates.at.variance
        proper = all(0.0 < part < 1.0 for part in share.tolist())
        if not proper or not all(map(math.isfinite, steps.coefficient.tolist())):
            _check_likelihood(candidates.at)
            raise ValueError(
                "wanted a finite coefficient and 0 < shrinkage * variance < 1, found "
                f"coefficient {steps.coefficient}, shrinkage * variance {share}"
            )
    return steps


def _least(
    selector: BasisSelector, posterior: Posterior, candidates: Candidates, steps: Steps
) -> int:
    """The position of the best candidate; the rows are in order, so ties go to the lowest."""
    if len(candidates) == 1:
        return 0
    if not isinstance(selector, ScoresCandidates):
        return int(np.argmax(posterior.total(log_evidence, candidates, steps)))
    with calling("selector", selector, "score"):
        scores = np.asarray(selector.score(posterior, candidates, steps), dtype=np.float64)
        if scores.shape != (len(candidates),) or np.isnan(scores).any():
            raise ValueError(
                f"wanted a number for each of {len(candidates)} candidates, found {scores}"
            )
    return int(np.argmin(scores))


def _recorded(posterior: Posterior) -> Stage:
    loss = -float(posterior.total(log_evidence)) / len(posterior)
    wrong = float(posterior.total(_misclassified)) / len(posterior)
    if not math.isfinite(loss):
        _check_likelihood(posterior.at(slice(None)))
    precision, mean, coefficient, shrinkage = posterior.last_site
    return Stage(
        row=posterior.basis[-1],
        precision=precision,
        mean=mean,
        coefficient=coefficient,
        shrinkage=shrinkage,
        predictive_loss=loss,
        training_error=wrong,
    )


def _check_likelihood(rows: Rows) -> None:
    """Called when a number is not finite: if a moment is not, it is the likelihood's fault."""
    for name, values in rows.moments._asdict().items():
        bad = ~np.isfinite(values)
        if bad.any():
            i = int(np.argmax(bad))
            raise blamed(
                "likelihood",
                rows.likelihood,
                "moments",
                f"wanted finite {name}, found {values[i]} for label {rows.y[i]}, "
                f"mean {rows.mean[i]}, variance {rows.variance[i]}",
            )


def _misclassified(rows: Rows) -> NDArray[np.bool_]:
    return rows.log_z <= -LOG_2
