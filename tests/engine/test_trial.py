"""What an objective is told when it composes its loss wrongly."""

from __future__ import annotations

from typing import Any, ClassVar

import attrs
import numpy as np
import pytest

import sgpc_framework as sgpc
from sgpc_framework import datasets
from sgpc_framework.authors import RowLoss

X, Y = datasets.twonorm(40, seed=1)


def two_losses(rows):
    return [RowLoss(-rows.log_z, d_log_z=-1.0), RowLoss(rows.mean, d_mean=1.0)]


@attrs.frozen
class OfSums:
    name: ClassVar[str] = "of-sums"
    slopes: Any

    def loss(self, trial):
        return trial.of_sums(two_losses, lambda sums: (float(sums[0]), self.slopes))


@attrs.frozen
class OfGram:
    name: ClassVar[str] = "of-gram"

    def loss(self, trial):
        return trial.of_gram(lambda K, precision, mean: (float(K.sum()), np.ones(len(K))))


@pytest.mark.parametrize(
    ("objective", "text"),
    [
        (OfSums([1.0]), r"wanted a derivative by each of 2 sums, found shape \(1,\)"),
        (OfSums([1.0, 0.0, 0.0]), r"wanted a derivative by each of 2 sums, found shape \(3,\)"),
        (OfSums(1.0), r"wanted a derivative by each of 2 sums, found shape \(\)"),
        (OfGram(), r"wanted a derivative of shape \(3, 3\), found \(3,\)"),
    ],
)
def test_a_derivative_of_another_shape_is_refused(objective, text):
    design = sgpc.build(objective=objective, max_basis=3, max_iterations=1)
    with pytest.raises(sgpc.PluginError, match=text):
        design.fit(X, Y)
