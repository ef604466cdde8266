"""What a classifier says of some rows, beside what they are."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from sgpc_framework.metrics.figures_of_merit import Merits, Noise
from sgpc_framework.metrics.merits import confusion, probabilities
from sgpc_framework.model.classes import Classifier, class_shares, positions
from sgpc_framework.model.costs import Costs, decisions

Floats = NDArray[np.float64]


@attrs.define(eq=False)
class Predictions:
    """Log probabilities of the ``classes``, and the position of each row's own among them."""

    classes: NDArray[Any]
    log_proba: Floats
    truth: NDArray[np.intp]
    shares: Floats | None = None
    """The class frequencies of the training rows, if they are known."""
    costs: Costs | None = None
    """What the classifier decides by."""

    @classmethod
    def of(cls, model: Classifier, X: Any, y: Any) -> Predictions:
        """Predict once; ``InputError`` if a label is of no class of the model."""
        truth = positions(model.classes, y)
        log_proba = model.predict_log_proba(X)
        return cls(model.classes, log_proba, truth, class_shares(model), model.costs)

    @cached_property
    def proba(self) -> Floats:
        """The probabilities."""
        return probabilities(self.log_proba)

    @cached_property
    def merits(self) -> Merits:
        """How good they are."""
        return Merits.of(self.log_proba, self.truth, self.shares, self.costs)

    @cached_property
    def noise(self) -> Noise:
        """How sure that is."""
        return Noise.of(self.log_proba, self.truth, self.costs)

    @cached_property
    def decided(self) -> NDArray[np.intp]:
        """The position of the class that is predicted for each row."""
        return decisions(self.log_proba, self.costs)

    @cached_property
    def confusion(self) -> NDArray[np.intp]:
        """How many rows of each class (rows) were taken for each class (columns)."""
        return confusion(self.log_proba, self.truth, self.costs)
