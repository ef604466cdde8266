"""The manifest of a model file: JSON, read strictly.

Numbers are finite, and neither a label nor a nesting makes more of itself than the text is long.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

import cattrs
import numpy as np
from numpy.typing import NDArray

from sgpc_framework.config.provenance import Provenance, Source
from sgpc_framework.errors import ModelFileError
from sgpc_framework.plugin.registry import Registry

FORMAT = "sgpc-model"
FORMAT_VERSION = 1
MOST_BYTES = 2**25

_DTYPES = re.compile(r"[<>]U\d{1,7}|[<>|][biufO]\d{0,2}")
_MOST_LABEL_BYTES = 2**25


def manifest_bytes(manifest: Mapping[str, Any]) -> bytes:
    """The manifest as it stands in the file."""
    try:
        data = json.dumps(
            {"format": FORMAT, "version": FORMAT_VERSION, **manifest}, allow_nan=False
        ).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise ModelFileError(f"a file holds plain data and finite numbers only: {error}") from error
    if len(data) > MOST_BYTES:
        raise ModelFileError(f"the manifest takes {len(data)} bytes, where {MOST_BYTES} are most")
    return data


def parse_manifest(data: bytes) -> dict[str, Any]:
    """The manifest that some bytes hold, of this version of the format."""
    if len(data) > MOST_BYTES:
        raise ModelFileError(f"the manifest has {len(data)} bytes, where {MOST_BYTES} are the most")
    manifest = strict_json("the manifest", data)
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise ModelFileError("this is not a model file: its manifest does not say so")
    version = manifest.get("version")
    if type(version) is not int or version != FORMAT_VERSION:
        raise ModelFileError(
            f"format version {FORMAT_VERSION} is wanted, found {version!r}: "
            "a newer sgpc-framework may read it"
        )
    return manifest


def strict_json(what: str, data: bytes) -> Any:
    """Plain data from the bytes of JSON, with finite numbers only.

    Parsed, it takes not much more room than a small multiple of the text: brackets and quotes are
    counted before.
    """
    if _parsed_bytes(data) > 5 * len(data) + _ROOM:
        raise ModelFileError(f"{what} is JSON of more pieces than a model has any use for")
    try:
        return json.loads(data, parse_float=_finite, parse_constant=_finite)
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"{what} is not JSON that can be read: {error}") from error


def _parsed_bytes(data: bytes) -> int:
    """About what objects of Python take that JSON stands for, at most."""
    return sum(size * data.count(mark) for mark, size in _OBJECTS.items())


_ROOM = 2**24
_OBJECTS = {b"[": 64, b"{": 72, b'"': 30, b",": 40, b":": 90}
"""What each mark costs: lists, mappings, half a string, numbers in lists, entries of mappings."""


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"wanted finite numbers, found {text}")
    return number


def table_section(table: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """The section on tables, if it comes back as it is given."""
    if table is None:
        return None
    section = dict(table)
    try:
        same = json.loads(json.dumps(section, allow_nan=False)) == section
    except (TypeError, ValueError, RecursionError) as error:
        raise ModelFileError(f"the section on tables is not plain data: {error}") from error
    if not same:
        raise ModelFileError(
            "the section on tables would not come back as it is: wanted lists, and mappings with "
            "strings as keys"
        )
    return section


def labels_section(classes: NDArray[Any]) -> dict[str, Any]:
    """The classes with their type, if a file can hold them."""
    labels = classes.tolist()
    strange = {type(label).__name__ for label in labels if type(label) not in _LABELS}
    if strange:
        raise ModelFileError(
            f"classes must be numbers or strings to be stored, found {sorted(strange)}: fit with "
            "the labels as text, or keep the model by pickle"
        )
    section = {"dtype": classes.dtype.str, "labels": labels}
    labels_from(section)
    return section


_LABELS = (str, bool, int, float)


def labels_from(section: Mapping[str, Any]) -> NDArray[Any]:
    """The classes that a section describes: at least two, in order."""
    name, labels = section["dtype"], section["labels"]
    if not isinstance(name, str) or not _DTYPES.fullmatch(name) or not isinstance(labels, list):
        raise ModelFileError(f"wanted the type and a list of the classes, found {name!r}")
    if not {type(label) for label in labels} <= {*_LABELS} or len({*map(type, labels)}) != 1:
        raise ModelFileError("wanted classes that are numbers or strings, all of one type")
    dtype = np.dtype(name)
    if dtype.itemsize * len(labels) > _MOST_LABEL_BYTES:
        raise ModelFileError(f"{len(labels)} classes of type {name} are more than a file may have")
    classes = np.array(labels, dtype=dtype)
    if classes.tolist() != labels or len(classes) < 2 or not np.all(classes[:-1] < classes[1:]):
        raise ModelFileError(f"wanted at least two classes in order, found {labels[:5]}")
    return classes


def provenance_section(provenance: Provenance | None) -> dict[str, Any]:
    """How the model was made; nothings if nobody knows."""
    if provenance is None:
        return {"config": None, "parts": []}
    return {
        "config": dict(provenance.config),
        "parts": [cattrs.unstructure(part) for part in provenance.parts],
    }


def provenance_from(manifest: Mapping[str, Any], registry: Registry) -> Provenance | None:
    """How the model was made, as the manifest has it; the registry is the one that reads it."""
    config = manifest["config"]
    if config is None:
        return None
    if not isinstance(config, dict):
        raise ModelFileError(f"wanted a configuration or nothing, found {config!r}")
    parts = tuple(cattrs.structure(part, Source) for part in manifest["parts"])
    return Provenance(config, parts, registry)
