"""The laws of a refiner. Each docstring is what a failing check says was wanted.

What a refiner returns with too few basis vectors, or with sites that are none, has no loss to
compare: such a state fails the check that is about it, and no other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import lru_cache, partial
from typing import Any, cast

import attrs
import numpy as np

from sgpc_framework.parts.abilities import has
from sgpc_framework.parts.hyperparameters import values
from sgpc_framework.protocols import Floats, Refined, Refiner, RefinesInRuns, Refining
from sgpc_framework.rows.state import State
from sgpc_framework.rows.training_rows import TrainingRows
from sgpc_framework.testing.randomness import repeated, under_two_global_seeds
from sgpc_framework.testing.samples import is_matrix
from sgpc_framework.testing.situations import (
    corner_situations,
    current_place,
    ordinary_situations,
    weighted_and_repeated,
)
from sgpc_framework.testing.verdict import (
    Laws,
    require,
    require_close,
    require_equal,
    require_finite,
)


def loss_is_finite(refiner: Refiner) -> None:
    """The refiner's own loss of a fitted state is a finite number."""
    for state, rows, where in _fits():
        require_finite(refiner.loss(state, rows), "loss", where)


def never_worse_than_its_start(refiner: Refiner) -> None:
    """By the refiner's own loss, what it returns is no worse than what it was given."""
    for state, rows, where, end in _ends(refiner):
        refined = end.state
        if _is_sound(refined):
            before, after = refiner.loss(state, rows), refiner.loss(refined, rows)
            require(
                not after > before + 1e-9 * (1.0 + abs(before)),
                f"a loss of {after:.9g} after {before:.9g} at the start ({where})",
            )


def a_site_for_each_basis_vector(refiner: Refiner) -> None:
    """``Refined(state, notes)`` comes back, with as many row numbers, basis inputs, precisions and
    site means as each other, a tuple of strings as notes, and a refiner or None as settled."""
    for _, _, where, refined in _ends(refiner):
        require(
            isinstance(refined, Refined) and isinstance(refined.state, State),
            f"{type(refined).__name__} where Refined(state, notes) is wanted ({where})",
        )
        sizes = _sizes(refined.state)
        require(len(set(sizes)) == 1, f"{sizes} of them ({where})")
        notes, settled = refined.notes, refined.settled
        strings = isinstance(notes, tuple) and all(isinstance(note, str) for note in notes)
        require(strings, f"notes = {notes!r} where a tuple of strings is wanted ({where})")
        require(settled is None or has(settled, Refiner), f"settled = {settled!r} ({where})")


def row_numbers_are_those_of_the_rows(refiner: Refiner) -> None:
    """Row numbers are those of training rows, or -1; a basis vector that is a training row has its
    number, and is there once. (One that was moved may keep the number of the row that it was.)"""
    for _, rows, where, end in _ends(refiner):
        refined = end.state
        if not _is_sound(refined):
            continue  # which another check reports
        outside = [row for row in refined.basis.tolist() if not -1 <= row < len(rows)]
        require(not outside, f"row {outside[:1]} where rows of 0 to {len(rows) - 1} are ({where})")
        X = rows.inputs(np.arange(len(rows)))
        for row, inputs in zip(refined.basis.tolist(), refined.inputs, strict=True):
            twins = np.flatnonzero(np.all(np.equal(X, inputs), axis=1))
            named = row == -1 or not twins.size or row in twins
            require(named, f"row {row} for the inputs of row {twins[:1]} ({where})")


def loss_is_unchanged_by_block_size(refiner: Refiner) -> None:
    """The refiner's own loss is the same, up to rounding, however many blocks the rows are in."""
    for each in (*ordinary_situations()[2:], corner_situations()[0]):
        wanted = refiner.loss(each.state(), each.rows())
        found = refiner.loss(each.state(), each.rows(5))
        allowed = 1e-8 * (1.0 + abs(wanted))
        require_close(found, wanted, allowed, "loss", f"blocks of 5 rows, {each.title}")


def a_weight_counts_as_so_many_rows(refiner: Refiner) -> None:
    """A row of weight 2 counts as two rows: the refiner's own loss is that of the rows repeated."""
    found, wanted = (refiner.loss(state, rows) for state, rows in weighted_and_repeated())
    allowed = 1e-7 * (1.0 + abs(wanted))
    require_close(found, wanted, allowed, "loss", "rows with weights, and repeated ones")


