"""What tells one training set from another: digests of inputs, labels and weights, in one pass."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sgpc_framework.errors import InputError
from sgpc_framework.protocols import Inputs, Kernel
from sgpc_framework.rows.blocks import Block
from sgpc_framework.rows.input_encoding import encode_inputs, input_encoder
from sgpc_framework.rows.training_rows import TrainingRows

WHAT = ("inputs", "labels", "weights")


class _Digests(tuple[bytes, ...]):
    """Digests of blocks, whose sum is one after the other."""

    def __add__(self, other: tuple[bytes, ...]) -> _Digests:  # type: ignore[override]
        return _Digests(a + b for a, b in zip(self, other, strict=True))


def fingerprint(rows: TrainingRows, kernel: Kernel) -> dict[str, Any]:
    """How many rows there are, and a digest each of inputs, labels and weights: one trip.

    Inputs that are neither numbers nor strings are as the kernel stores them.
    """
    digests = rows.sum(_digests, kernel)
    return {"rows": len(rows)} | {
        what: hashlib.sha256(each).hexdigest()[:32]
        for what, each in zip(WHAT, digests, strict=True)
    }


def _digests(block: Block, kernel: Kernel) -> _Digests:
    weight = np.ones(0) if block.weight is None else block.weight
    return _Digests(
        [_of_inputs(block.X, kernel), _of_array(np.asarray(block.y)), _of_array(weight)]
    )


def _of_inputs(X: Inputs, kernel: Kernel) -> bytes:
    if isinstance(X, np.ndarray) and X.dtype.kind != "O":
        return _of_array(X)
    encoder = input_encoder(kernel)
    if encoder is not None:
        encoded = encode_inputs(encoder, X)
        if isinstance(encoded, np.ndarray):
            return _of_array(encoded)
        return hashlib.sha256(json.dumps(encoded).encode()).digest()
    strange = {type(x).__name__ for x in X if not isinstance(x, str)}
    if strange:
        raise InputError(
            "a fit with a checkpoint must know its inputs again, which are numbers, strings, or "
            f"objects that the kernel encodes (StorableInputs); found {sorted(strange)}"
        )
    return hashlib.sha256(json.dumps(list(X)).encode()).digest()


def _of_array(array: NDArray[Any]) -> bytes:
    digest = hashlib.sha256(f"{array.dtype.str} {array.shape}".encode())
    digest.update(np.ascontiguousarray(array).data)
    return digest.digest()
