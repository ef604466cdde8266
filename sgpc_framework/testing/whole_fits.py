"""A whole fit with a part in its slot, all others being the defaults, and what came of it.

The data has outliers and a feature on another scale, as real data has. A kernel on anything but
vectors brings its own inputs.
"""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np

from sgpc_framework.design import build
from sgpc_framework.model.model import Model
from sgpc_framework.parts.abilities import has
from sgpc_framework.parts.hyperparameters import parts_of, values
from sgpc_framework.plugin.kinds import KindName
from sgpc_framework.protocols import Floats, Inputs, SampleInputs, SeveralFunctions
from sgpc_framework.rows.checking import checked_inputs
from sgpc_framework.testing.samples import is_matrix, width

ROWS = 120
STAGES = 12


@attrs.frozen(eq=False)
class TrainingSet:
    """Inputs, and labels that follow them with some noise."""

    X: Inputs
    y: Floats


def training_set(part: object, seed: int = 0, rows: int = ROWS) -> TrainingSet:
    """Rows that a part can be fitted to: with two classes, or as many as its likelihood has."""
    rng = np.random.default_rng([17, seed])
    own = next((each for each in parts_of(part) if has(each, SampleInputs)), None)
    if own is not None:
        X = checked_inputs(own.sample_inputs(rows, rng))
    else:
        X = rng.standard_t(3.0, (rows, width(part)))
        X[:, -1] *= 10.0
    classes = part.functions if has(part, SeveralFunctions) else 2
    signal = X[:, 0] if is_matrix(X) else rng.standard_normal(rows)
    ranks = np.argsort(np.argsort(signal + 0.3 * rng.standard_normal(rows)))
    return TrainingSet(X, (classes * ranks // rows).astype(float))


def fitted(part: Any, kind: KindName, data: TrainingSet, seed: int = 3) -> dict[str, Floats]:
    """Everything that a fit decides, by name."""
    design = build({kind: part}, max_basis=STAGES, max_iterations=2, seed=seed)
    model = design.fit(data.X, data.y)
    outcome = {"probabilities": model.predict_proba(data.X)}
    if isinstance(model, Model):
        outcome |= {
            "basis": np.array(model.basis, dtype=np.float64),
            "site precisions": model.sites.precision,
            "site means": model.sites.mean,
            "hyperparameters": np.append(values(model.kernel), values(model.likelihood)),
        }
    return outcome
