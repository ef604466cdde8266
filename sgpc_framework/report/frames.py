"""The stages of two features as data that the script of the page plays.

For each size of the model there is a picture of the plane, by how much each class leads, on a grid
of small numbers. Successive ones differ little, so differences are what is compressed.
"""

from __future__ import annotations

import base64
import zlib
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from sgpc_framework.metrics.staged_merits import StagedMerits
from sgpc_framework.model.classes import Classifier, models_of
from sgpc_framework.model.many_classes import OneVsRest
from sgpc_framework.model.model import Model
from sgpc_framework.plots.regions import DEEPEST, Frame, leads
from sgpc_framework.plots.style import colour
from sgpc_framework.report.subject import Subject

Floats = NDArray[np.float64]

MOST_FRAMES = 60
MOST_POINTS = 500
MOST_JUDGES = 1000
"""How many rows say how good the model is at each size."""
MOST_CELLS = 800_000
COARSEST, FINEST = 40, 80
UNIT = 10_000
"""Places are whole numbers, this many across the frame."""


@attrs.frozen
class Reel:
    """What the page plays, and what had to be left out."""

    data: dict[str, Any]
    sizes: tuple[int, ...]
    of: int
    """Of so many sizes."""
    points: int


def reel(subject: Subject) -> Reel:
    """The stages of a model of two features."""
    model = played_model(subject)
    basis = np.concatenate([one.inputs for one in subject.models.values()])
    frame = Frame.around(subject.X, basis)
    channels = len(subject.classes) if subject.many else 1
    room = max(MOST_CELLS // (channels * COARSEST**2), 2)
    kept = _evenly(len(model.sizes), min(MOST_FRAMES, room))
    sizes = [model.sizes[i] for i in kept]
    side = int(min(FINEST, np.sqrt(MOST_CELLS / (len(kept) * channels))))
    planes = _planes(model, frame, side, kept, channels)
    rows = subject.sample(MOST_POINTS)
    judges = subject.sample(MOST_JUDGES)
    merits = (
        StagedMerits.of(model, subject.X[judges], subject.y[judges])
        if model is not subject.model
        else subject.staged_merits
    )
    left_bottom = subject.in_units(np.array([[frame.left, frame.bottom]]))[0].tolist()
    right_top = subject.in_units(np.array([[frame.right, frame.top]]))[0].tolist()
    data = {
        "side": side,
        "channels": channels,
        "planes": _pack(planes),
        "deepest": DEEPEST,
        "unit": UNIT,
        "low": left_bottom,
        "high": right_top,
        "names": subject.names,
        "classes": subject.classes,
        "colours": [colour(position) for position in range(len(subject.classes))],
        "points": np.c_[_places(subject.X[rows], frame), subject.truth[rows]].tolist(),
        "frames": [
            {
                "size": size,
                "error": round(float(merits.error[i]), 5),
                "loss": round(float(merits.loss[i]), 5),
                "basis": [_basis(one, size, frame) for one in models_of(model).values()],
            }
            for i, size in zip(kept, sizes, strict=True)
        ],
    }
    return Reel(data, tuple(sizes), len(model.sizes), len(rows))


def played_model(subject: Subject) -> Classifier:
    """The model in all its sizes, and if there is one only, with a stage for each basis vector.

    The first t of its sites are then what they are in the whole, and not what they would be alone.
    """
    model = subject.model
    if not subject.of_one_size:
        return model
    if isinstance(model, OneVsRest):
        each = [attrs.evolve(one, smaller=None) for one in model.models]
        return attrs.evolve(model, models=tuple(each))
    return attrs.evolve(model, smaller=None)


def _evenly(count: int, most: int) -> list[int]:
    """So many positions at most, the last among them.

    >>> _evenly(5, 3), _evenly(2, 3)
    ([0, 2, 4], [0, 1])
    """
    kept = np.linspace(0, count - 1, min(count, most)).round()
    return [int(position) for position in np.unique(kept)]


def _planes(
    model: Classifier, frame: Frame, side: int, kept: list[int], channels: int
) -> NDArray[np.uint8]:
    """By how much each class leads on the grid, of shape (frames, channels, side * side).

    Of two classes the second is enough. The root makes the steps fine where no class leads much,
    which is where the boundary is.
    """
    _, _, points = frame.grid(side, side)
    wanted = set(kept)
    planes = []
    for position, proba in enumerate(model.staged_predict_proba(points)):
        if position in wanted:
            lead = leads(proba)[:, -channels:].T
            planes.append(np.round(127.5 + 127.5 * np.sign(lead) * np.sqrt(np.abs(lead))))
    return np.array(planes).astype(np.uint8)


def _pack(planes: NDArray[np.uint8]) -> str:
    """Each plane as its difference to the one before, modulo 256, deflated, in base 64."""
    differences = np.diff(planes, axis=0, prepend=np.zeros_like(planes[:1]))
    return base64.b64encode(zlib.compress(differences.tobytes(), 9)).decode()


def _places(points: Floats, frame: Frame) -> NDArray[np.int64]:
    low = np.array([frame.left, frame.bottom])
    span = np.array([frame.right, frame.top]) - low
    far = 10.0 * UNIT  # what is further out is not seen either
    places: NDArray[np.float64] = np.clip(UNIT * (points - low) / span, -far, far)
    return places.round().astype(np.int64)


def _basis(model: Model, size: int, frame: Frame) -> list[list[int]]:
    """The places of the basis vectors that the model of some size has."""
    part = model if size >= len(model) else model.truncated(size)
    places: list[list[int]] = _places(part.inputs, frame).tolist()
    return places
