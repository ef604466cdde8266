"""The laws of a site estimator. Each docstring is what a failing check says was wanted."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import attrs
import numpy as np

from sgpc_framework.algebra.sites import Steps
from sgpc_framework.plugin.registry import default_registry
from sgpc_framework.protocols import Floats, Likelihood, SiteEstimator
from sgpc_framework.rows.candidates import Candidates
from sgpc_framework.rows.posterior import Posterior
from sgpc_framework.rows.view import Rows
from sgpc_framework.testing.randomness import repeated
from sgpc_framework.testing.situations import (
    ROWS,
    Situation,
    corner_situations,
    ordinary_situations,
    require_untouched,
    snapshot,
)
from sgpc_framework.testing.verdict import (
    Laws,
    require,
    require_close,
    require_equal,
    require_finite,
    scale_of,
)


def one_site_for_each_candidate(sites: SiteEstimator) -> None:
    """estimate returns ``Steps`` with a coefficient and a shrinkage for every candidate."""
    for situation in _situations():
        for count in (1, 2, 3):
            _, candidates, steps = _estimated(sites, situation, count)
            found = f"{type(steps).__name__} for {len(candidates)} candidates ({situation.title})"
            require(isinstance(steps, Steps), found)
            sizes = np.shape(steps.coefficient), np.shape(steps.shrinkage)
            wanted = (len(candidates),), (len(candidates),)
            require(
                sizes == wanted, f"{sizes[0]} coefficients and {sizes[1]} shrinkages in {found}"
            )


def finite(sites: SiteEstimator) -> None:
    """Coefficients and shrinkages are finite."""
    for situation in _situations():
        _, _, steps = _estimated(sites, situation)
        require_finite(steps.coefficient, "coefficient", situation.title)
        require_finite(steps.shrinkage, "shrinkage", situation.title)


def positive(sites: SiteEstimator) -> None:
    """Every shrinkage, and so every precision, is above zero."""
    for situation in _situations():
        _, _, steps = _estimated(sites, situation)
        least = float(np.min(steps.shrinkage, initial=np.inf))
        require(not least <= 0.0, f"shrinkage = {least:.6g} ({situation.title})")


def leaves_some_variance(sites: SiteEstimator) -> None:
    """shrinkage * variance < 1: a site takes less than all of its row's variance."""
    for situation in _situations():
        _, candidates, steps = _estimated(sites, situation)
        share = float(np.max(steps.shrinkage * candidates.at.variance, initial=0.0))
        require(not share >= 1.0, f"shrinkage * variance = {share:.9g} ({situation.title})")


def never_increases_a_variance(sites: SiteEstimator) -> None:
    """No row's variance is larger after a candidate is included: variance - shrinkage k̃²."""
    for situation in _situations():
        posterior, candidates, steps = _estimated(sites, situation)
        before = posterior.marginals()[1]
        tolerance = 1e-12 * scale_of(before)

        def rise(rows: Rows, before: Floats = before, tolerance: float = tolerance) -> Floats:
            return np.maximum(rows.variance - before[rows.index] - tolerance, 0.0)

        rises = posterior.total(rise, candidates, steps)
        require(not rises.any(), f"a variance rises by {rises.max():.6g} ({situation.title})")


def deterministic(sites: SiteEstimator) -> None:
    """The same situation gives the same sites."""
    for situation in _situations():
        first, second = repeated(partial(_estimated, sites, situation))
        require_equal(first[2].coefficient, second[2].coefficient, "coefficient", situation.title)
        require_equal(first[2].shrinkage, second[2].shrinkage, "shrinkage", situation.title)


def unchanged_by_block_size(sites: SiteEstimator) -> None:
    """The sites are the same, or equally good, however many blocks the rows are in."""
    for situation in _situations():
        posterior, candidates, wanted = _estimated(sites, situation)
        _, _, steps = _estimated(sites, situation, block_rows=5)
        where = f"blocks of 5 rows, {situation.title}"
        _require_same_sites(steps, wanted, posterior, candidates, where)


