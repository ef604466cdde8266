"""From the body of a request to the body of its answer."""

from __future__ import annotations

import json
from typing import Any

import attrs
import numpy as np

from sgpc_framework.errors import InputError
from sgpc_framework.model.classes import Classifier
from sgpc_framework.serving.refusals import Problem, Refusal
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
                labels = classifier.predict(rows)  # the model decides, which need not be argmax
                proba = classifier.predict_proba(rows)
        except InputError as error:  # what only the model's own encoding can know
            raise Refusal(
                422, str(error), [Problem("/rows", "rows to predict", "others")]
            ) from None
        if not np.isfinite(proba).all():
            row = int(np.flatnonzero(~np.isfinite(proba).all(axis=1))[0])
            wanted = "numbers that the model's kernel can take"
            problem = Problem(f"/rows/{row}", wanted, "probabilities that are no numbers")
            raise Refusal(422, "the model has no answer", [problem])
        return cls(classifier.classes.tolist(), labels.tolist(), proba.tolist())

    def body(self) -> bytes:
        """As JSON: ``classes``, ``labels``, and ``probabilities`` in the order of ``classes``."""
        return as_json(attrs.asdict(self, recurse=False))


def as_json(document: object) -> bytes:
    """In ASCII, so that whatever a client has sent can be told back to it."""
    return json.dumps(document, separators=(",", ":"), allow_nan=False).encode("ascii")
