"""The bytes of a log's record: a text and arrays, of which nothing is taken on trust.

    length of the text   text, JSON   array   array   ...

The text is plain data, and says how long each of the arrays is.
"""

from __future__ import annotations

import json
import math
import struct
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sgpc_framework.errors import CheckpointError
from sgpc_framework.files.archive import DTYPES

MOST_TEXT = 2**25
_LENGTH = struct.Struct("<L")
_encode = json.JSONEncoder(check_circular=False, separators=(",", ":")).encode

Text = dict[str, Any]
Arrays = dict[str, NDArray[Any]]


class Piece(NamedTuple):
    """A record in two: plain data, in which floats may be infinite, and arrays by name."""

    text: Text
    arrays: Arrays


def piece_bytes(piece: Piece) -> bytes:
    """A piece as the record of a log."""
    forms, parts = {}, []
    for name, array in piece.arrays.items():
        stored = _little_endian(name, array)
        forms[name] = (stored.dtype.str, *stored.shape)
        parts.append(stored.tobytes())
    text = _encode(piece.text | {"arrays": forms} if forms else piece.text).encode()
    if len(text) > MOST_TEXT:
        raise CheckpointError(f"a record of {len(text)} bytes of text, where {MOST_TEXT} are most")
    return b"".join((_LENGTH.pack(len(text)), text, *parts))


def _little_endian(name: str, array: NDArray[Any]) -> NDArray[Any]:
    if array.dtype.str in DTYPES:
        return array
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
