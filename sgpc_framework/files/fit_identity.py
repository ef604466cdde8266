"""What is being fitted: the data, by their fingerprint, the configuration, and which versions of us
and of the parts do it. A log is resumed by the same fit only."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import cache
from importlib import metadata
from typing import Any

import attrs
import numpy as np
import scipy

from sgpc_framework.config.structure import plain
from sgpc_framework.engine.task import Task
from sgpc_framework.errors import CheckpointError, ConfigError
from sgpc_framework.files.record_pieces import Piece, piece_bytes
from sgpc_framework.files.stored_models import every_size
from sgpc_framework.files.stored_states import (
    arrays_of_state,
    parts_of_state,
    refuse_unregistered,
)
from sgpc_framework.model.classes import Classifier, models_of
from sgpc_framework.parts.calls import registry_in_use
from sgpc_framework.parts.compilation import compiled
from sgpc_framework.parts.hyperparameters import parts_of
from sgpc_framework.plugin.kinds import KINDS
from sgpc_framework.protocols import Kernel, Likelihood
from sgpc_framework.rows.fingerprint import WHAT, fingerprint


def identity_of(task: Task) -> dict[str, Any]:
    """All that the bits of a fit depend on."""
    _refuse_nameless(task)
    return {
        "versions": dict(_versions(task)),
        "config": {
            field.name: _plain(getattr(task.config, field.name))
            for field in attrs.fields(type(task.config))
        },
        "data": {
            **fingerprint(task.rows, task.config.kernel),
            "classes": [str(label) for label in task.classes.tolist()],
        },
        "start": None if task.start is None else _digest_of(task.start),
    }


def _versions(task: Task) -> Iterator[tuple[str, str]]:
    yield "sgpc-framework", _own_version()
    yield "numpy", np.__version__
    yield "scipy", scipy.__version__
    twin = compiled("sgpc_framework.rows.loops_compiled")
    yield "numba", twin.numba.__version__ if twin else "not used"
    for source in task.provenance.parts:
        yield source.distribution, source.version


@cache
def _own_version() -> str:
    return metadata.version("sgpc-framework")  # a millisecond


def _plain(value: Any) -> Any:
    try:
        return plain(value)
    except (ConfigError, TypeError, ValueError):  # a notebook's own selector, say
        return repr(value)


def _refuse_nameless(task: Task) -> None:
    """States are stored, so that their parts must have names."""
    parts = [
        (slot, part)
        for slot in KINDS
        for part in parts_of(getattr(task.config, slot))
        if isinstance(part, (Kernel, Likelihood))
    ]
    otherwise = "fit without a checkpoint"
    refuse_unregistered(parts, registry_in_use(), CheckpointError, "log", otherwise)


def _digest_of(model: Classifier) -> str:
    digest = hashlib.sha256()
    for one in models_of(model).values():
        for state in (size.state for size in every_size(one)):
            digest.update(piece_bytes(Piece(parts_of_state(state), arrays_of_state(state))))
    return digest.hexdigest()[:32]


def differences(there: Any, here: Any, at: str = "") -> Iterator[str]:
    """What differs between the fit of a log and the one here, in words."""
    if isinstance(there, dict) and isinstance(here, dict):
        for key in dict.fromkeys([*there, *here]):
            yield from differences(there.get(key), here.get(key), f"{at}.{key}" if at else key)
    elif there != here:
        if at.removeprefix("data.") in WHAT or at == "start":
            yield f"{at}: other values than those that the log was begun with"
        else:
            yield f"{at}: {_short(there)} in the log, {_short(here)} now"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 120 else f"{text[:117]}..."
