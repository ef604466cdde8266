"""What is the same for classifiers of two classes and of many."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sgpc_framework.errors import InputError
from sgpc_framework.model.many_classes import OneVsRest
from sgpc_framework.model.model import Model

Floats = NDArray[np.float64]
Classifier = Model | OneVsRest


def class_shares(classifier: Classifier) -> Floats | None:
    """The share of the training rows, by weight, that each class has.

    None where nobody knows: files of earlier versions do not say.
    """
    each = [model.trace.class_shares for model in models_of(classifier).values()]
    if isinstance(classifier, Model):
        return np.array(each[0]) if each[0] else None
    return np.array([shares[1] for shares in each]) if all(each) else None


def models_of(classifier: Classifier) -> dict[Any, Model]:
    """The models that a classifier consists of, by the class each one tells from the rest.

    A model of all classes is alone; it stands at the second of them, which is what a model of two
    looks for.
    """
    if isinstance(classifier, OneVsRest):
        return dict(zip(classifier.classes.tolist(), classifier.models, strict=True))
    if isinstance(classifier, Model):
        return {classifier.classes.tolist()[1]: classifier}
    raise InputError(
        f"wanted a Model or a OneVsRest, as fit returns them, found {type(classifier).__name__}; "
        "an SGPClassifier has it as model_, a TableClassifier as model"
    )


def label_text(label: object) -> str:
    """A label as people write it, with every digit that it has.

    >>> label_text(-1.0), label_text(0.5), label_text(1700000000.25), label_text("crest")
    ('-1', '0.5', '1700000000.25', 'crest')
    """
    return repr(float(label)).removesuffix(".0") if isinstance(label, float) else str(label)


def positions(classes: NDArray[Any], y: Any) -> NDArray[np.intp]:
    """The position of each label among the classes; a label that is none of them is an error.

    >>> positions(np.array(["crest", "trough"]), ["trough", "crest"])
    array([1, 0])
    """
    labels = np.asarray(y)
    if labels.ndim != 1:
        raise InputError(f"y must have one dimension, found shape {labels.shape}")
    known: list[Any] = classes.tolist()
    places = {label: position for position, label in enumerate(known)}
    codes = [places.get(label, -1) for label in labels.tolist()]
    if -1 in codes:
        row = codes.index(-1)
        strange = labels.tolist()[row]
        raise InputError(f"y must hold labels of {known}, found {strange!r} at row {row}")
    return np.array(codes, dtype=np.intp)
