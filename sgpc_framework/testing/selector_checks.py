"""The laws of a selector. Each docstring is what a failing check says was wanted.

Every situation is new and made by the kit, so nothing that a selector proposes comes back to it.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sgpc_framework.protocols import BasisSelector, Floats, ScoresCandidates, SelectsWithMemory
from sgpc_framework.rows.posterior import Posterior
from sgpc_framework.testing.locality import LocalityProbe
from sgpc_framework.testing.randomness import repeated, under_two_global_seeds
from sgpc_framework.testing.side_effects import WatchedPosterior, holds_generator
from sgpc_framework.testing.situations import (
    Situation,
    corner_situations,
    defaults,
    include,
    ordinary_situations,
    require_untouched,
    rows_of_three_kinds,
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


def proposes_row_numbers(selector: BasisSelector) -> None:
    """propose returns one row number or an array of them: integers from 0 to len(posterior) - 1.

    ``None``, which says that there are basis vectors enough, is as good once there is one.
    """
    _require_of_all(ordinary_situations(), selector, require_row_numbers)


def proposes_inactive_rows_only(selector: BasisSelector) -> None:
    """Every proposed row is inactive, with some variance left: ``posterior.eligible``."""
    _require_of_all(ordinary_situations(), selector, require_inactive)


def proposes_distinct_rows(selector: BasisSelector) -> None:
    """No row is proposed twice at once."""
    _require_of_all(ordinary_situations(), selector, require_distinct)


def survives_duplicates_ties_and_a_single_inactive_row(selector: BasisSelector) -> None:
    """Where rows are duplicates, all tie or only one is left, the proposal is as good as ever."""
    for objection in (require_row_numbers, require_inactive, require_distinct):
        _require_of_all(corner_situations(), selector, objection)


def deterministic_given_the_generator(selector: BasisSelector) -> None:
    """The same situation and a generator with the same seed give the same proposal."""
    for situation in (*ordinary_situations(), *corner_situations()[:1]):
        first, second = repeated(partial(_of_a_copy, selector, situation))
        require_equal(first, second, "proposals", situation.title)


def uses_only_the_generator_given(selector: BasisSelector) -> None:
    """All randomness comes from ``rng``, none from numpy.random or from Python's random."""
    for situation in ordinary_situations():
        first, second = under_two_global_seeds(partial(_of_a_copy, selector, situation))
        require_equal(first, second, "proposals under two global seeds", situation.title)


def row_functions_are_row_local(selector: BasisSelector) -> None:
    """What a function says of a row does not depend on the rows that stand beside it."""
    for situation in ordinary_situations():
        for block_rows in (1, 5, 7):
            probe: Any = LocalityProbe(situation, block_rows)
            _asked(deepcopy(selector), probe, np.random.default_rng(1))


def row_functions_change_nothing(selector: BasisSelector) -> None:
    """A row function changes no array or list that it was made with, nor what it said of another
    block: it returns new numbers, because the rows may be elsewhere, and blocks come at once."""
    for situation in ordinary_situations():
        watched: Any = WatchedPosterior(situation.posterior(5), situation.title)
        _asked(deepcopy(selector), watched, np.random.default_rng(1))
        if isinstance(selector, ScoresCandidates):
            _scored(selector, watched)


def memory_keeps_no_generator(selector: SelectsWithMemory) -> None:
    """The memory that begun returns holds no random generator: at every stage there is a new one,
    so that a fit that is resumed has the same bits."""
    for situation in ordinary_situations():
        memory = selector.begun(situation.posterior(), np.random.default_rng(1))
        require(not holds_generator(memory), f"a generator in the memory ({situation.title})")


def keeps_no_state_between_fits(selector: BasisSelector) -> None:
    """Two fits with the same selector and the same seed propose the same rows, with the same scores
    if it scores them."""
    for situation in ordinary_situations():
        first, second = repeated(partial(_fit, selector, situation))
        for stage, (before, after) in enumerate(zip(first, second, strict=True), start=1):
            for what, array in before.items():
                title = f"{what} of two fits at stage {stage}"
                require_equal(array, after[what], title, situation.title)