def same_site_whoever_else_is_a_candidate(sites: SiteEstimator) -> None:
    """The site of a candidate is the one that it would get alone, or as good, and in its place."""
    for situation in _situations():
        posterior, candidates, steps = _estimated(sites, situation)
        for i in range(len(candidates)):
            one = posterior.candidates(candidates.index[i : i + 1])
            where = f"candidate {i} alone, {situation.title}"
            _require_same_sites(sites.estimate(posterior, one), steps[i], posterior, one, where)


def most_sites_help_their_own_row(sites: SiteEstimator) -> None:
    """Before there are basis vectors, the sites of most rows make the row's own label more
    probable: mean + coefficient * variance, variance - shrinkage * variance²."""
    for situation in ordinary_situations()[:1]:
        posterior = situation.posterior()
        candidates = posterior.candidates(np.flatnonzero(posterior.eligible()))
        steps, at = sites.estimate(posterior, candidates), candidates.at
        mean = at.mean + steps.coefficient * at.variance
        variance = at.variance - steps.shrinkage * at.variance**2
        if not np.all((variance >= 0.0) & np.isfinite(mean)):
            continue  # which another check reports
        after = posterior.likelihood.moments(at.y, mean, variance).log_z
        helped = int(np.sum(after >= at.log_z))
        found = f"{helped} of {len(candidates)} rows: is the sign of the coefficient right?"
        require(2 * helped > len(candidates), found)


def leaves_the_posterior_alone(sites: SiteEstimator) -> None:
    """estimate changes nothing in the posterior: only ``include``, which is the engine's, does."""
    for situation in _situations():
        posterior = situation.posterior()
        before = snapshot(posterior)
        sites.estimate(posterior, _candidates(posterior, 3))
        require_untouched(before, snapshot(posterior), situation.title)


LAWS: Laws = {
    SiteEstimator: (
        one_site_for_each_candidate,
        finite,
        positive,
        leaves_some_variance,
        never_increases_a_variance,
        deterministic,
        unchanged_by_block_size,
        same_site_whoever_else_is_a_candidate,
        most_sites_help_their_own_row,
        leaves_the_posterior_alone,
    )
}

AGREEMENT = 1e-4
"""How well two searches for one site agree, where the loss tells sites apart."""

FLAT = 1e-5
"""Where NLP over all rows is the same to this, relative to its size, sites are equally good: a
candidate that the basis explains already may take any, and rounding decides which."""


def _situations() -> Iterator[Situation]:
    """With the default likelihood, and with one that is not log-concave.

    There moment matching may ask for a precision below zero, and it is the estimator that must not
    give in.
    """
    yield from ordinary_situations()
    yield from corner_situations()
    noisy: Likelihood = default_registry().get("likelihood", "noisy-probit")(5.0, 0.0, 0.1)
    for situation in (ordinary_situations()[0], corner_situations()[-1]):
        yield attrs.evolve(situation, likelihood=noisy, title=f"{situation.title}, noisy-probit")


def _candidates(posterior: Posterior, count: int) -> Candidates:
    return posterior.candidates(np.flatnonzero(posterior.eligible())[-count:])


def _estimated(
    sites: SiteEstimator, situation: Situation, count: int = 3, block_rows: int = ROWS
) -> tuple[Posterior, Candidates, Steps]:
    posterior = situation.posterior(block_rows)
    candidates = _candidates(posterior, count)
    return posterior, candidates, sites.estimate(posterior, candidates)


def _require_same_sites(
    steps: Steps, wanted: Steps, posterior: Posterior, candidates: Candidates, where: str
) -> None:
    losses = [posterior.total(_loss, candidates, each) for each in (steps, wanted)]
    differs = np.abs(losses[0] - losses[1]) > FLAT * np.abs(losses[1])
    for name in ("coefficient", "shrinkage"):
        expected = getattr(wanted, name)
        given = np.where(differs, getattr(steps, name), expected)
        require_close(given, expected, AGREEMENT * scale_of(expected), name, where)


def _loss(rows: Rows) -> Floats:
    return -rows.log_z
