"""Objectives that are means of -log Z over rows."""

from __future__ import annotations

from typing import ClassVar, Literal

import attrs

from sgpc_framework.parts.options import positive_number, whole_number
from sgpc_framework.protocols import RowLoss
from sgpc_framework.rows.view import Floats, Rows
from sgpc_plugins.objectives.prior import normal_prior


@attrs.frozen
class Nlp:
    """Negative log predictive probability of the rows outside the basis (eq. 4).

        NLP = -1/|uᶜ| Σ_{i in uᶜ} log Zᵢ

    The rows outside the basis serve as a validation set. When they are less than two thirds of all
    rows they are too few and too easy for that, and all rows count. A log-normal prior around the
    start keeps small data sets from running away; its weight is that of one row.
    """

    name: ClassVar[str] = "nlp"
    over: ClassVar[Literal["inactive"]] = "inactive"

    prior_width: float = positive_number(2.0)
    """The standard deviation of the prior, in free coordinates: one is a factor of e."""

    subset: int = whole_number(0, at_least=0)
    """How many rows to judge by when there are more: 0 for all. Worth setting from 1e5 rows on."""

    def row_loss(self, rows: Rows) -> RowLoss:
        return RowLoss(-rows.log_z, d_log_z=-1.0)

    def penalty(self, displacement: Floats) -> tuple[float, Floats]:
        return normal_prior(displacement, self.prior_width)


@attrs.frozen
class PredictiveLoss:
    """Negative log predictive probability of all rows (eq. 5).

        NLP_a = -1/n Σ_i log Zᵢ        training error <= NLP_a / log 2

    The prior is that of ``nlp``.
    """

    name: ClassVar[str] = "predictive-loss"
    over: ClassVar[Literal["all"]] = "all"

    prior_width: float = positive_number(2.0)
    """The standard deviation of the prior, in free coordinates: one is a factor of e."""

    subset: int = whole_number(0, at_least=0)
    """How many rows to judge by when there are more: 0 for all. Worth setting from 1e5 rows on."""

    def row_loss(self, rows: Rows) -> RowLoss:
        return RowLoss(-rows.log_z, d_log_z=-1.0)

    def penalty(self, displacement: Floats) -> tuple[float, Floats]:
        return normal_prior(displacement, self.prior_width)