def leaves_the_posterior_alone(selector: BasisSelector) -> None:
    """No call changes what is in the posterior: only ``include``, which is the engine's, does."""
    for situation in ordinary_situations():
        posterior = situation.posterior()
        before = snapshot(posterior)
        _proposed(selector, posterior)
        require_untouched(before, snapshot(posterior), f"by propose, {situation.title}")
        if isinstance(selector, ScoresCandidates):
            _scored(selector, posterior)
            require_untouched(before, snapshot(posterior), f"by score, {situation.title}")


def scores_are_finite_one_for_each_candidate(selector: ScoresCandidates) -> None:
    """score returns a finite number for every candidate; the least of them wins."""
    for situation in ordinary_situations():
        for count in (2, 3):
            scores = np.asarray(_scored(selector, situation.posterior(), count), dtype=np.float64)
            found = f"scores of shape {scores.shape} for {count} candidates ({situation.title})"
            require(scores.shape == (count,), found)
            require_finite(scores, "score", situation.title)


def scores_are_unchanged_by_block_size(selector: ScoresCandidates) -> None:
    """The scores are the same, up to rounding, however many blocks the rows are in."""
    for situation in ordinary_situations():
        wanted = _scored(selector, situation.posterior())
        for rows in (1, 5):
            found = _scored(selector, situation.posterior(rows))
            where = f"blocks of {rows} rows, {situation.title}"
            require_close(found, wanted, 1e-8 * (1 + scale_of(wanted)), "score", where)


def a_score_goes_with_its_candidate(selector: ScoresCandidates) -> None:
    """A score belongs to a row or to what the row is like, not to the place that it has among the
    candidates."""
    situation = rows_of_three_kinds()
    first, *others = (
        _scored(selector, situation.posterior(), index=np.arange(start, start + 3))
        for start in (0, 1, 2)
    )
    rounding = 1e-8 * (1.0 + scale_of(first))
    if any(np.shape(each) != (3,) or not np.all(np.isfinite(each)) for each in (first, *others)):
        return  # which another law reports
    for turn, scores in enumerate(others, start=1):
        alike, same_rows = np.roll(first, -turn), first[turn:]
        by_kind = np.abs(scores - alike).max() <= rounding
        by_row = np.abs(scores[: len(same_rows)] - same_rows).max() <= rounding
        require(
            by_kind or by_row,
            f"{scores} for rows {turn} to {turn + 2}, and {alike} for rows that are alike, some of "
            f"them the same, in another order ({situation.title})",
        )


LAWS: Laws = {
    BasisSelector: (
        proposes_row_numbers,
        proposes_inactive_rows_only,
        proposes_distinct_rows,
        survives_duplicates_ties_and_a_single_inactive_row,
        deterministic_given_the_generator,
        uses_only_the_generator_given,
        row_functions_are_row_local,
        row_functions_change_nothing,
        keeps_no_state_between_fits,
        leaves_the_posterior_alone,
    ),
    SelectsWithMemory: (memory_keeps_no_generator,),
    ScoresCandidates: (
        scores_are_finite_one_for_each_candidate,
        scores_are_unchanged_by_block_size,
        a_score_goes_with_its_candidate,
    ),
}

MOST_ROWS = 2**31 - 1
"""Rows beyond these nobody has."""

Proposal = NDArray[Any]
Objection = Callable[[Proposal, Posterior, str], None]


def _require_of_all(
    situations: tuple[Situation, ...], selector: BasisSelector, objection: Objection
) -> None:
    for situation in situations:
        for seed in (1, 2, 3):
            posterior = situation.posterior()
            proposal = _proposed(selector, posterior, seed)
            enough = proposal.dtype == object and proposal.tolist() == [None]
            if not enough or not posterior.size:
                objection(proposal, posterior, situation.title)


