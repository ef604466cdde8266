"""The thorough laws of the other kinds: hundreds of rows, sixty stages, and the tails.

Here a selector and a site estimator walk their own way, as in a fit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import attrs
import numpy as np

from sgpc_framework.algebra.sites import Steps
from sgpc_framework.engine.slopes import predictive_loss
from sgpc_framework.parts.hyperparameters import FreeVector, replaced, values
from sgpc_framework.plugin.kinds import KindName
from sgpc_framework.protocols import (
    BasisSelector,
    Floats,
    HyperObjective,
    Likelihood,
    Refined,
    Refiner,
    Refining,
    ScoresCandidates,
    SiteEstimator,
)
from sgpc_framework.rows.candidates import Candidates
from sgpc_framework.rows.posterior import Posterior
from sgpc_framework.rows.view import Rows
from sgpc_framework.testing import likelihood_checks as near
from sgpc_framework.testing.differences import EXACT, require_gradient, slope, variations
from sgpc_framework.testing.memory_use import require_linear_memory
from sgpc_framework.testing.objective_checks import Fit
from sgpc_framework.testing.selector_checks import (
    memory_of,
    proposed_rows,
    require_distinct,
    require_inactive,
    require_row_numbers,
)
from sgpc_framework.testing.several_threads import require_same_from_threads
from sgpc_framework.testing.side_effects import CountedPosterior
from sgpc_framework.testing.situations import defaults, situation_of
from sgpc_framework.testing.verdict import (
    Laws,
    require,
    require_close,
    require_equal,
    require_finite,
    scale_of,
)

ROWS = 300
STAGES = 60
FEW = 100
ALLOWED_TRIPS = 20
"""So many trips more are nobody's business."""

TAIL = 60.0
"""How far out derivatives are compared with differences, in units of the latent function."""


def same_values_in_large_blocks(likelihood: Likelihood) -> None:
    """Thousands of rows have the moments that they have some at a time."""
    for varied, at in near.cases(likelihood, np.linspace(-8.0, 8.0, 10_000), 1.0):
        whole = varied.moments(*at.moved())
        pieces = [
            varied.moments(at.y[rows], at.mean[..., rows], at.variance[rows])
            for rows in np.array_split(np.arange(len(at.y)), 100)
        ]
        for name, found, some in zip(whole._fields, whole, zip(*pieces, strict=True), strict=True):
            wanted = np.concatenate(some, axis=-1)
            allowed = 1e-9 * (1.0 + np.abs(wanted))
            require_close(
                found, wanted, allowed, name, f"10000 rows at once and 100 at a time; {at}"
            )


def derivatives_in_the_tails(likelihood: Likelihood) -> None:
    """alpha is the derivative of log_z, and nu minus that of alpha, far from the boundary too."""
    means = np.linspace(-TAIL, TAIL, 41) + 0.03
    for varied, at in near.cases(likelihood, means, 0.0, 1.0, 400.0, 1e4, 1e6):
        step = 2e-3 * float(np.sqrt(1.0 + at.variance[0]))

        def moments(t: float, varied: Any = varied, at: Any = at) -> Floats:
            found = varied.moments(*at.moved(mean=t))
            return np.stack([np.ravel(found.log_z), at.own(np.asarray(found.alpha))])

        wanted, error = slope(moments, step)
        found = varied.moments(*at.moved())
        given = np.stack([at.own(np.asarray(found.alpha)), -at.own(np.asarray(found.nu))])
        log_z = np.abs(moments(0.0))
        allowed = 10.0 * EXACT * (1.0 + np.abs(wanted)) + error + 1e-12 * log_z / step
        require_close(given, wanted, allowed, "derivative", f"alpha and -nu in the tails; {at}")


def same_moments_from_several_threads(likelihood: Likelihood) -> None:
    """Blocks of rows have their moments when several threads ask for them at once.

    So nothing is computed in an array that all calls share.
    """
    *_, (varied, at) = near.cases(likelihood, np.linspace(-8.0, 8.0, 6000), 1.0)

    def asked(rows: Any) -> Floats:
        found = varied.moments(at.y[rows], at.mean[..., rows], at.variance[rows])
        return np.concatenate([np.ravel(each) for each in found])

    require_same_from_threads(asked, np.array_split(np.arange(6000), 8), "moments")


