"""Decisions from probabilities: the same for a model of two classes and of many."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import attrs
import numpy as np
from numpy.typing import NDArray

from sgpc_framework.errors import InputError
from sgpc_framework.model.costs import Costs, decisions
from sgpc_framework.model.dask_collections import lazy_where_the_rows_are
from sgpc_framework.model.decision_targets import targeted_costs


class Decider:
    """What has ``classes``, ``costs`` and probabilities can be told how to decide."""

    __slots__ = ()

    classes: NDArray[Any]
    costs: Costs | None

    if TYPE_CHECKING:

        def predict_log_proba(self, X: Any) -> NDArray[np.float64]: ...

    @lazy_where_the_rows_are
    def predict(self, X: Any) -> NDArray[Any]:
        """The label of each row that is most probable, or by the ``costs`` costs least; a tie goes
        to the first of the classes."""
        return self.decide(self.predict_log_proba(X))

    def decide(self, log_proba: NDArray[np.float64]) -> NDArray[Any]:
        """The labels that ``predict`` gives to rows of these log probabilities."""
        return self.classes[decisions(log_proba, self.costs)]

    def with_costs(self, costs: Any) -> Self:
        """The same model with another ``predict``: it says what costs least on average.

        ``{"yes": 5}`` says what it costs to miss a row of class yes, ``{("yes", "no"): 5}`` what it
        costs to say no where yes is true; mistakes that are not named cost 1. Or all of them as a
        matrix, with a row for each true and a column for each predicted class, in the order of
        ``classes``. ``None`` makes all mistakes alike again. Probabilities stay as they are.
        """
        return self._evolved(None if costs is None else Costs.of(self.classes, costs))

    def with_threshold(self, threshold: float) -> Self:
        """The same model of two classes, which says the second where its probability is above."""
        return self._evolved(Costs.of_threshold(self.classes, threshold))

    def with_target(
        self,
        X: Any,
        y: Any,
        *,
        label: Any = None,
        recall: float | None = None,
        precision: float | None = None,
        specificity: float | None = None,
    ) -> Self:
        """The same model with costs that reach a target for one class on some rows.

        ``label`` is that class, of two the second unless said otherwise. Name one of: ``recall``,
        the share of its rows that are found, ``precision``, the share of rows said to be of it that
        are, ``specificity``, the share of other rows that are not said to be of it. Take rows that
        the fit has not seen; on others the share will differ by chance.
        """
        from sgpc_framework.model.classes import positions

        truth = positions(self.classes, y)
        log_proba = self.predict_log_proba(X)
        if len(truth) != len(log_proba):
            raise InputError(
                f"y must have a label for each of the {len(log_proba)} rows of X, "
                f"found {len(truth)}"
            )
        measures = {"recall": recall, "precision": precision, "specificity": specificity}
        return self._evolved(targeted_costs(self.classes, log_proba, truth, label, measures))

    def _evolved(self, costs: Costs | None) -> Self:
        return attrs.evolve(self, costs=costs)  # type: ignore[misc]  # who inherits is one