def require_row_numbers(rows: Proposal, posterior: Posterior, where: str) -> None:
    """A proposal is of integers that are numbers of rows."""
    require(
        rows.dtype.kind in "iu" and rows.ndim == 1,
        f"{rows.dtype} of shape {rows.shape} where integers are wanted ({where})",
    )
    require(
        np.iinfo(rows.dtype).max >= MOST_ROWS, f"{rows.dtype}, too few numbers for millions of rows"
    )
    require(rows.size, f"no row at all ({where})")
    outside = rows[(rows < 0) | (rows >= len(posterior))]
    require(
        not outside.size, f"row {outside[:1]} where rows of 0 to {len(posterior) - 1} are ({where})"
    )


def require_inactive(rows: Proposal, posterior: Posterior, where: str) -> None:
    """A proposal is of rows that can be included."""
    if rows.dtype.kind not in "iuf":
        return  # these are no rows at all, which another law says
    inside = rows[(rows >= 0) & (rows < len(posterior))].astype(np.intp)
    spent = inside[~posterior.eligible()[inside]]
    active = sorted(posterior.basis)
    require(
        not spent.size,
        f"row {spent[:1]}, which is active or has no variance left (active: {active}; {where})",
    )


def require_distinct(rows: Proposal, posterior: Posterior, where: str) -> None:
    """A proposal names no row twice."""
    listed = rows.ravel().tolist()
    require(len(set(listed)) == len(listed), f"a row is repeated: {listed} ({where})")


def _proposed(selector: BasisSelector, posterior: Posterior, seed: int = 1) -> Proposal:
    return _asked(selector, posterior, np.random.default_rng(seed))


def _asked(selector: BasisSelector, posterior: Posterior, rng: np.random.Generator) -> Proposal:
    """The proposal of a first stage."""
    return proposed_rows(selector.propose(posterior, rng, *memory_of(selector, posterior, rng)))


def memory_of(selector: object, posterior: Posterior, rng: np.random.Generator) -> tuple[Any, ...]:
    """What a selector with a memory is handed besides; nothing for others."""
    return (selector.begun(posterior, rng),) if isinstance(selector, SelectsWithMemory) else ()


def proposed_rows(proposal: object) -> Proposal:
    """A proposal as an array, whatever it is."""
    return np.atleast_1d(np.array(proposal))


def _of_a_copy(selector: BasisSelector, situation: Situation) -> Proposal:
    """What a selector proposes that has not been asked before."""
    return _proposed(deepcopy(selector), situation.posterior())


def _fit(selector: BasisSelector, situation: Situation) -> list[dict[str, Any]]:
    """What is said at a few stages; the kit includes rows of its own choice in between."""
    posterior, rng = situation.posterior(), np.random.default_rng(1)
    memory = memory_of(selector, posterior, rng)
    stages = []
    for row in (1, 8, 13):
        said: dict[str, Any] = {
            "proposals": proposed_rows(selector.propose(posterior, rng, *memory))
        }
        if isinstance(selector, ScoresCandidates):
            said["scores"] = np.array(_scored(selector, posterior, memory=memory))
        stages.append(said)
        include(posterior, row)
    return stages


def _scored(
    selector: ScoresCandidates,
    posterior: Posterior,
    count: int = 3,
    memory: tuple[Any, ...] | None = None,
    index: NDArray[np.intp] | None = None,
) -> Floats:
    """The scores of some rows, by default the first eligible ones; of a first stage, unless there
    is a memory."""
    if index is None:
        index = np.flatnonzero(posterior.eligible())[:count]
    candidates = posterior.candidates(index)
    steps = defaults().sites.estimate(posterior, candidates)
    if memory is None:
        memory = memory_of(selector, posterior, np.random.default_rng(1))
    return selector.score(posterior, candidates, steps, *memory)
