"""Inputs that are no numbers as plain data, by the kernel that knows how (``StorableInputs``)."""

from __future__ import annotations

from typing import Any

from sgpc_framework.parts.abilities import has
from sgpc_framework.parts.calls import blame
from sgpc_framework.parts.hyperparameters import parts_of
from sgpc_framework.protocols import Inputs, Kernel, StorableInputs


def input_encoder(kernel: Kernel) -> StorableInputs | None:
    """The kernel, or the first of its parts, that knows how its inputs are stored."""
    return next((part for part in parts_of(kernel) if has(part, StorableInputs)), None)


def encode_inputs(encoder: StorableInputs, inputs: Inputs) -> Any:
    """What it makes of some inputs: plain data for JSON, or an array."""
    with blame("kernel", encoder, "encode_inputs"):
        return encoder.encode_inputs(inputs)
