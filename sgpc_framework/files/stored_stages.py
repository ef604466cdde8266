"""Stages as bytes of a log, and back.

There are many, each of which takes little time. So those that follow each other at one place are
one record, a run: a text for all of them, then their numbers as they are, the rows that a stage
tried before what came of it.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import groupby
from operator import attrgetter
from typing import Any

import attrs
import numpy as np

from sgpc_framework.engine.log_records import Began, Tried
from sgpc_framework.errors import CheckpointError
from sgpc_framework.files.record_pieces import Piece, Text, piece_bytes
from sgpc_framework.model.trace import Stage
from sgpc_framework.parts.hyperparameters import values

RUN = "stages"
"""What a run of stages is called."""

MOST_NUMBERS = 10**6
"""More rows tried, or latent functions, than this no stage has."""

_FORM = "<{}qqL{}d"
"""The rows that were tried; the row, the number of latent functions, and the numbers."""

Pair = tuple[Tried, Stage]


@attrs.frozen
class BriefForm:
    """How records of a kind are packed, and made again."""

    kind: type
    pack: Callable[[Any], bytes]
    make: Callable[[bytes], Any]


def _pack_began(began: Began) -> bytes:
    return values(began.theta).astype("<f8", copy=False).tobytes()


def _not_made(data: bytes) -> Any:
    raise CheckpointError("wanted a record of something that took time, found another")


def _pack_tried(tried: Tried) -> bytes:
    return np.asarray(tried.rows, dtype="<i8").tobytes()


_numbers_of = attrgetter(
    "row", "precision", "shrinkage", "predictive_loss", "training_error", "mean", "coefficient"
)


def _numbers(stage: Stage) -> tuple[Any, ...]:
    row, precision, shrinkage, loss, error, mean, coefficient = _numbers_of(stage)
    if type(mean) is tuple:
        return row, len(mean), precision, shrinkage, loss, error, *mean, *coefficient
    return row, 0, precision, shrinkage, loss, error, mean, coefficient  # one has no tuple


@cache
def _form(tried: int, functions: int) -> struct.Struct:
    return struct.Struct(_FORM.format(tried, 4 + 2 * max(1, functions)))


def _functions(stage: Stage) -> int:
    return len(stage.mean) if isinstance(stage.mean, tuple) else 0


def _pack_stage(stage: Stage) -> bytes:
    return _form(0, _functions(stage)).pack(*_numbers(stage))


def _stage(data: bytes) -> Stage:
    row, functions = struct.unpack_from("<qL", data)
    numbers = np.frombuffer(data, "<f8", offset=12).tolist()
    precision, shrinkage, loss, error, *sites = numbers
    if len(sites) != 2 * max(1, functions):
        raise ValueError(f"wanted the sites of {functions} latent functions, found {len(sites)}")
    means, coefficients = sites[: len(sites) // 2], sites[len(sites) // 2 :]
    mean, coefficient = (
        (tuple(means), tuple(coefficients)) if functions else (means[0], coefficients[0])
    )
    return Stage(row, precision, mean, coefficient, shrinkage, loss, error)


BRIEF_FORMS = {
    "began": BriefForm(Began, _pack_began, _not_made),  # only compared
    "tried": BriefForm(
        Tried, _pack_tried, lambda data: Tried(np.frombuffer(data, "<i8").astype(np.intp))
    ),
    "stage": BriefForm(Stage, _pack_stage, _stage),
}


@cache
def brief_text(name: str, place: str) -> bytes:
    """The text of a record that has nothing else to say."""
    return piece_bytes(Piece({"kind": name, "place": place}, {}))


# -- runs ----------------------------------------------------------------------------------------


def bytes_of_runs(place: str, stages: Sequence[Pair]) -> Iterator[bytes]:
    """Stages that follow each other at a place: mostly one record, as the same number of rows is
    tried in each."""
    numbers = [(len(tried.rows), _numbers(stage), tried.rows) for tried, stage in stages]
    for (tried, functions), run in groupby(numbers, lambda each: (each[0], each[1][1])):
        pack = _form(tried, functions).pack
        yield b"".join(
            (
                _run_text(place, tried, functions),
                *(pack(*rows.tolist(), *own) for _, own, rows in run),
            )
        )


@cache
def _run_text(place: str, tried: int, functions: int) -> bytes:
    text = {"kind": RUN, "place": place, "tried": tried, "functions": functions}
    return piece_bytes(Piece(text, {}))


def records_of_run(text: Text, place: str, numbers: bytes) -> Iterator[tuple[str, bytes]]:
    """The records of a run, each by its kind and as it is when it stands alone."""
    tried, functions = _size(text, "tried"), _size(text, "functions")
    rows, whole = 8 * tried, struct.calcsize(_FORM.format(tried, 4 + 2 * max(1, functions)))
    if len(numbers) % whole:
        raise CheckpointError(f"wanted stages of {whole} bytes each, found {len(numbers)} bytes")
    for at in range(0, len(numbers), whole):
        yield "tried", brief_text("tried", place) + numbers[at : at + rows]
        yield "stage", brief_text("stage", place) + numbers[at + rows : at + whole]


def _size(text: Text, name: str) -> int:
    size = text.get(name)
    if type(size) is not int or not 0 <= size < MOST_NUMBERS:
        raise CheckpointError(f"wanted how many {name} each stage of a run has, found {size!r}")
    return size