def memory_for_the_rows_and_not_for_their_square(selector: BasisSelector) -> None:
    """A proposal takes memory in proportion to the rows: a fit may have millions."""

    def propose(rows: int) -> None:
        posterior, rng = _posteriors(rows), np.random.default_rng(1)
        selector.propose(posterior, rng, *memory_of(selector, posterior, rng))

    require_linear_memory(propose, "a proposal")


def sites_for_the_rows_and_not_for_their_square(sites: SiteEstimator) -> None:
    """A site takes memory in proportion to the rows: a fit may have millions."""

    def estimate(rows: int) -> None:
        posterior = _posteriors(rows)
        sites.estimate(posterior, posterior.candidates(np.arange(2)))

    require_linear_memory(estimate, "a site")


def a_few_trips_however_many_rows(selector: BasisSelector) -> None:
    """A proposal asks the posterior a few times, however many rows there are: each time is a trip
    to wherever they are."""

    def propose(posterior: Posterior) -> None:
        rng = np.random.default_rng(1)
        selector.propose(posterior, rng, *memory_of(selector, posterior, rng))

    _require_few_trips(propose, "a proposal")


def sites_of_a_few_trips_however_many_rows(sites: SiteEstimator) -> None:
    """A site asks the posterior a few times, however many rows there are: each time is a trip to
    wherever they are."""
    _require_few_trips(lambda p: sites.estimate(p, p.candidates(np.arange(2))), "a site")


def sixty_stages_of_proposals(selector: BasisSelector) -> None:
    """In a fit of 60 stages to 300 rows, every proposal is of inactive, distinct rows, and every
    score is finite."""
    for _ in _stages(selector):
        pass


def sixty_stages_twice(selector: BasisSelector) -> None:
    """Two fits of 60 stages propose the same rows."""
    first, second = list(_stages(selector)), list(_stages(selector))
    require(len(first) == len(second), f"{len(first)} stages, then {len(second)}")
    for stage, (before, after) in enumerate(zip(first, second, strict=True), start=1):
        require_equal(before, after, f"proposals of two fits at stage {stage}", f"{ROWS} rows")


def sixty_stages_of_sites(sites: SiteEstimator) -> None:
    """In a fit of 60 stages to 300 rows, every site is finite and takes some of its row's
    variance, and not all of it."""
    situation = situation_of(ROWS)
    posterior, rng = situation.posterior(stages=STAGES), np.random.default_rng(1)
    for stage in range(1, STAGES + 1):
        index = rng.permutation(np.flatnonzero(posterior.eligible()))[:3]
        candidates = posterior.candidates(index)
        steps = sites.estimate(posterior, candidates)
        where = f"stage {stage} of {STAGES}"
        require_finite(steps.coefficient, "coefficient", where)
        share = np.asarray(steps.shrinkage) * candidates.at.variance
        found = f"shrinkage * variance = {share} ({where})"
        require(np.all((share > 0.0) & (share < 1.0)), found)
        posterior.include(candidates, 0, steps[0])


def gradient_in_the_tails(objective: HyperObjective) -> None:
    """The derivatives that come with the loss are its derivatives where a model is sure of itself
    and wrong, too."""
    situation = situation_of(40, included=(3, 11, 19, 7, 0, 25))
    fit = Fit(situation)
    for factor in (5.0, 40.0):
        fit.state = attrs.evolve(situation.state(), mean=factor * situation.state().mean)

        def loss(state: Any) -> float:
            return fit.evaluated(objective, state)[0]

        for state in variations(fit.state):
            value, gradient = fit.evaluated(objective, state)
            where = f"site means {factor:g} times as large"
            require_gradient(gradient, state, loss, scale_of([1.0, value]), where, free=True)


def gradient_far_from_the_start(objective: HyperObjective) -> None:
    """The derivatives that come with the loss are its derivatives where the hyperparameters have
    moved far, too."""
    fit = Fit(situation_of(40, included=(3, 11, 19, 7, 0, 25)))
    box = FreeVector.of(fit.state)
    here = box.free(values(fit.state))

    def loss(state: Any) -> float:
        return fit.evaluated(objective, state)[0]

    for move in (-2.5, 2.5):
        least, most = box.free(box.least) + 0.1, box.free(box.most) - 0.1
        state = replaced(fit.state, box.natural(np.clip(here + move, least, most)))
        value, gradient = fit.evaluated(objective, state)
        where = f"{move:+g} from the start in free coordinates"
        require_gradient(gradient, state, loss, scale_of([1.0, value]), where, free=True)


