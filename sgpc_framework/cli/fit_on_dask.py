"""``sgpc fit --dask``: the same for rows that stay on workers."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Any

from sgpc_framework.cli.held_out import of_frequencies
from sgpc_framework.cli.progress_bars import fit_watcher

if TYPE_CHECKING:
    from sgpc_framework.design import Design
    from sgpc_framework.protocols import Floats
    from sgpc_framework.tables import TableClassifier


def fit_frames(
    frames: Any, target: str, weight: str | None, design: Design, **options: Any
) -> tuple[TableClassifier, float, bool]:
    """The classifier of a Dask data frame, the seconds it took, and whether it was stopped."""
    from sgpc_framework.tables import TableClassifier

    began = perf_counter()
    with fit_watcher(stoppable=True) as watcher:
        classifier = TableClassifier.fit(
            frames, target, design, sample_weight=weight, progress=watcher, **options
        )
    return classifier, perf_counter() - began, watcher.stopping


def worth(
    classifier: TableClassifier, frames: Any, weight: str | None, client: Any
) -> dict[str, Any]:
    """Training error and NLP: one pass over the partitions."""
    import dask
    import numpy as np

    from sgpc_framework.adapters.dask.cluster import Cluster

    model = dask.delayed(classifier, pure=False)
    sums = [dask.delayed(_sums, pure=False)(model, part, weight) for part in frames.to_delayed()]
    totals = np.sum(Cluster(client).computed(*sums), axis=0)
    (rows, wrong, loss), counts = np.split(totals, [3])
    return {
        "rows": int(rows),
        "training_error": float(wrong / counts.sum()),
        "training_nlp": float(loss / counts.sum()),
        **of_frequencies(counts),
    }


def _sums(classifier: TableClassifier, part: Any, weight: str | None) -> Floats:
    """Rows, wrong ones, losses and the weight of each class in a partition."""
    import numpy as np

    from sgpc_framework.model.costs import decisions

    sums = np.zeros(3 + len(classifier.classes))
    sums[0] = len(part)
    if not len(part):
        return sums
    w = np.ones(len(part)) if weight is None else np.asarray(part[weight], dtype=np.float64)
    counted = np.flatnonzero(w)
    if not len(counted):
        return sums
    some, w = part.iloc[counted], w[counted]
    log_proba, codes = classifier.predict_log_proba(some), classifier.codes(some)
    wrong = decisions(log_proba, classifier.model.costs) != codes
    own = -log_proba[np.arange(len(codes)), codes]
    sums[1:3] = w @ wrong, w @ own
    sums[3:] = np.bincount(codes, w, len(classifier.classes))
    return sums