def finite(refiner: Refiner) -> None:
    """Sites, basis inputs and hyperparameters are finite."""
    for _, _, where, end in _ends(refiner):
        for name, array in _arrays(end.state).items():
            require_finite(array, name, where)


def positive_precisions(refiner: Refiner) -> None:
    """Every site precision is above zero."""
    for _, _, where, end in _ends(refiner):
        precision = end.state.precision
        least = float(np.min(precision, initial=np.inf))
        require(not least <= 0.0, f"a precision of {least:.6g} ({where})")


def deterministic_given_the_generator(refiner: Refiner) -> None:
    """The same state and a generator with the same seed give the same bits."""
    for state, rows, where in _fits():
        first, second = repeated(partial(_outcome, refiner, state, rows))
        _require_same(first, second, where)


def uses_only_the_generator_given(refiner: Refiner) -> None:
    """All randomness comes from ``rng``, none from numpy.random or from Python's random."""
    state, rows, where = next(_fits())
    first, second = under_two_global_seeds(partial(_outcome, refiner, state, rows))
    _require_same(first, second, f"under two global seeds, {where}")


def ends_when_told_to(refiner: Refiner) -> None:
    """When ``tell`` says no, it ends, and what comes back is a state as good as ever."""
    state, rows, where = next(_fits())
    told, in_full = Listener(go_on=False), Listener(go_on=True)
    stopped = refiner.refine(state, rows, np.random.default_rng(1), told).state
    sound = _is_sound(stopped) or not _is_sound(_refined(refiner, state, rows))
    require(sound, f"a state that is none ({where})")
    if told.heard > FEW_MORE:
        refiner.refine(state, rows, np.random.default_rng(1), in_full)
        goes_on = f"{told.heard} reports after a no, {in_full.heard} without ({where})"
        require(told.heard <= in_full.heard // 2, goes_on)


def tells_where_it_is(refiner: Refiner) -> None:
    """What it tells is ``Refining(doing, step, steps, loss)``: a text, a step from 0 to the number
    of steps, and a loss that is a number."""
    state, rows, where = next(_fits())
    listener = Listener(go_on=True)
    refiner.refine(state, rows, np.random.default_rng(1), listener)
    for told in listener.told:
        proper = isinstance(told, Refining) and isinstance(told.doing, str)
        require(proper and 0 <= told.step <= told.steps, f"{told!r} ({where})")
        require(not np.isnan(told.loss), f"{told!r} ({where})")


def lets_who_listens_interrupt(refiner: Refiner) -> None:
    """An exception that ``tell`` raises, such as that of Ctrl-C, goes through."""
    state, rows, where = next(_fits())

    def interrupt(_: Refining) -> bool:
        raise _Interruption

    heard = Listener(go_on=True)
    refiner.refine(state, rows, np.random.default_rng(1), heard)
    with suppress(_Interruption):
        refiner.refine(state, rows, np.random.default_rng(1), interrupt)
        require(not heard.told, f"an interruption was swallowed ({where})")


def leaves_what_it_was_given_alone(refiner: Refiner) -> None:
    """State and rows stay as they were: changes go into a copy (``attrs.evolve``)."""
    for state, rows, where in _fits():
        before = {name: array.copy() for name, array in _given(state, rows).items()}
        refiner.loss(state, rows)
        _refined(refiner, state, rows)
        for name, array in _given(state, rows).items():
            require(np.array_equal(array, before[name]), f"{name} were changed ({where})")


def runs_may_be_recalled(refiner: RefinesInRuns) -> None:
    """A run that is recalled, by its end and by where it left the generator, leads to where it led:
    ``refine_in_runs`` does what ``refine`` does, wherever it was cut."""
    state, rows, where = next(_fits())
    runs: list[tuple[State, Any]] = []

    def outcome(known: int) -> dict[str, Floats]:
        """Of a refinement that recalls so many runs."""
        recalled = iter(runs[:known])

        def once(rng: np.random.Generator, run: Callable[[], State]) -> State:
            if (earlier := next(recalled, None)) is not None:
                end, rng.bit_generator.state = earlier
                return end
            end = run()
            if not known:
                runs.append((end, rng.bit_generator.state))
            return end

        rng = np.random.default_rng(1)
        return _arrays(refiner.refine_in_runs(state, rows, rng, _go_on, once).state)

    first = outcome(known=0)
    _require_same(_outcome(cast(Refiner, refiner), state, rows), first, f"run by run, {where}")
    for known in {1, len(runs) // 2, len(runs)} - {0}:
        _require_same(first, outcome(known), f"{known} runs recalled, {where}")


LAWS: Laws = {
    RefinesInRuns: (runs_may_be_recalled,),
    Refiner: (
        loss_is_finite,
        never_worse_than_its_start,
        a_site_for_each_basis_vector,
        row_numbers_are_those_of_the_rows,
        loss_is_unchanged_by_block_size,
        a_weight_counts_as_so_many_rows,
        finite,
        positive_precisions,
        deterministic_given_the_generator,
        uses_only_the_generator_given,
        ends_when_told_to,
        tells_where_it_is,
        lets_who_listens_interrupt,
        leaves_what_it_was_given_alone,
    ),
}


FEW_MORE = 5
"""How often a refiner may tell more after it heard no, from loops inside each other."""


def _fits() -> Iterator[tuple[State, TrainingRows, str]]:
    """Few: a refiner may take its time."""
    for each in (*ordinary_situations()[2:], corner_situations()[0]):
        yield each.state(), each.rows(), each.title


def _ends(refiner: Refiner) -> Iterator[tuple[State, TrainingRows, str, Refined]]:
    """Where each refinement began and where it ended. Laws that only look at that share one, as a
    refiner may take its time; those that are about its ways run it themselves."""
    for number in range(len(tuple(_fits()))):
        try:
            yield _end((type(refiner), current_place()), refiner, number)  # type: ignore[arg-type]
        except TypeError as error:
            if "unhashable" not in str(error):
                raise
            yield _end.__wrapped__((), refiner, number)


@lru_cache(maxsize=8)
def _end(_: object, refiner: Refiner, number: int) -> tuple[State, TrainingRows, str, Refined]:
    state, rows, where = tuple(_fits())[number]
    return state, rows, where, refiner.refine(state, rows, np.random.default_rng(1), _go_on)


@attrs.define
class Listener:
    """Keeps what a refiner tells, and says whether it is to go on."""

    go_on: bool
    told: list[Refining] = attrs.field(factory=list)

    def __call__(self, refining: Refining) -> bool:
        self.told.append(refining)
        return self.go_on

    @property
    def heard(self) -> int:
        return len(self.told)


class _Interruption(BaseException):
    """Nobody's, so that it is not mistaken for a real one."""


def _go_on(_: Refining) -> bool:
    return True


def _refined(refiner: Refiner, state: State, rows: TrainingRows) -> State:
    return refiner.refine(state, rows, np.random.default_rng(1), _go_on).state


def _outcome(refiner: Refiner, state: State, rows: TrainingRows) -> dict[str, Floats]:
    return _arrays(_refined(refiner, state, rows))


def _sizes(state: State) -> list[int]:
    return [len(each) for each in (state.basis, state.inputs, state.precision, state.mean)]


def _is_sound(state: State) -> bool:
    return (
        len(set(_sizes(state))) == 1
        and all(np.all(np.isfinite(array)) for array in _arrays(state).values())
        and bool(np.all(state.precision > 0.0))
    )


def _arrays(state: State) -> dict[str, Floats]:
    """Every number in a state that a refiner may change."""
    return {
        "precisions": state.precision,
        "site means": state.mean,
        "hyperparameters": values(state),
        **({"basis inputs": state.inputs} if is_matrix(state.inputs) else {}),
    }


def _given(state: State, rows: TrainingRows) -> dict[str, Floats]:
    """The same with the rows, which no refiner may change."""
    numbers = np.arange(len(rows))
    return {
        **_arrays(state),
        "row numbers": state.basis,
        "inputs": rows.inputs(numbers),
        "labels": rows.labels(numbers),
    }


def _require_same(first: dict[str, Floats], second: dict[str, Floats], where: str) -> None:
    for name, array in first.items():
        require_equal(array, second[name], name, where)
