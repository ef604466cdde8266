"""Objectives that are means of -log Z over rows."""

from __future__ import annotations

from typing import ClassVar, Literal

import attrs

from sgpc_framework.protocols import RowLoss
from sgpc_framework.rows import Rows


@attrs.frozen
class Nlp:
    """Negative log predictive probability of the rows outside the basis (eq. 4).

        NLP = -1/|uᶜ| Σ_{i in uᶜ} log Zᵢ

    The rows outside the basis serve as a validation set.
    """

    name: ClassVar[str] = "nlp"
    over: ClassVar[Literal["inactive"]] = "inactive"

    def row_loss(self, rows: Rows) -> RowLoss:
        return RowLoss(-rows.log_z, d_log_z=-1.0)


@attrs.frozen
class PredictiveLoss:
    """Negative log predictive probability of all rows (eq. 5).

    NLP_a = -1/n Σ_i log Zᵢ        training error <= NLP_a / log 2
    """

    name: ClassVar[str] = "predictive-loss"
    over: ClassVar[Literal["all"]] = "all"

    def row_loss(self, rows: Rows) -> RowLoss:
        return RowLoss(-rows.log_z, d_log_z=-1.0)
