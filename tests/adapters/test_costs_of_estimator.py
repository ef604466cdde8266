"""``SGPClassifier(costs=...)`` and ``TableClassifier.fit(..., costs=...)``."""

from __future__ import annotations

import numpy as np
import pytest

import sgpc_framework as sgpc
from sgpc_framework.errors import InputError
from sgpc_framework.tables import TableClassifier

pytest.importorskip("sklearn")

from sgpc_framework.adapters.sklearn import SGPClassifier

rng = np.random.default_rng(3)
X = rng.normal(size=(100, 2))
y = np.where(X[:, 0] + 0.7 * rng.normal(size=100) > 0.8, "yes", "no")


def test_an_estimator_decides_by_costs() -> None:
    plain = SGPClassifier("paper", max_basis=4, max_iterations=1).fit(X, y)
    costly = SGPClassifier("paper", max_basis=4, max_iterations=1, costs={"yes": 4}).fit(X, y)
    assert np.array_equal(plain.predict_proba(X), costly.predict_proba(X))
    assert np.array_equal(costly.predict(X) == "yes", costly.predict_proba(X)[:, 1] > 0.2)
    with pytest.raises(InputError, match="wanted one of the classes"):
        SGPClassifier(costs={"maybe": 4}).fit(X, y)


def test_a_classifier_of_tables_decides_by_costs() -> None:
    table = {"east": X[:, 0], "north": X[:, 1], "wave": y}
    design = sgpc.build(max_basis=4, max_iterations=1)
    costly = TableClassifier.fit(table, "wave", design, costs={"yes": 4})
    again = TableClassifier.fit(table, "wave", design).with_threshold(0.2)
    assert np.array_equal(costly.predict(table), again.predict(table))
    target = costly.with_target(table, recall=0.9)
    assert (target.predict(table)[y == "yes"] == "yes").mean() >= 0.9
    with pytest.raises(InputError, match="wanted one of the classes"):
        TableClassifier.fit(table, "wave", design, costs={"maybe": 4})
