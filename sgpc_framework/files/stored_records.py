"""Records of a fit as bytes of a log, and back, where nothing is taken on trust.

The text of a record says its kind, the place of its fit among others, and its numbers. States have
the parts and arrays that they have in model files. Stages are stored more briefly
(``stored_stages``).
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from typing import Any

import attrs
import cattrs
import numpy as np

from sgpc_framework.engine.log_records import (
    Cut,
    Ended,
    Note,
    Record,
    RefinerEnded,
    RunEnded,
    Sampled,
    Tried,
)
from sgpc_framework.engine.step6 import Reestimate
from sgpc_framework.errors import CheckpointError, ModelFileError
from sgpc_framework.files.record_pieces import Piece, Text, piece_bytes, piece_of, text_of
from sgpc_framework.files.stored_stages import (
    BRIEF_FORMS,
    RUN,
    brief_text,
    bytes_of_runs,
    records_of_run,
)
from sgpc_framework.files.stored_states import StateReader, arrays_of_state, parts_of_state
from sgpc_framework.model.trace import Stage
from sgpc_framework.parts.hyperparameters import replaced, values
from sgpc_framework.rows.state import State

SoFar = Callable[[], State]

# -- records as pieces ---------------------------------------------------------------------------


@attrs.frozen
class _Form:
    """How records of a kind are stored, and made again."""

    kind: type
    store: Callable[[Any], Piece]
    make: Callable[[Piece, StateReader, SoFar], Any]


def _rows_array(record: Sampled) -> Piece:
    return Piece({}, {"rows": np.asarray(record.rows, dtype=np.int64)})


def _sampled(piece: Piece, *_: Any) -> Sampled:
    rows = piece.arrays["rows"]
    if rows.ndim != 1 or rows.dtype != np.int64:
        raise CheckpointError("wanted row numbers, found others")
    return Sampled(rows.astype(np.intp))


def _ended_piece(ended: Ended) -> Piece:
    """Basis and sites are those of the stages: only hyperparameters are other ones."""
    step6 = ended.step6
    numbers = [ended.seconds, step6.before, step6.after, step6.loss, step6.evaluations]
    text = {
        "why": ended.why,
        "message": step6.message,
        "tuned": step6.tuned,
        "better": step6.best is step6.state,
    }
    return Piece(text, {"numbers": np.array(numbers), "theta": values(step6.state)})


def _ended(piece: Piece, reader: StateReader, so_far: SoFar) -> Ended:
    text, before = piece.text, so_far()
    theta, numbers = piece.arrays["theta"], piece.arrays["numbers"].tolist()
    if theta.shape != values(before).shape or not np.isfinite(theta).all():
        raise TypeError(f"wanted the hyperparameters of {before.kernel.name!r}, found {theta!r}")
    seconds, start, after, loss, evaluations = map(_real, numbers)
    tuned = _flag(text["tuned"])
    state = replaced(before, theta) if tuned else before
    best = state if _flag(text["better"]) else before
    message = _word(text["message"])
    step6 = Reestimate(state, best, start, after, loss, int(evaluations), message, tuned)
    return Ended(step6, _word(text["why"]), seconds)


def _run_piece(ended: RunEnded) -> Piece:
    return _with_state({"generator": dict(ended.generator)}, ended.state)


def _run(piece: Piece, reader: StateReader, _: SoFar) -> RunEnded:
    generator = piece.text["generator"]
    rng = np.random.default_rng()
    rng.bit_generator.state = generator  # refused unless it is one
    return RunEnded(_state(piece, reader), generator)


def _refiner_piece(ended: RefinerEnded) -> Piece:
    text = {"size": ended.size, "notes": list(ended.notes), "changed": ended.changed}
    text["settled"] = None if ended.settled is None else dict(ended.settled)
    return _with_state(text, ended.state)


def _refiner(piece: Piece, reader: StateReader, _: SoFar) -> RefinerEnded:
    text = piece.text
    notes = tuple(map(_word, text["notes"]))
    state = _state(piece, reader)
    settled = text["settled"]
    if settled is not None and not isinstance(settled, dict):
        raise TypeError(f"wanted a refiner or none, found {settled!r}")
    return RefinerEnded(_whole(text["size"]), state, notes, _flag(text["changed"]), settled)


_FORMS = {
    "sampled": _Form(Sampled, _rows_array, _sampled),
    "ended": _Form(Ended, _ended_piece, _ended),
    "note": _Form(
        Note,
        lambda note: Piece({"text": note.text}, {}),
        lambda piece, *_: Note(_word(piece.text["text"])),
    ),
    "cut": _Form(
        Cut,
        lambda cut: Piece({"stages": cut.stages}, {}),
        lambda piece, *_: Cut(_whole(piece.text["stages"])),
    ),
    "run": _Form(RunEnded, _run_piece, _run),
    "refiner": _Form(RefinerEnded, _refiner_piece, _refiner),
}


_KINDS = {name: form.kind for name, form in _FORMS.items()} | {
    name: form.kind for name, form in BRIEF_FORMS.items()
}
_NAMES = {kind: name for name, kind in _KINDS.items()}


# -- records as bytes ----------------------------------------------------------------------------


def record_bytes(place: str, record: Record) -> bytes:
    """A record of the fit at a place as bytes."""
    name = _NAMES[type(record)]
    if name in BRIEF_FORMS:
        return brief_text(name, place) + BRIEF_FORMS[name].pack(record)
    text, arrays = _FORMS[name].store(record)
    return piece_bytes(Piece({"kind": name, "place": place, **text}, arrays))


def bytes_of_records(records: Iterable[tuple[str, Record]]) -> Iterator[bytes]:
    """Records of fits, each with its place, as those of a log; stages that follow each other at a
    place are one."""
    for (place, brief), group in groupby(records, _place_and_brevity):
        same: list[Any] = [record for _, record in group]
        tried, stages = same[::2], same[1::2]
        if brief and list(map(type, same)) == [Tried, Stage] * len(stages):
            yield from bytes_of_runs(place, list(zip(tried, stages, strict=True)))
        else:
            yield from (record_bytes(place, record) for record in same)


def _place_and_brevity(record: tuple[str, Record]) -> tuple[str, bool]:
    return record[0], isinstance(record[1], (Tried, Stage))


@attrs.frozen
class StoredRecord:
    """A record in bytes, which are looked at when it is asked for."""

    data: bytes
    reader: StateReader
    place: str
    kind: type

    @classmethod
    def all_of(cls, data: bytes, reader: StateReader) -> Iterator[StoredRecord]:
        """The record, of which only the text is read; or all of a run."""
        text, end = text_of(data)
        name, place = text.get("kind"), text.get("place")
        if not isinstance(place, str) or not isinstance(name, str) or name not in (*_KINDS, RUN):
            raise CheckpointError(f"wanted a record of {', '.join(_KINDS)}, found {name!r}")
        each = records_of_run(text, place, data[end:]) if name == RUN else [(name, data)]
        return (cls(own, reader, place, _KINDS[kind]) for kind, own in each)

    def agrees(self, record: Any) -> bool:
        """Whether a record is this one."""
        same = type(record) is self.kind
        return same and record_bytes(self.place, record) == self.data

    def record(self, so_far: SoFar) -> Any:
        """The record itself, in the iteration of which these are the stages so far."""
        name = _NAMES[self.kind]
        try:
            if name in BRIEF_FORMS:
                return BRIEF_FORMS[name].make(self.data[text_of(self.data)[1] :])
            with np.errstate(all="ignore"):  # what is not finite is refused
                return _FORMS[name].make(piece_of(self.data), self.reader, so_far)
        except _NOT_A_RECORD as error:
            raise CheckpointError(
                f"a record of the log does not describe a {name}: {error}"
            ) from error


_NOT_A_RECORD = (
    ArithmeticError,
    AttributeError,
    LookupError,
    TypeError,
    ValueError,
    struct.error,
    ModelFileError,
    cattrs.BaseValidationError,
)


# -- a state and plain values ---------------------------------------------------------------------


def _with_state(text: Text, state: State) -> Piece:
    return Piece({**text, "state": parts_of_state(state)}, arrays_of_state(state))


def _state(piece: Piece, reader: StateReader) -> State:
    parts = piece.text["state"]
    return reader.state({name: piece.arrays[name] for name in _ARRAYS}, parts, parts["inputs"])


_ARRAYS = ("basis", "inputs", "mean", "precision")


def _whole(value: Any) -> int:
    if type(value) is not int:
        raise TypeError(f"wanted a whole number, found {value!r}")
    return value


def _real(value: Any) -> float:
    if type(value) not in (int, float):
        raise TypeError(f"wanted a number, found {value!r}")
    return float(value)


def _word(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"wanted a text, found {value!r}")
    return value


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"wanted true or false, found {value!r}")
    return value
