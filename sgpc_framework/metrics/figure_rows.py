"""The figures of merit as rows of text, for tables on a terminal and on a page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from sgpc_framework.metrics.bootstrap import Interval
from sgpc_framework.metrics.predictions import Predictions
from sgpc_framework.metrics.statistics import standard_error
from sgpc_framework.model.classes import label_text
from sgpc_framework.model.costs import Target, label_position

KNOWN, UNKNOWN = "training frequencies", "frequencies of these rows"


class FigureRow(NamedTuple):
    """A figure: what it is called, its value, how sure it is, and what needs no model."""

    name: str
    value: str
    noise: str
    beside: str


def figure_rows(known: Predictions) -> list[FigureRow]:
    """Every figure of merit, what people decide by first."""
    merits, noise, classes = known.merits, known.noise, len(known.classes)
    by = KNOWN if known.shares is not None else UNKNOWN
    brier = merits.brier
    return [
        *_decisions(known),
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
            "average precision" if classes > 2 else f"average precision of {_second(known)}",
            _number(merits.average_precision),
            _from_to(noise.average_precision),
            f"by chance: {_number(merits.baseline_precision)}",
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


def _decisions(known: Predictions) -> Iterator[FigureRow]:
    """What the costs are for: the target that they were chosen to reach, or what they come to."""
    if known.costs is None:
        return
    if known.costs.target is not None:
        yield _target(known, known.costs.target)
        return
    yield FigureRow(
        "cost of a decision",
        f"{known.merits.cost:.4f}",
        _plus_minus(known.noise.cost),
        f"the same decision for all: {known.merits.baseline_cost:.4f}",
    )


def _target(known: Predictions, target: Target) -> FigureRow:
    """The measure that a target is about, on these rows."""
    place = label_position(known.classes, target.label)
    said, own = known.decided == place, known.truth == place
    counted = {"recall": said[own], "precision": own[said], "specificity": ~said[~own]}
    rows = counted[target.measure].astype(np.float64)
    return FigureRow(
        f"{target.measure} of {label_text(target.label)}",
        _percent(float(rows.mean())) if rows.size else "-",
        _plus_minus(standard_error(rows), 100.0, 1) if rows.size else "",
        f"wanted: at least {_percent(target.least)}",
    )


def _second(known: Predictions) -> str:
    return label_text(known.classes.tolist()[1])


def _percent(share: float) -> str:
    return f"{100.0 * share:.1f} %"


def _number(value: float) -> str:
    return "-" if np.isnan(value) else f"{value:.4f}"


def _plus_minus(error: float, factor: float = 1.0, digits: int = 4) -> str:
    return "" if np.isnan(error) else f"± {factor * error:.{digits}f}"


def _from_to(interval: Interval) -> str:
    return "" if np.isnan(interval.low) else f"{interval.low:.4f} to {interval.high:.4f}"
