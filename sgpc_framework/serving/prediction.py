"""From the body of a request to the body of its answer."""

from __future__ import annotations

import json
from typing import Any

import attrs
import numpy as np

from sgpc_framework.errors import InputError
from sgpc_framework.metrics.merits import probabilities
from sgpc_framework.model.classes import Classifier
from sgpc_framework.serving.refusals import Problem, Refusal, pointer
from sgpc_framework.serving.row_reader import RowReader
from sgpc_framework.tables.table_classifier import TableClassifier


@attrs.frozen
class Prediction:
    """What a classifier says of some rows: a label for each, and the probability of each class."""

    classes: list[Any]
    labels: list[Any]
    probabilities: list[list[float]]

    @classmethod
    def of(
        cls, classifier: Classifier | TableClassifier, reader: RowReader, body: bytes
    ) -> Prediction:
        """Of the rows in a body; ``Refusal`` if they cannot be used."""
        rows = reader.read(body)
        try:
            with np.errstate(over="ignore"):  # far away a kernel is zero, as it should be
                log_proba = classifier.predict_log_proba(rows)
        except InputError as error:  # what only the model can know
            raise Refusal(422, f"the rows cannot be used: {error}") from None
        proba = probabilities(log_proba)
        if not (finite := np.isfinite(proba).all(axis=1)).all():
            wanted = "numbers that the model's kernel can take"
            where = pointer("rows", int(finite.argmin()))
            problem = Problem(where, wanted, "some whose probabilities are no numbers")
            raise Refusal(422, "the model has no answer", [problem])
        labels = classifier.decide(log_proba)  # by its costs, if it has any
        return cls(classifier.classes.tolist(), labels.tolist(), proba.tolist())

    def body(self) -> bytes:
        """As JSON: ``classes``, ``labels``, and ``probabilities`` in the order of ``classes``."""
        return as_json(attrs.asdict(self, recurse=False))


def as_json(document: object) -> bytes:
    """In ASCII, so that whatever a client has sent can be told back to it."""
    return json.dumps(document, separators=(",", ":"), allow_nan=False).encode("ascii")
