"""What everybody would try first, beside ours: the class frequencies, and two classifiers of
scikit-learn, an extra."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any, Literal

import attrs
import numpy as np

from sgpc_framework.tables.encoding import Encoding, Floats
from sgpc_framework.tables.labels import labels_of, training_labels
from sgpc_framework.tables.table import Table

Kind = Literal["class frequencies", "logistic regression", "gradient boosting"]

LEAST_PROBABILITY = 1e-12
"""Trees say 0; one row that they are wrong about would make any mean infinite."""


@attrs.frozen
class Baseline:
    """A classifier of scikit-learn with its defaults, on the same features as ours; or nothing but
    the frequencies of the classes."""

    kind: Kind

    def fit(self, train: Table, target: str, seed: int, **encoding: Any) -> FittedBaseline:
        """Learn the encoding of the columns besides the target, then fit."""
        name, labels = training_labels(train, target)
        drop = [*encoding.pop("drop", ()), name]
        features = train.without(drop)
        words = {train.column(word).name for word in encoding.pop("words", ())}
        learned = Encoding.learn(features, words=words.intersection(features.names), **encoding)
        estimator = self._estimator(seed)
        estimator.fit(learned.encode(features), labels)
        return FittedBaseline(learned, tuple(drop), name, estimator)

    def _estimator(self, seed: int) -> Any:
        if self.kind == "class frequencies":
            return Frequencies()
        if self.kind == "logistic regression":
            from sklearn.linear_model import LogisticRegression

            return LogisticRegression(max_iter=2000)
        from sklearn.ensemble import HistGradientBoostingClassifier

        return HistGradientBoostingClassifier(random_state=seed)


class Frequencies:
    """Says of every row how frequent each class was in training."""

    def fit(self, X: Floats, y: Any) -> None:
        self.classes_, counts = np.unique(y, return_counts=True)
        self._shares = counts / counts.sum()

    def predict_proba(self, X: Floats) -> Floats:
        return np.tile(self._shares, (len(X), 1))


@attrs.frozen(eq=False)
class FittedBaseline:
    """The estimator with the encoding of its training table."""

    encoding: Encoding
    dropped: tuple[str, ...]
    target: str
    estimator: Any

    def predict_log_proba(self, test: Table) -> Floats:
        """Logarithms of the probabilities, of which none counts as less than 1e-12."""
        features = test.without([name for name in self.dropped if name in test.names])
        proba = self.estimator.predict_proba(self.encoding.encode(features))
        logarithms: Floats = np.log(np.maximum(proba, LEAST_PROBABILITY))
        return logarithms

    def codes(self, test: Table) -> Any:
        """The positions of the true labels among the classes."""
        return np.searchsorted(self.estimator.classes_, labels_of(test, test.column(self.target)))


def has_baselines() -> bool:
    """Whether scikit-learn is installed."""
    return find_spec("sklearn") is not None


def baselines() -> Mapping[str, Baseline]:
    """Those of scikit-learn by name; ``ImportError`` without it."""
    if not has_baselines():
        raise ImportError(
            "baselines need scikit-learn, which is not installed: "
            "pip install 'sgpc-framework[sklearn]'"
        )
    kinds: tuple[Kind, ...] = ("logistic regression", "gradient boosting")
    return {kind: Baseline(kind) for kind in kinds}
