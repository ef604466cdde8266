"""Experiment 1 as Figure 2 shows it: a model along its stages, on training and test rows."""

from __future__ import annotations

from typing import Any

import attrs

from sgpc_framework.lab.cells import Cell, judged

COLUMNS = ("training_error", "training_nlp", "test_error", "test_nlp")


@attrs.frozen
class Stages:
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
        data = self.cell.benchmark
        model = self.cell.fitted()
        training = [judged(proba, data.y) for proba in model.staged_predict_proba(data.X)]
        test = [judged(proba, data.y_test) for proba in model.staged_predict_proba(data.X_test)]
        columns = (*zip(*training, strict=True), *zip(*test, strict=True))
        return {name: list(values) for name, values in zip(COLUMNS, columns, strict=True)}
