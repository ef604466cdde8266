"""Loss and error of a classifier as its basis grows."""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from sgpc_framework.metrics.merits import error, nlp
from sgpc_framework.model.classes import Classifier, positions

Floats = NDArray[np.float64]


@attrs.frozen(eq=False)
class StagedMerits:
    """Loss (NLP in nats) and error of the model of each size, on rows of one's own."""

    sizes: tuple[int, ...]
    loss: Floats
    error: Floats

    @classmethod
    def of(cls, model: Classifier, X: Any, y: Any) -> StagedMerits:
        truth = positions(model.classes, y)
        pairs = [
            (nlp(log_proba, truth), error(log_proba, truth))
            for log_proba in model.staged_predict_log_proba(X)
        ]
        loss, wrong = np.array(pairs, dtype=np.float64).reshape(-1, 2).T
        return cls(model.sizes, loss, wrong)
