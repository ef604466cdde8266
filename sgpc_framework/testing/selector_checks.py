"""The laws of a selector. Each docstring is what a failing check says was wanted.

Every state is new and made by the kit, so nothing that a selector proposes comes back to it.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sgpc_framework.protocols import BasisSelector, Floats, ScoresCandidates
from sgpc_framework.rows.posterior import Posterior
from sgpc_framework.testing.randomness import global_seed, repeated, under_two_global_seeds
from sgpc_framework.testing.states import (
    ROWS,
    State,
    corner_states,
    defaults,
    include,
    ordinary_states,
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


def proposes_row_numbers(selector: BasisSelector) -> None:
    """propose returns one row number or an array of them: integers from 0 to len(posterior) - 1."""
    _require_of_all(ordinary_states(), selector, _require_row_numbers)


def proposes_inactive_rows_only(selector: BasisSelector) -> None:
    """Every proposed row is inactive, with some variance left: ``posterior.eligible``."""
    _require_of_all(ordinary_states(), selector, _require_inactive)


def proposes_distinct_rows(selector: BasisSelector) -> None:
    """No row is proposed twice at once."""
    _require_of_all(ordinary_states(), selector, _require_distinct)


def survives_duplicates_ties_and_a_single_inactive_row(selector: BasisSelector) -> None:
    """Where rows are duplicates, all tie or only one is left, the proposal is as good as ever."""
    for objection in (_require_row_numbers, _require_inactive, _require_distinct):
        _require_of_all(corner_states(), selector, objection)


def deterministic_given_the_generator(selector: BasisSelector) -> None:
    """The same state and a generator with the same seed give the same proposal."""
    for state in (*ordinary_states(), *corner_states()[:1]):
        first, second = repeated(partial(_of_a_copy, selector, state))
        require_equal(first, second, "proposals", state.title)


def uses_only_the_generator_given(selector: BasisSelector) -> None:
    """All randomness comes from ``rng``, none from numpy.random or from Python's random."""
    for state in ordinary_states():
        first, second = under_two_global_seeds(partial(_of_a_copy, selector, state))
        require_equal(first, second, "proposals under two global seeds", state.title)


def unchanged_by_block_size(selector: BasisSelector) -> None:
    """The proposal is the same however many blocks the rows are in."""
    for state in ordinary_states():
        with global_seed(1):
            wanted = _of_a_copy(selector, state)
        for rows in (1, 5, 7):
            with global_seed(1):
                found = _of_a_copy(selector, state, rows)
            what = f"proposals in blocks of {rows} rows and in one block"
            require_equal(found, wanted, what, state.title)


def keeps_no_state_between_fits(selector: BasisSelector) -> None:
    """Two fits with the same selector and the same seed propose the same rows."""
    for state in ordinary_states():
        first, second = repeated(partial(_fit, selector, state))
        for stage, (before, after) in enumerate(zip(first, second, strict=True), start=1):
            require_equal(before, after, f"proposals of two fits at stage {stage}", state.title)


def leaves_the_posterior_alone(selector: BasisSelector) -> None:
    """No call changes what is in the posterior: only ``include``, which is the engine's, does."""
    for state in ordinary_states():
        posterior = state.posterior()
        before = snapshot(posterior)
        _proposed(selector, posterior)
        require_untouched(before, snapshot(posterior), f"by propose, {state.title}")
        if isinstance(selector, ScoresCandidates):
            _scored(selector, posterior)
            require_untouched(before, snapshot(posterior), f"by score, {state.title}")


def scores_are_finite_one_for_each_candidate(selector: ScoresCandidates) -> None:
    """score returns a finite number for every candidate; the least of them wins."""
    for state in ordinary_states():
        for count in (2, 3):
            scores = np.asarray(_scored(selector, state.posterior(), count), dtype=np.float64)
            found = f"scores of shape {scores.shape} for {count} candidates ({state.title})"
            require(scores.shape == (count,), found)
            require_finite(scores, "score", state.title)


def scores_are_unchanged_by_block_size(selector: ScoresCandidates) -> None:
    """The scores are the same, up to rounding, however many blocks the rows are in."""
    for state in ordinary_states():
        wanted = _scored(selector, state.posterior())
        for rows in (1, 5):
            found = _scored(selector, state.posterior(rows))
            where = f"blocks of {rows} rows, {state.title}"
            require_close(found, wanted, 1e-8 * (1 + scale_of(wanted)), "score", where)


LAWS: Laws = {
    BasisSelector: (
        proposes_row_numbers,
        proposes_inactive_rows_only,
        proposes_distinct_rows,
        survives_duplicates_ties_and_a_single_inactive_row,
        deterministic_given_the_generator,
        uses_only_the_generator_given,
        unchanged_by_block_size,
        keeps_no_state_between_fits,
        leaves_the_posterior_alone,
    ),
    ScoresCandidates: (
        scores_are_finite_one_for_each_candidate,
        scores_are_unchanged_by_block_size,
    ),
}

Proposal = NDArray[Any]
Objection = Callable[[Proposal, Posterior, str], None]


def _require_of_all(
    states: tuple[State, ...], selector: BasisSelector, objection: Objection
) -> None:
    for state in states:
        for seed in (1, 2, 3):
            posterior = state.posterior()
            objection(_proposed(selector, posterior, seed), posterior, state.title)


def _require_row_numbers(rows: Proposal, posterior: Posterior, where: str) -> None:
    require(
        rows.dtype.kind in "iu" and rows.ndim == 1,
        f"{rows.dtype} of shape {rows.shape} where integers are wanted ({where})",
    )
    require(rows.size, f"no row at all ({where})")
    outside = rows[(rows < 0) | (rows >= len(posterior))]
    require(
        not outside.size, f"row {outside[:1]} where rows of 0 to {len(posterior) - 1} are ({where})"
    )


def _require_inactive(rows: Proposal, posterior: Posterior, where: str) -> None:
    if rows.dtype.kind not in "iuf":
        return  # these are no rows at all, which another law says
    inside = rows[(rows >= 0) & (rows < len(posterior))].astype(np.intp)
    spent = inside[~posterior.eligible(inside)]
    active = sorted(posterior.basis)
    require(
        not spent.size,
        f"row {spent[:1]}, which is active or has no variance left (active: {active}; {where})",
    )


def _require_distinct(rows: Proposal, posterior: Posterior, where: str) -> None:
    listed = rows.ravel().tolist()
    require(len(set(listed)) == len(listed), f"a row is repeated: {listed} ({where})")


def _proposed(selector: BasisSelector, posterior: Posterior, seed: int = 1) -> Proposal:
    return np.atleast_1d(np.array(selector.propose(posterior, np.random.default_rng(seed))))


def _of_a_copy(selector: BasisSelector, state: State, block_rows: int = ROWS) -> Proposal:
    """What a selector proposes that has not been asked before."""
    return _proposed(deepcopy(selector), state.posterior(block_rows))


def _fit(selector: BasisSelector, state: State) -> list[Proposal]:
    """The proposals of a few stages; the kit includes rows of its own choice in between."""
    posterior, rng = state.posterior(), np.random.default_rng(1)
    proposals = []
    for row in (1, 8, 13):
        proposals.append(np.atleast_1d(np.array(selector.propose(posterior, rng))))
        include(posterior, row)
    return proposals


def _scored(selector: ScoresCandidates, posterior: Posterior, count: int = 3) -> Floats:
    """The scores of the first eligible rows."""
    index = np.flatnonzero(posterior.eligible(slice(None)))[:count]
    candidates = posterior.candidates(index)
    return selector.score(posterior, candidates, defaults().sites.estimate(posterior, candidates))
