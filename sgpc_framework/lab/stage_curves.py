"""Experiment 1 as Figure 2 shows it: a model along its stages, on training and test rows."""

from __future__ import annotations

from typing import Any

import attrs

from sgpc_framework.lab.cells import Cell
from sgpc_framework.metrics.staged_merits import StagedMerits

COLUMNS = ("training_error", "training_nlp", "test_error", "test_nlp")


@attrs.frozen
class StageCurves:
    """The curves of one cell, a ``running.Job``: each column has an entry for every stage.

    The stages are those of the returned model, the best over the outer iterations, with the
    hyperparameters that its step 6 found.
    """

    cell: Cell

    def __str__(self) -> str:
        return f"{self.cell}, along the stages"

    @property
    def identity(self) -> dict[str, Any]:
        return {**self.cell.identity, "along": "stages"}

    @property
    def cost(self) -> float:
        return self.cell.cost

    def compute(self) -> dict[str, list[float]]:
        data, model = self.cell.benchmark, self.cell.fit().model
        training = StagedMerits.of(model, data.X, data.y)
        test = StagedMerits.of(model, data.X_test, data.y_test)
        columns = training.error, training.loss, test.error, test.loss
        return {name: values.tolist() for name, values in zip(COLUMNS, columns, strict=True)}
