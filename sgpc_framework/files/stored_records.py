"""Records of a fit as bytes of a log, and back, where nothing is taken on trust.

    length of the text   text, JSON   array   array   ...

The text says the kind of the record, the place of its fit among others, its numbers, and how long
each of its arrays is. States have the parts and arrays that they have in model files. Of stages
there are many, each of which takes little time: their numbers stand after the text as they are.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, NamedTuple

import attrs
import cattrs
import numpy as np
from numpy.typing import NDArray

from sgpc_framework.engine.log import (
    Began,
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
from sgpc_framework.files.archive import DTYPES
from sgpc_framework.files.stored_states import StateReader, arrays_of_state, parts_of_state
from sgpc_framework.model.trace import Stage
from sgpc_framework.parts.hyperparameters import values
from sgpc_framework.rows.state import State

MOST_TEXT = 2**25
_LENGTH = struct.Struct("<L")

Text = dict[str, Any]
Arrays = dict[str, NDArray[Any]]


class Piece(NamedTuple):
    """A record in two: plain data, in which floats may be infinite, and arrays by name."""

    text: Text
    arrays: Arrays


# -- pieces as bytes -----------------------------------------------------------------------------


def piece_bytes(piece: Piece) -> bytes:
    """A piece as the record of a log."""
    arrays = [_little_endian(name, array) for name, array in piece.arrays.items()]
    forms = {
        name: [array.dtype.str, *array.shape]
        for name, array in zip(piece.arrays, arrays, strict=True)
    }
    text = json.dumps(piece.text | ({"arrays": forms} if forms else {})).encode()
    if len(text) > MOST_TEXT:
        raise CheckpointError(f"a record of {len(text)} bytes of text, where {MOST_TEXT} are most")
    return b"".join([_LENGTH.pack(len(text)), text, *(array.tobytes() for array in arrays)])


def _little_endian(name: str, array: NDArray[Any]) -> NDArray[Any]:
    plain = np.asarray(array, dtype=array.dtype.newbyteorder("<"))
    if plain.dtype.str not in DTYPES:
        raise CheckpointError(f"wanted {name} as {' or '.join(DTYPES)}, found {array.dtype}")
    return plain


def text_of(data: bytes) -> tuple[Text, int]:
    """The text of a record, and where its arrays begin."""
    if len(data) < _LENGTH.size:
        raise CheckpointError("a record of the log is empty")
    end = _LENGTH.size + _LENGTH.unpack_from(data)[0]
    if end > min(len(data), MOST_TEXT):
        raise CheckpointError("a record of the log claims more text than there is")
    try:
        text = json.loads(data[_LENGTH.size : end])
    except (ValueError, RecursionError) as error:
        raise CheckpointError(
            f"a record of the log is not JSON that can be read: {error}"
        ) from error
    if not isinstance(text, dict):
        raise CheckpointError(f"wanted a record of a log, found {type(text).__name__}")
    return text, end


def piece_of(data: bytes) -> Piece:
    """The piece that a record of a log holds."""
    text, at = text_of(data)
    arrays = {}
    forms = text.pop("arrays", {})
    if not isinstance(forms, dict):
        raise CheckpointError("wanted the forms of a record's arrays, found others")
    for name, form in forms.items():
        dtype, *shape = form if isinstance(form, list) and form else (form,)
        if dtype not in DTYPES or not all(type(n) is int and n >= 0 for n in shape):
            raise CheckpointError(f"wanted the form of {name}, found {form!r}")
        end = at + math.prod(shape) * np.dtype(dtype).itemsize
        if end > len(data) or max(shape, default=0) > len(data):
            raise CheckpointError(
                f"{name} claims the shape {shape}, which the record does not have"
            )
        arrays[name] = np.frombuffer(data[at:end], dtype).reshape(shape)
        at = end
    if at != len(data):
        raise CheckpointError("a record has more bytes than its arrays")
    return Piece(text, arrays)


# -- records as pieces ---------------------------------------------------------------------------


@attrs.frozen
class _Form:
    """How records of a kind are stored, and made again."""

    kind: type
    store: Callable[[Any], Piece]
    make: Callable[[Piece, StateReader], Any]


def _rows_array(record: Sampled) -> Piece:
    return Piece({}, {"rows": np.asarray(record.rows, dtype=np.int64)})


def _sampled(piece: Piece, _: StateReader) -> Sampled:
    rows = piece.arrays["rows"]
    if rows.ndim != 1 or rows.dtype != np.int64:
        raise CheckpointError("wanted row numbers, found others")
    return Sampled(rows.astype(np.intp))


def _ended_piece(ended: Ended) -> Piece:
    step6 = ended.step6
    own = {name: getattr(step6, name) for name in _STEP6}
    text, arrays = _with_states(
        {"step6": own, "why": ended.why, "seconds": ended.seconds}, {"state": step6.state}
    )
    text["best"] = parts_of_state(step6.best)  # the same basis and sites
    return Piece(text, arrays)


def _ended(piece: Piece, reader: StateReader) -> Ended:
    own = {name: piece.text["step6"][name] for name in _STEP6}
    for name in ("before", "after", "loss"):
        own[name] = _real(own[name])
    state = _state("state", piece, reader)
    step6 = Reestimate(
        state,
        reader.with_parts(state, piece.text["best"]),
        evaluations=_whole(own.pop("evaluations")),
        message=_word(own.pop("message")),
        tuned=_flag(own.pop("tuned")),
        **own,
    )
    return Ended(step6, _word(piece.text["why"]), _real(piece.text["seconds"]))


_STEP6 = ("before", "after", "loss", "evaluations", "message", "tuned")


def _run_piece(ended: RunEnded) -> Piece:
    return _with_states({"generator": dict(ended.generator)}, {"state": ended.state})


def _run(piece: Piece, reader: StateReader) -> RunEnded:
    generator = piece.text["generator"]
    rng = np.random.default_rng()
    rng.bit_generator.state = generator  # refused unless it is one
    return RunEnded(_state("state", piece, reader), generator)


def _refiner_piece(ended: RefinerEnded) -> Piece:
    text = {"size": ended.size, "notes": list(ended.notes), "changed": ended.changed}
    text["settled"] = None if ended.settled is None else dict(ended.settled)
    return _with_states(text, {"state": ended.state})


def _refiner(piece: Piece, reader: StateReader) -> RefinerEnded:
    text = piece.text
    notes = tuple(map(_word, text["notes"]))
    state = _state("state", piece, reader)
    settled = text["settled"]
    if settled is not None and not isinstance(settled, dict):
        raise TypeError(f"wanted a refiner or none, found {settled!r}")
    return RefinerEnded(_whole(text["size"]), state, notes, _flag(text["changed"]), settled)


def _not_recalled(piece: Piece, reader: StateReader) -> Any:
    raise CheckpointError("wanted a record of something that took time, found another")


_FORMS = {
    "sampled": _Form(Sampled, _rows_array, _sampled),
    "began": _Form(
        Began,
        lambda began: Piece({}, {"theta": values(began.theta)}),  # to be compared
        _not_recalled,
    ),
    "ended": _Form(Ended, _ended_piece, _ended),
    "note": _Form(
        Note,
        lambda note: Piece({"text": note.text}, {}),
        lambda piece, _: Note(_word(piece.text["text"])),
    ),
    "cut": _Form(
        Cut,
        lambda cut: Piece({"stages": cut.stages}, {}),
        lambda piece, _: Cut(_whole(piece.text["stages"])),
    ),
    "run": _Form(RunEnded, _run_piece, _run),
    "refiner": _Form(RefinerEnded, _refiner_piece, _refiner),
}


# -- stages, briefly -----------------------------------------------------------------------------


@attrs.frozen
class _BriefForm:
    """How records of a kind are packed, and made again."""

    kind: type
    pack: Callable[[Any], bytes]
    make: Callable[[bytes], Any]


def _pack_tried(tried: Tried) -> bytes:
    return np.asarray(tried.rows, dtype="<i8").tobytes()


def _pack_stage(stage: Stage) -> bytes:
    mean, coefficient = stage.mean, stage.coefficient
    functions = len(mean) if isinstance(mean, tuple) else 0  # one has no tuple
    return struct.pack(
        f"<qL{4 + 2 * max(1, functions)}d",
        stage.row,
        functions,
        stage.precision,
        stage.shrinkage,
        stage.predictive_loss,
        stage.training_error,
        *(mean if isinstance(mean, tuple) else (mean,)),
        *(coefficient if isinstance(coefficient, tuple) else (coefficient,)),
    )


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


_BRIEF_FORMS = {
    "tried": _BriefForm(
        Tried, _pack_tried, lambda data: Tried(np.frombuffer(data, "<i8").astype(np.intp))
    ),
    "stage": _BriefForm(Stage, _pack_stage, _stage),
}
_KINDS = {name: form.kind for name, form in _FORMS.items()} | {
    name: form.kind for name, form in _BRIEF_FORMS.items()
}
_NAMES = {kind: name for name, kind in _KINDS.items()}


@cache
def _brief_text(name: str, place: str) -> bytes:
    return piece_bytes(Piece({"kind": name, "place": place}, {}))


# -- records as bytes ----------------------------------------------------------------------------


def record_bytes(place: str, record: Record) -> bytes:
    """A record of the fit at a place as bytes."""
    name = _NAMES[type(record)]
    if name in _BRIEF_FORMS:
        return _brief_text(name, place) + _BRIEF_FORMS[name].pack(record)
    text, arrays = _FORMS[name].store(record)
    return piece_bytes(Piece({"kind": name, "place": place, **text}, arrays))


@attrs.frozen
class StoredRecord:
    """A record in bytes, which are looked at when it is asked for."""

    data: bytes
    reader: StateReader
    place: str
    kind: type

    @classmethod
    def of(cls, data: bytes, reader: StateReader) -> StoredRecord:
        """The record, of which only the text is read."""
        text, _ = text_of(data)
        name, place = text.get("kind"), text.get("place")
        if not isinstance(place, str) or not isinstance(name, str) or name not in _KINDS:
            raise CheckpointError(f"wanted a record of {', '.join(_KINDS)}, found {name!r}")
        return cls(data, reader, place, _KINDS[name])

    def agrees(self, record: Any) -> bool:
        """Whether a record is this one."""
        same = type(record) is self.kind
        return same and record_bytes(self.place, record) == self.data

    def record(self) -> Any:
        """The record itself."""
        name = _NAMES[self.kind]
        try:
            if name in _BRIEF_FORMS:
                return _BRIEF_FORMS[name].make(self.data[text_of(self.data)[1] :])
            with np.errstate(all="ignore"):  # what is not finite is refused
                return _FORMS[name].make(piece_of(self.data), self.reader)
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


# -- states and plain values ---------------------------------------------------------------------


def _with_states(text: Text, states: Mapping[str, State]) -> Piece:
    arrays = {
        f"{name}.{array}": values
        for name, state in states.items()
        for array, values in arrays_of_state(state).items()
    }
    described = {name: parts_of_state(state) for name, state in states.items()}
    return Piece({**text, "states": described}, arrays)


def _state(name: str, piece: Piece, reader: StateReader) -> State:
    arrays = {each: piece.arrays[f"{name}.{each}"] for each in _ARRAYS}
    parts = piece.text["states"][name]
    return reader.state(arrays, parts, parts["inputs"])


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
