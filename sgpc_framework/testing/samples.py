"""Inputs to try a kernel on: seeded, and of the awkward kinds that real data has.

A kernel on feature vectors gets float matrices, as wide as its lists of lengthscales ask for. A
kernel on anything else brings its own inputs (``SampleInputs``), and so does one that has such a
kernel among its parts.
"""

from __future__ import annotations

from copy import copy
from typing import TypeVar

import attrs
import numpy as np

from sgpc_framework.parts.abilities import has
from sgpc_framework.parts.hyperparameters import hyperparameters, parts_of
from sgpc_framework.protocols import (
    FeatureRelevance,
    Inputs,
    Kernel,
    SampleInputs,
    StartsFromData,
)
from sgpc_framework.rows.checking import checked_inputs

C = TypeVar("C")

ROWS = 18
FEATURES = 3


@attrs.frozen(eq=False)
class Sample:
    """Rows of inputs and what is special about them.

    ``rest`` and ``some`` share five rows; each has rows that the other does not have.
    """

    title: str
    X: Inputs

    @property
    def some(self) -> Inputs:
        """Seven rows."""
        return self.X[np.arange(len(self.X) - 7, len(self.X))]

    @property
    def rest(self) -> Inputs:
        """All rows but the last two."""
        return self.X[np.arange(len(self.X) - 2)]


def samples_for(component: object) -> list[Sample]:
    """Ordinary inputs, inputs with duplicates and, for vectors, inputs with a constant feature."""
    X = _inputs(component)
    samples = [Sample("ordinary inputs", X), Sample("duplicates", X[np.arange(ROWS) // 3])]
    if is_matrix(X):
        constant = X.copy()
        constant[:, 0] = 0.7
        samples.append(Sample("a constant feature", constant))
    return samples


def is_matrix(X: Inputs) -> bool:
    """Whether the inputs are feature vectors, which can be moved a little."""
    return isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind == "f"


def locked(X: Inputs) -> Inputs:
    """A copy that cannot be written into, unless somebody insists; objects are copied only."""
    X = copy(X)
    if isinstance(X, np.ndarray):
        X.flags.writeable = False
    return X


def is_unlocked(X: Inputs) -> bool:
    """Whether somebody has insisted."""
    return isinstance(X, np.ndarray) and bool(X.flags.writeable)


def started(component: C, X: Inputs) -> C:
    """The component as a fit would start it: words such as ``"median"`` become numbers."""
    return component.started(X) if has(component, StartsFromData) else component


def ready(kernel: Kernel) -> Kernel:
    """A kernel that has been started on the ordinary sample."""
    return started(kernel, _inputs(kernel))


def _inputs(component: object) -> Inputs:
    rng = np.random.default_rng(42)
    for part in parts_of(component):
        if has(part, SampleInputs):
            return checked_inputs(part.sample_inputs(ROWS, rng))  # as a fit would
    return rng.standard_normal((ROWS, width(component)))


def width(component: object) -> int:
    """How many features a component has been made for that has one number for each of them."""
    positions = [h.position for h in hyperparameters(component) if h.position is not None]
    if not positions:
        return FEATURES
    for part in parts_of(component):  # a list may have a number for every two features
        if has(part, FeatureRelevance) and (relevances := part.relevances()) is not None:
            return len(relevances)
    return max(positions) + 1
