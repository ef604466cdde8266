"""Basis inputs as an array of a file, and back: numbers, strings, or what a kernel makes of them.

========= ==================================================================================
numbers   a matrix as it is
strings   the bytes of a list in JSON
encoded   the bytes of what the kernel's ``encode_inputs`` returned, in JSON
arrays    the array that ``encode_inputs`` returned
========= ==================================================================================

A kernel on objects says how they are stored (``StorableInputs``), itself or by one of its parts.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sgpc_framework.errors import InputError, ModelFileError
from sgpc_framework.files.archive import DTYPES
from sgpc_framework.files.manifest import strict_json
from sgpc_framework.protocols import Inputs, Kernel, StorableInputs
from sgpc_framework.rows.checking import LARGEST, checked_inputs
from sgpc_framework.rows.input_encoding import encode_inputs, input_encoder

MOST_BYTES = 2**28
"""The most that inputs may take as JSON: parsed, they take several times as much."""

KINDS = ("numbers", "strings", "encoded", "arrays")


def kind_of_inputs(kernel: Kernel, inputs: Inputs) -> str:
    """How these inputs of that kernel are stored."""
    if inputs.dtype.kind != "O":
        return "numbers"
    encoder = input_encoder(kernel) if len(inputs) else None  # of nothing, any list will do
    if encoder is None:
        return "strings"
    return "arrays" if isinstance(encode_inputs(encoder, inputs), np.ndarray) else "encoded"


def inputs_to_array(kernel: Kernel, inputs: Inputs) -> NDArray[Any]:
    """The array that a file holds; ``ModelFileError`` if the inputs would not come back."""
    if inputs.dtype.kind != "O":
        return np.asarray(inputs)
    encoder = input_encoder(kernel) if len(inputs) else None
    if encoder is None:
        return _to_json(_strings(inputs))
    data = encode_inputs(encoder, inputs)
    if isinstance(data, np.ndarray):
        if data.dtype.newbyteorder("<").str not in DTYPES:
            raise ModelFileError(
                f"kernel {kernel.name!r} encodes its inputs as an array of {data.dtype}: wanted "
                f"one of {', '.join(DTYPES)}, or plain data"
            )
        array, stored = data, data
    else:
        array = _to_json(data)
        stored = _from_json(array)
    again = encode_inputs(encoder, _decode(kernel, encoder, stored, len(inputs)))
    if not _same(again, data):
        raise ModelFileError(
            f"the inputs of kernel {kernel.name!r} would not come back from a file as they are: "
            "wanted decode_inputs to undo encode_inputs, found another encoding after both"
        )
    return array


def inputs_from_array(kernel: Kernel, array: NDArray[Any], kind: object, size: int) -> Inputs:
    """So many inputs of a kernel from the array of a file that may hold anything."""
    if kind not in KINDS:
        raise ModelFileError(f"wanted inputs that are {' or '.join(KINDS)}, found {kind!r}")
    if kind == "numbers":
        largest = np.abs(array).max(initial=0.0)  # NaN if there is one
        if array.ndim != 2 or array.dtype != np.float64 or not largest <= LARGEST:
            raise _not_so_many(size)
        inputs: Inputs = array
    elif kind == "strings":
        words = _from_json(array)
        if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
            raise _not_so_many(size)
        inputs = np.fromiter(words, dtype=object, count=len(words))
    else:
        encoder = input_encoder(kernel)
        if encoder is None:
            raise ModelFileError(
                f"its inputs are in the words of a kernel, and {kernel.name!r} cannot read them: "
                "wanted decode_inputs (sgpc_framework.protocols.StorableInputs)"
            )
        data = array if kind == "arrays" else _from_json(array)
        inputs = _decode(kernel, encoder, data, size)
    if len(inputs) != size:
        raise _not_so_many(size)
    return inputs


def _decode(kernel: Kernel, encoder: StorableInputs, data: Any, size: int) -> Inputs:
    """What the kernel makes of the data of a file, if it is the inputs that there should be."""
    try:
        inputs = checked_inputs(encoder.decode_inputs(data))
    except (Exception, RecursionError) as error:
        text = str(error) if isinstance(error, InputError) else f"{type(error).__name__}: {error}"
        raise ModelFileError(
            f"kernel {kernel.name!r} cannot decode the inputs of the file: {text}"
        ) from error
    if len(inputs) != size or inputs.dtype.kind != "O":
        raise ModelFileError(
            f"wanted {size} objects from decode_inputs of kernel {kernel.name!r}, found an array "
            f"of {inputs.dtype} and shape {inputs.shape}"
        )
    return inputs


def _strings(inputs: Inputs) -> list[str]:
    words: list[Any] = inputs.tolist()
    strange = sorted({type(word).__name__ for word in words if not isinstance(word, str)})
    if strange:
        raise ModelFileError(
            f"basis inputs must be numbers or strings to be stored, found {strange}: a kernel on "
            "other objects says how by encode_inputs and decode_inputs "
            "(sgpc_framework.protocols.StorableInputs)"
        )
    return words


def _to_json(data: Any) -> NDArray[np.uint8]:
    try:
        text = json.dumps(data, allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise ModelFileError(f"encoded inputs must be plain data: {error}") from error
    if len(text) > MOST_BYTES:
        raise ModelFileError(f"the inputs take {len(text)} bytes, where {MOST_BYTES} are the most")
    return np.frombuffer(text, dtype=np.uint8)


def _from_json(array: NDArray[Any]) -> Any:
    if array.ndim != 1 or array.dtype != np.uint8 or array.size > MOST_BYTES:
        raise ModelFileError(f"wanted inputs as at most {MOST_BYTES} bytes of JSON, found others")
    return strict_json("inputs.npy", array.tobytes())


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return np.array_equal(one, other)
    return bool(json.dumps(one) == json.dumps(other))


def _not_so_many(size: int) -> ModelFileError:
    return ModelFileError(f"inputs.npy does not hold {size} basis vectors")
