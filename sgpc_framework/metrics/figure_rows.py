"""The figures of merit as rows of text, for tables on a terminal and on a page."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sgpc_framework.metrics.bootstrap import Interval
from sgpc_framework.metrics.figures_of_merit import Merits, Noise

KNOWN, UNKNOWN = "training frequencies", "frequencies of these rows"


class FigureRow(NamedTuple):
    """A figure: what it is called, its value, how sure it is, and what needs no model."""

    name: str
    value: str
    noise: str
    beside: str


def figure_rows(
    merits: Merits, noise: Noise, classes: int, *, shares_known: bool = True
) -> list[FigureRow]:
    """Every figure of merit, what people decide by first.

    ``shares_known`` says whether the class frequencies are those of the training rows.
    """
    by = KNOWN if shares_known else UNKNOWN
    brier = merits.brier
    return [
        FigureRow(
            "log loss",
            f"{merits.log_loss:.4f}",
            _plus_minus(noise.log_loss),
            f"{by}: {merits.baseline_log_loss:.4f}",
        ),
        FigureRow(
            "error",
            _percent(merits.error),
            _plus_minus(noise.error, 100.0, 1),
            f"the most frequent class: {_percent(merits.baseline_error)}",
        ),
        FigureRow(
            "balanced error",
            _percent(merits.balanced_error),
            _plus_minus(noise.balanced_error, 100.0, 1),
            f"one class for all: {_percent(1.0 - 1.0 / classes)}",
        ),
        FigureRow("AUC", _number(merits.auc), _from_to(noise.auc), "by chance: 0.5"),
        FigureRow(
            "average precision",
            _number(merits.average_precision),
            _from_to(noise.average_precision),
            "by chance: the share of the class",
        ),
        FigureRow(
            "Brier score",
            f"{brier.score:.4f}",
            _plus_minus(noise.brier),
            f"{by}: {merits.baseline_brier:.4f}",
        ),
        FigureRow("Brier: reliability", f"{brier.reliability:.4f}", "", "calibrated: 0"),
        FigureRow("Brier: less resolution", f"{brier.resolution:.4f}", "", "knows nothing: 0"),
        FigureRow(
            "Brier: plus uncertainty",
            f"{brier.uncertainty:.4f}",
            "",
            "of these rows, for any model",
        ),
        FigureRow(
            "calibration error",
            f"{merits.calibration_error:.4f}",
            _from_to(noise.calibration_error),
            f"calibrated, by chance: {noise.calibration_by_chance:.4f}",
        ),
    ]


def _percent(share: float) -> str:
    return f"{100.0 * share:.1f} %"


def _number(value: float) -> str:
    return "-" if np.isnan(value) else f"{value:.4f}"


def _plus_minus(error: float, factor: float = 1.0, digits: int = 4) -> str:
    return "" if np.isnan(error) else f"± {factor * error:.{digits}f}"


def _from_to(interval: Interval) -> str:
    return "" if np.isnan(interval.low) else f"{interval.low:.4f} to {interval.high:.4f}"
