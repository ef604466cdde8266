"""A smaller model: the basis vectors that matter least are left out."""

from __future__ import annotations

from typing import ClassVar

import attrs
import numpy as np

from sgpc_framework.authors import (
    NumericalError,
    Refined,
    Refining,
    State,
    Tell,
    TrainingRows,
    positive_number,
    predictive_loss,
)


@attrs.frozen
class Prune:
    """Leaves out basis vectors as long as each costs less than it is worth.

        loss = NLP_a + price · d / n

    With W = (K_uu + Π⁻¹)⁻¹ and w = W m, leaving out basis vector j with its site takes wⱼ² / Wⱼⱼ
    from mᵀ W m, which is what the sites say of the data, added up over the latent functions; so the
    one with the least of it is tried next. ``price`` is what a basis vector must be worth, in nats
    over all n rows. Sites, hyperparameters and the vectors that stay are not changed.
    """

    name: ClassVar[str] = "prune"

    price: float = positive_number(1.0)

    def loss(self, state: State, rows: TrainingRows) -> float:
        """NLP over all rows (eq. 5), and the price of the basis."""
        return predictive_loss(state, rows) + self.price * len(state) / rows.total_weight

    def refine(
        self, state: State, rows: TrainingRows, rng: np.random.Generator, tell: Tell
    ) -> Refined:
        best, least = state, self.loss(state, rows)
        before = predictive_loss(state, rows)
        while len(best):
            try:
                trial = best[np.arange(len(best)) != _least_important(best)]
                loss = self.loss(trial, rows)
            except NumericalError:
                break
            if not loss < least:
                break
            best, least = trial, loss
            if not tell(Refining("leaving out", len(state) - len(best), len(state), loss)):
                break
        note = (
            f"{len(state) - len(best)} of {len(state)} basis vectors were left out: NLP over all "
            f"rows from {before:.4g} to {predictive_loss(best, rows):.4g}"
        )
        return Refined(best, (note,))


def _least_important(state: State) -> int:
    """The basis vector that the sites say least about."""
    form = state.form()
    squares = np.sum(np.atleast_2d(form.weights) ** 2, axis=0)  # w = W m of each latent function
    return int((squares / np.sum(form.T**2, axis=0)).argmin())  # over the diagonal of W = TᵀT
