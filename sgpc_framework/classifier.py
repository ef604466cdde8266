"""What every fitted classifier offers, of two classes or of many."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from sgpc_framework.errors import InputError
from sgpc_framework.model import Model

Floats = NDArray[np.float64]


@runtime_checkable
class Classifier(Protocol):
    """Predicts a probability for each of its classes, with the whole model or with a part of it.

    ``sizes`` are the sizes that the model can be had in, and ``staged_predict_proba`` yields the
    probabilities of each of them.
    """

    @property
    def classes(self) -> NDArray[Any]: ...

    @property
    def sizes(self) -> tuple[int, ...]: ...

    def predict_proba(self, X: Any, /) -> Floats: ...

    def staged_predict_proba(self, X: Any, /) -> Iterator[Floats]: ...


@runtime_checkable
class MadeOfModels(Protocol):
    """A classifier of many classes that has one model for each, which tells it from the rest."""

    @property
    def models(self) -> Sequence[Model]: ...


def models_of(classifier: object) -> dict[Any, Model]:
    """The models of two classes that a classifier consists of, by the class each one looks for.

    A model of two classes is one that looks for the second of them.
    """
    if isinstance(classifier, Model):
        return {_plain(classifier.classes)[1]: classifier}
    if isinstance(classifier, MadeOfModels) and isinstance(classifier, Classifier):
        return dict(zip(_plain(classifier.classes), classifier.models, strict=True))
    raise InputError(f"wanted a fitted model, found {type(classifier).__name__}: call fit first")


def shown(label: object) -> str:
    """A label as people write it.

    >>> shown(-1.0), shown(0.5), shown("crest"), shown(True)
    ('-1', '0.5', 'crest', 'True')
    """
    return f"{label:g}" if isinstance(label, float) else str(label)


def _plain(classes: NDArray[Any]) -> list[Any]:
    labels: list[Any] = classes.tolist()
    return labels


def positions(classes: NDArray[Any], y: Any) -> NDArray[np.intp]:
    """The position of each label among the classes; a label that is none of them is an error.

    >>> positions(np.array(["crest", "trough"]), ["trough", "crest"])
    array([1, 0])
    """
    labels = np.asarray(y)
    if labels.ndim != 1:
        raise InputError(f"y must have one dimension, found shape {labels.shape}")
    found = {label: position for position, label in enumerate(_plain(classes))}
    codes = [found.get(label, -1) for label in labels.tolist()]
    if -1 in codes:
        row = codes.index(-1)
        raise InputError(
            f"y must hold labels of the classes {_plain(classes)}, "
            f"found {labels.tolist()[row]!r} at row {row}"
        )
    return np.array(codes, dtype=np.intp)
