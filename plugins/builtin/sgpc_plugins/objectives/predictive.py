"""Objectives that are means of -log Z over rows."""

from __future__ import annotations

from typing import ClassVar

import attrs

from sgpc_framework.authors import Loss, RowLoss, Rows, Trial, positive_number, whole_number
from sgpc_plugins.objectives.prior import with_prior


@attrs.frozen
class Nlp:
    """Negative log predictive probability of the rows outside the basis (eq. 4).

        NLP = -1/|uᶜ| Σ_{i in uᶜ} log Zᵢ

    The rows outside the basis serve as a validation set. When they are less than two thirds of all
    rows they are too few and too easy for that, and all rows count. A log-normal prior around the
    start keeps small data sets from running away; its weight is that of one row.
    """

    name: ClassVar[str] = "nlp"

    prior_width: float = positive_number(2.0)
    """The standard deviation of the prior, in free coordinates: one is a factor of e."""

    subset: int = whole_number(0, at_least=0)
    """How many rows to judge by when there are more: 0 for all. Worth setting from 1e5 rows on."""

    def loss(self, trial: Trial) -> Loss:
        mean = trial.mean(_minus_log_z, over="inactive")
        return with_prior(mean, trial, self.prior_width)


@attrs.frozen
class PredictiveLoss:
    """Negative log predictive probability of all rows (eq. 5).

        NLP_a = -1/n Σ_i log Zᵢ        training error <= NLP_a / log 2

    The prior is that of ``nlp``.
    """

    name: ClassVar[str] = "predictive-loss"

    prior_width: float = positive_number(2.0)
    """The standard deviation of the prior, in free coordinates: one is a factor of e."""

    subset: int = whole_number(0, at_least=0)
    """How many rows to judge by when there are more: 0 for all. Worth setting from 1e5 rows on."""

    def loss(self, trial: Trial) -> Loss:
        return with_prior(trial.mean(_minus_log_z), trial, self.prior_width)


def _minus_log_z(rows: Rows) -> RowLoss:
    return RowLoss(-rows.log_z, d_log_z=-1.0)
