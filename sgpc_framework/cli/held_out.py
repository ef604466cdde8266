"""Rows that a fit does not see, and how well it predicts them: ``sgpc fit --holdout``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sgpc_framework.cli.model_options import changed
from sgpc_framework.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sgpc_framework.protocols import Floats
    from sgpc_framework.tables import Table, TableClassifier


def split_rows(table: Table, target: str, share: float, seed: int) -> tuple[Table, Table]:
    """The rows to fit to, and the rows held out, drawn from each class in the same share."""
    import numpy as np

    from sgpc_framework.tables.labels import training_labels

    _, labels = training_labels(table, target)
    _, place, counts = np.unique(labels, return_inverse=True, return_counts=True)
    drawn = np.random.default_rng([seed, 18]).random(len(labels))
    order = np.lexsort((drawn, place))
    # Along the rows in order of their class, one in so many is held out.
    begins = np.cumsum(counts) - counts
    rank = np.empty(len(labels), dtype=np.intp)
    rank[order] = np.arange(len(labels)) - begins[place[order]]
    held = rank < np.round(share * counts)[place]
    if not held.any() or np.any(np.round(share * counts) == counts):
        raise InputError(
            f"{table.source}: wanted rows of every class on both sides of --holdout {share:g}, "
            f"found {len(labels)} rows with {counts.min()} in the smallest class"
        )
    return table.rows(np.flatnonzero(~held)), table.rows(np.flatnonzero(held))


def figures(
    classifier: TableClassifier, fitted: Table, held: Table, weight: str | None
) -> dict[str, Any]:
    """How good the classifier is on the rows held out, beside the class frequencies of the others.

    A word that is in these rows only is none of the known ones.
    """
    import numpy as np

    from sgpc_framework.metrics.merits import error, nlp

    lenient = changed(classifier, size=None, unseen="zero")
    fitted, others = counted_rows(fitted, weight)
    held, own = counted_rows(held, weight)
    log_proba, truth = lenient.predict_log_proba(held), lenient.codes(held)
    counts = np.bincount(classifier.codes(fitted), others, len(classifier.classes))
    frequencies = np.tile(np.log(counts / counts.sum()), (len(held), 1))
    return {
        "holdout_rows": len(held),
        "holdout_error": error(log_proba, truth, own, classifier.model.costs),
        "holdout_nlp": nlp(log_proba, truth, own),
        "holdout_frequencies_error": error(frequencies, truth, own),
        "holdout_frequencies_nlp": nlp(frequencies, truth, own),
    }


def of_frequencies(counts: NDArray[Any]) -> dict[str, float]:
    """Error and log loss that the frequencies of classes have, of which there are so many rows."""
    import numpy as np

    shares = counts[counts > 0.0] / counts.sum()
    return {
        "training_frequencies_error": float(1.0 - shares.max()),
        "training_frequencies_nlp": float(-shares @ np.log(shares)),
    }


def counted_rows(table: Table, weight: str | None) -> tuple[Table, Floats | None]:
    """The rows that count something, and how much."""
    import numpy as np

    from sgpc_framework.tables.row_weights import weights_of

    if weight is None:
        return table, None
    _, weights = weights_of(table, weight)
    counted = np.flatnonzero(weights)
    return table.rows(counted), weights[counted]


def as_line(figures: dict[str, Any]) -> str:
    """A line for people."""
    better = figures["holdout_nlp"] < figures["holdout_frequencies_nlp"]
    return (
        f"on {figures['holdout_rows']} rows held out: "
        f"error {100 * figures['holdout_error']:.1f} %, "
        f"log loss {figures['holdout_nlp']:.3f} (the class frequencies alone: "
        f"{100 * figures['holdout_frequencies_error']:.1f} %, "
        f"{figures['holdout_frequencies_nlp']:.3f}{'' if better else ', which is no worse'})"
    )