def does_no_harm_to_the_log_loss(refiner: Refiner) -> None:
    """NLP (log loss) over the training rows does not rise clearly, beyond that of even odds: a
    refiner may forget what was learnt by heart, and its own loss may not hide what it does."""
    situation = situation_of(ROWS, included=tuple(range(0, ROWS, 15)))
    state, rows = situation.state(), situation.rows()
    end = refiner.refine(state, rows, np.random.default_rng(1), _go_on).state
    if len(end) == len(state):
        before, after = predictive_loss(state, rows), predictive_loss(end, rows)
        found = f"NLP of {after:.4g} after {before:.4g} at the start"
        require(after <= max(before, np.log(2.0)) + 0.05, found)


def never_worse_on_hundreds_of_rows(refiner: Refiner) -> None:
    """By the refiner's own loss, what it makes of 20 basis vectors and 300 rows is no worse."""
    situation = situation_of(ROWS, included=tuple(range(0, ROWS, 15)))
    state, rows = situation.state(), situation.rows()
    refined = refiner.refine(state, rows, np.random.default_rng(1), _go_on)
    require(isinstance(refined, Refined), f"{type(refined).__name__} where Refined is wanted")
    before, after = refiner.loss(state, rows), refiner.loss(refined.state, rows)
    found = f"a loss of {after:.9g} after {before:.9g} at the start"
    require(after <= before + 1e-9 * (1.0 + abs(before)), found)


LAWS: dict[KindName, Laws] = {
    "likelihood": {
        Likelihood: (
            same_values_in_large_blocks,
            derivatives_in_the_tails,
            same_moments_from_several_threads,
        )
    },
    "selector": {
        BasisSelector: (
            sixty_stages_of_proposals,
            sixty_stages_twice,
            memory_for_the_rows_and_not_for_their_square,
            a_few_trips_however_many_rows,
        )
    },
    "sites": {
        SiteEstimator: (
            sixty_stages_of_sites,
            sites_for_the_rows_and_not_for_their_square,
            sites_of_a_few_trips_however_many_rows,
        )
    },
    "objective": {HyperObjective: (gradient_in_the_tails, gradient_far_from_the_start)},
    "refiner": {Refiner: (never_worse_on_hundreds_of_rows, does_no_harm_to_the_log_loss)},
}


def _require_few_trips(act: Callable[[Posterior], object], what: str) -> None:
    few, many = (_trips(act, rows) for rows in (FEW, 4 * FEW))
    require(
        many <= 2 * few + ALLOWED_TRIPS,
        f"{many} trips of {what} with {4 * FEW} rows, {few} with {FEW}: that grows with the rows",
    )


def _trips(act: Callable[[Posterior], object], rows: int) -> int:
    counted: Any = CountedPosterior(_posteriors(rows))
    act(counted)
    return int(counted.trips)


@cache
def _posteriors(rows: int) -> Posterior:
    """Of so many rows, one of them a basis vector."""
    return situation_of(rows, included=(7,)).posterior()


def _stages(selector: BasisSelector) -> Iterator[Any]:
    """The proposals of a fit in which the best candidate is included; fewer if it has enough."""
    posterior = situation_of(ROWS).posterior(stages=STAGES)
    memory = memory_of(selector, posterior, np.random.default_rng([1, 0]))
    for stage in range(1, STAGES + 1):
        rng = np.random.default_rng([1, stage])
        said = selector.propose(posterior, rng, *memory)
        if said is None and posterior.size:
            return
        rows, where = proposed_rows(said), f"stage {stage} of {STAGES}"
        for objection in (require_row_numbers, require_inactive, require_distinct):
            objection(rows, posterior, where)
        yield rows
        candidates = posterior.candidates(rows)
        steps = defaults().sites.estimate(posterior, candidates)
        scores = _scores(selector, posterior, candidates, steps, memory)
        require_finite(scores, "score", where)
        best = int(np.argmin(scores))
        posterior.include(candidates, best, steps[best])


def _scores(
    selector: object,
    posterior: Posterior,
    candidates: Candidates,
    steps: Steps,
    memory: tuple[Any, ...],
) -> Floats:
    if len(candidates) == 1:
        return np.zeros(1)
    if isinstance(selector, ScoresCandidates):
        return np.asarray(selector.score(posterior, candidates, steps, *memory), dtype=np.float64)
    return -posterior.total(_log_z, candidates, steps)


def _log_z(rows: Rows) -> Floats:
    return rows.log_z


def _go_on(_: Refining) -> bool:
    return True
