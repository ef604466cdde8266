"""The laws of an objective. Each docstring is what a failing check says was wanted.

Values and gradients are judged where they are used: by way of the algebra of step 6, in which
they become those of the kernel's and the likelihood's hyperparameters.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import attrs
import numpy as np

from sgpc_framework.engine.trial import Trial
from sgpc_framework.parts.abilities import has
from sgpc_framework.parts.hyperparameters import FreeVector, values
from sgpc_framework.protocols import Floats, HyperObjective, Loss, Subsampled
from sgpc_framework.rows.state import State
from sgpc_framework.rows.training_rows import TrainingRows
from sgpc_framework.testing.differences import require_gradient, variations
from sgpc_framework.testing.randomness import repeated
from sgpc_framework.testing.situations import (
    ROWS,
    Situation,
    corner_situations,
    ordinary_situations,
    situation_of,
    weighted_and_repeated,
)
from sgpc_framework.testing.verdict import (
    Laws,
    require,
    require_close,
    require_equal,
    require_finite,
    scale_of,
)


def finite(objective: HyperObjective) -> None:
    """The loss and its gradient are finite, the gradient with an entry for each hyperparameter."""
    for fit in _fits():
        value, gradient = fit.evaluated(objective)
        require_finite(value, "loss", fit.title)
        require_finite(gradient, "gradient", fit.title)


def says_something_everywhere_or_nowhere(objective: HyperObjective) -> None:
    """loss returns a ``Loss``, or always None, which leaves the hyperparameters alone."""
    answers = {objective.loss(fit.trial(fit.state)) is None for fit in _fits()}
    require(len(answers) == 1, "None for some states and a loss for others")


def a_loss_with_all_its_entries(objective: HyperObjective) -> None:
    """``Loss(value, gradient, rows, comparable, remark)``: a number, an array, a number above zero,
    true or false, and a text; ``subset``, if there is one, is a whole number from 0 on."""
    for fit in _fits():
        loss = objective.loss(fit.trial(fit.state))
        if loss is None:
            continue
        require(isinstance(loss, Loss), f"{type(loss).__name__} where a Loss is wanted")
        require(np.ndim(loss.value) == 0, f"a value of shape {np.shape(loss.value)}")
        require(loss.rows > 0, f"rows = {loss.rows!r}, over which it is averaged or summed")
        require(isinstance(loss.comparable, bool), f"comparable = {loss.comparable!r}")
        require(isinstance(loss.remark, str), f"remark = {loss.remark!r}")
    if has(objective, Subsampled):
        subset = objective.subset
        require(isinstance(subset, int) and subset >= 0, f"subset = {subset!r}")


def prefers_a_fit_to_its_opposite(objective: HyperObjective) -> None:
    """A loss is to be low: a model that was fitted has none above that of the model that says the
    opposite of it."""
    fit = Fit(situation_of(40, included=(3, 11, 19, 7, 0, 25)))
    opposite = attrs.evolve(fit.state, mean=-fit.state.mean)
    value, other = (fit.evaluated(objective, each)[0] for each in (fit.state, opposite))
    require(
        not value > other + 1e-6 * scale_of([1.0, other]),
        f"a loss of {value:.6g}, and {other:.6g} of the opposite: is the sign right?",
    )


def gradient_agrees_with_differences(objective: HyperObjective) -> None:
    """The derivatives that come with the loss are its derivatives, priors included."""
    for fit in _fits():

        def loss(state: State, fit: Fit = fit) -> float:
            return fit.evaluated(objective, state)[0]

        for state in variations(fit.state):
            value, gradient = fit.evaluated(objective, state)
            scale = scale_of([1.0, value])
            require_gradient(gradient, state, loss, scale, fit.title, free=True)


def deterministic(objective: HyperObjective) -> None:
    """The same rows and hyperparameters give the same bits."""
    for fit in _fits():
        first, second = repeated(partial(fit.evaluated, objective))
        require_equal(first[0], second[0], "loss", fit.title)
        require_equal(first[1], second[1], "gradient", fit.title)


def unchanged_by_block_size(objective: HyperObjective) -> None:
    """The loss is the same, up to rounding, however many blocks the rows are in."""
    for fit in _fits():
        wanted, gradient = fit.evaluated(objective)
        for block_rows in (1, 5):
            value, again = Fit(fit.situation, block_rows).evaluated(objective)
            what = f"{fit.title}, blocks of {block_rows} rows"
            require_close(value, wanted, 1e-8 * scale_of([1.0, wanted]), "loss", what)
            require_close(again, gradient, 1e-8 * (1 + scale_of(gradient)), "gradient", what)


def a_weight_counts_as_so_many_rows(objective: HyperObjective) -> None:
    """A row of weight 2 counts as two rows: the loss and its gradient are those of the rows
    repeated, unless it is of a part of the rows only."""
    ours, theirs = (
        objective.loss(Trial(state, rows, state)) for state, rows in weighted_and_repeated()
    )
    if ours is None or theirs is None or (has(objective, Subsampled) and objective.subset):
        return
    for what in ("value", "gradient"):
        found, wanted = getattr(ours, what), getattr(theirs, what)
        allowed = 1e-7 * (1.0 + scale_of(wanted))
        require_close(found, wanted, allowed, what, "rows with weights, and repeated ones")


def leaves_the_sites_alone(objective: HyperObjective) -> None:
    """An evaluation changes neither the rows nor the sites."""
    for fit in _fits():
        before = [array.copy() for array in fit.arrays()]
        fit.evaluated(objective)
        for name, old, new in zip(
            ("X", "y", "site precisions", "site means"), before, fit.arrays(), strict=True
        ):
            require(np.array_equal(old, new), f"{name} were changed ({fit.title})")


LAWS: Laws = {
    HyperObjective: (
        says_something_everywhere_or_nowhere,
        finite,
        a_loss_with_all_its_entries,
        prefers_a_fit_to_its_opposite,
        gradient_agrees_with_differences,
        deterministic,
        unchanged_by_block_size,
        a_weight_counts_as_so_many_rows,
        leaves_the_sites_alone,
    )
}


class Fit:
    """A state, the rows it was fitted to, and what an objective says of both."""

    def __init__(self, situation: Situation, block_rows: int = ROWS) -> None:
        self.situation = situation
        self.title = situation.title
        self.rows: TrainingRows = situation.rows(block_rows)
        self.state = situation.state()

    def trial(self, state: State) -> Trial:
        """The trial of a state's hyperparameters, in a fit that started at this one's."""
        free = FreeVector.of(state).free(values(state))
        return Trial.at(free, state, self.rows, self.state)

    def evaluated(
        self, objective: HyperObjective, state: State | None = None
    ) -> tuple[float, Floats]:
        """The loss and its gradient in free coordinates; nothing if there is none."""
        loss = objective.loss(self.trial(self.state if state is None else state))
        if loss is None:
            return 0.0, np.zeros(len(values(self.state)))
        return loss.value, loss.gradient

    def arrays(self) -> list[Floats]:
        """What an objective must not change."""
        numbers = np.arange(len(self.rows))
        state = self.state
        return [self.rows.inputs(numbers), self.rows.labels(numbers), state.precision, state.mean]


def _fits() -> Iterator[Fit]:
    for situation in (*ordinary_situations()[1:], corner_situations()[0]):
        yield Fit(situation)
