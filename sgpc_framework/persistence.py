"""Model files: one zip of uncompressed ``.npy`` members and a JSON manifest. Nothing is unpickled.

The file holds what a prediction needs, the basis vectors, sites and hyperparameters (of a refined
model, those of each of its sizes), and the trace of the stages. It is written beside its
destination and then moved there, so that a reader sees the old file or the new one and never a
half. A reader trusts nothing: names, sizes, checksums and values are checked before they are used,
and whatever is wrong is a ``ModelFileError``.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs
import cattrs
import numpy as np
from numpy.typing import NDArray

from sgpc_framework.archive import from_npy, npy, read_members, write_whole
from sgpc_framework.engine.trace import Size, Trace
from sgpc_framework.errors import ModelFileError, SgpcError
from sgpc_framework.hyperparameters import parts_of
from sgpc_framework.model import Model, nested
from sgpc_framework.plugin.registry import Registry, default_registry
from sgpc_framework.protocols import Kernel, Likelihood
from sgpc_framework.structuring import plain, structured, unregistered

FORMAT = "sgpc-model"
FORMAT_VERSION = 1
MANIFEST = "manifest.json"
_STRANGE_MEMBERS = "this is not a model file: its members are not those of one"

_NOT_A_MODEL = (
    ArithmeticError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
    SgpcError,
    cattrs.BaseValidationError,
)
_ARRAYS = ("basis", "inputs", "mean", "precision")
_OWN_ARRAYS = ("inputs", "mean", "precision")
"""What a smaller size has for itself: its basis is the beginning of that of the whole."""

Arrays = Mapping[str, NDArray[Any]]


def save(model: Model, path: str | os.PathLike[str], registry: Registry | None = None) -> None:
    """Write a model file, or leave what was there untouched."""
    registry = registry or default_registry()
    _refuse_unregistered(model, registry)
    arrays = {"basis": np.asarray(model.basis, dtype=np.int64), **_own_arrays(model)}
    for smaller in model.smaller or ():
        arrays |= {_named(len(smaller), name): a for name, a in _own_arrays(smaller).items()}
    members = {f"{name}.npy": npy(array) for name, array in arrays.items()}
    manifest = {
        "format": FORMAT,
        "version": FORMAT_VERSION,
        "classes": {
            "dtype": model.classes.dtype.str,
            "labels": json.loads(_as_json("classes", model.classes, (str, bool, int, float))),
        },
        "inputs": "strings" if model.inputs.dtype.kind == "O" else "numbers",
        "kernel": plain(model.kernel),
        "likelihood": plain(model.likelihood),
        "smaller": _smaller_parts(model),
        "distributions": dict(_distributions(model, registry)),
        "sha256": {name: hashlib.sha256(data).hexdigest() for name, data in members.items()},
        "trace": cattrs.unstructure(_shortened(model.trace)),
    }
    members[MANIFEST] = json.dumps(manifest, allow_nan=False).encode()
    write_whole(Path(path), members)


def _own_arrays(model: Model) -> dict[str, NDArray[Any]]:
    inputs = model.inputs
    if inputs.dtype.kind == "O":
        inputs = np.frombuffer(_as_json("basis inputs", inputs, (str,)), dtype=np.uint8)
    return {"inputs": inputs, "mean": model.sites.mean, "precision": model.sites.precision}


def _smaller_parts(model: Model) -> list[dict[str, Any]] | None:
    """The parts of each smaller size; None where every prefix of the basis is a model."""
    if model.smaller is None:
        return None
    return [
        {"size": len(one), "kernel": plain(one.kernel), "likelihood": plain(one.likelihood)}
        for one in model.smaller
    ]


def _named(size: int, array: str) -> str:
    return f"{size}.{array}"


def load(path: str | os.PathLike[str], registry: Registry | None = None) -> Model:
    """Read a model file; the plugins that its parts come from must be installed."""
    registry = registry or default_registry()
    try:
        members = read_members(Path(path))
        manifest = _manifest(members)
        sizes = _smaller_sizes(manifest)
        names = [*_ARRAYS, *(_named(size, name) for size in sizes for name in _OWN_ARRAYS)]
        if members.keys() != {MANIFEST, *(f"{name}.npy" for name in names)}:
            raise ModelFileError(_STRANGE_MEMBERS)
        arrays = {name: _array(f"{name}.npy", members, manifest) for name in names}
        return _whole_model(arrays, manifest, registry)
    except ModelFileError as error:
        raise ModelFileError(f"{os.fspath(path)}: {error}") from error.__cause__
    except _NOT_A_MODEL as error:
        text = f"{os.fspath(path)}: this does not describe a model: {error}"
        raise ModelFileError(text) from error


def _whole_model(arrays: Arrays, manifest: Mapping[str, Any], registry: Registry) -> Model:
    trace = cattrs.structure(manifest["trace"], Trace)
    if not 0 <= trace.best < len(trace.iterations):
        raise ModelFileError("the trace has no iteration that the model comes from")
    _check_sizes(trace.sizes)
    whole = _model(arrays, manifest, manifest, trace, registry)
    if manifest.get("smaller") is None:
        return whole
    smaller = []
    for described in manifest["smaller"]:
        size = described["size"]
        own = {name: arrays[_named(size, name)] for name in _OWN_ARRAYS}
        own["basis"] = arrays["basis"][:size]
        one = _model(own, described, manifest, trace, registry)
        if not len(one) == size < len(whole) or one.inputs.shape[1:] != whole.inputs.shape[1:]:
            raise ModelFileError(f"the model of size {size} does not fit the whole")
        smaller.append(one)
    return nested([*smaller, whole])


def _smaller_sizes(manifest: Mapping[str, Any]) -> list[int]:
    """The smaller sizes of a refined model; a file without the entry has none."""
    smaller = manifest.get("smaller")
    if smaller is None:
        return []
    if not isinstance(smaller, list):
        raise ModelFileError(f"wanted a list of smaller sizes, found {smaller!r}")
    sizes = [described["size"] for described in smaller]
    if not all(type(size) is int and size >= 1 for size in sizes) or sizes != sorted({*sizes}):
        raise ModelFileError(f"wanted sizes in ascending order, found {sizes}")
    return sizes


def _check_sizes(records: tuple[Size, ...]) -> None:
    sizes = [record.size for record in records]
    numbers = [number for r in records for number in attrs.astuple(r) if number is not None]
    if sizes != sorted(set(sizes)) or not all(size >= 1 for size in sizes):
        raise ModelFileError(f"wanted a trace with sizes in ascending order, found {sizes}")
    if not np.all(np.isfinite(numbers)):
        raise ModelFileError("wanted a trace with finite losses of its sizes")


def _model(
    arrays: Arrays,
    parts: Mapping[str, Any],
    manifest: Mapping[str, Any],
    trace: Trace,
    registry: Registry,
) -> Model:
    """A model of one size: its arrays and parts, and what the whole file has in common."""
    size = len(arrays["mean"])
    for name in ("basis", "mean", "precision"):
        array = arrays[name]
        kind = "i" if name == "basis" else "f"
        if array.shape != (size,) or array.dtype.kind != kind or not np.all(np.isfinite(array)):
            raise ModelFileError(f"{name}.npy does not hold {size} finite numbers")
    if np.any(arrays["precision"] <= 0.0) or np.any(arrays["basis"] < 0):
        raise ModelFileError("precisions must be above zero, and row numbers not below it")
    sources = manifest["distributions"]
    return Model.of(
        classes=_classes(manifest["classes"]),
        basis=arrays["basis"].astype(np.intp),
        inputs=_inputs(arrays["inputs"], manifest["inputs"], size),
        precision=arrays["precision"],
        mean=arrays["mean"],
        kernel=_part("kernel", Kernel, parts, sources, registry),
        likelihood=_part("likelihood", Likelihood, parts, sources, registry),
        trace=trace,
    )


def _classes(described: Mapping[str, Any]) -> NDArray[Any]:
    classes = np.array(described["labels"], dtype=np.dtype(described["dtype"]))
    if classes.shape != (2,) or not classes[0] < classes[1]:
        raise ModelFileError(f"wanted two classes in order, found {classes.tolist()}")
    return classes


def _inputs(array: NDArray[Any], kind: str, size: int) -> NDArray[Any]:
    if kind == "strings":
        words = json.loads(array.astype(np.uint8).tobytes())
        inputs = np.empty(len(words), dtype=object)
        inputs[:] = words
        good = all(isinstance(word, str) for word in words)
    else:
        inputs = array
        good = array.ndim == 2 and array.dtype == np.float64 and bool(np.all(np.isfinite(array)))
    if not good or len(inputs) != size:
        raise ModelFileError(f"inputs.npy does not hold {size} basis vectors")
    return inputs


def _part(
    slot: str,
    protocol: Any,
    parts: Mapping[str, Any],
    sources: Mapping[str, Any],
    registry: Registry,
) -> Any:
    try:
        return structured(parts[slot], protocol, registry)
    except SgpcError as error:
        needed = ", ".join(f"{name} {version}" for name, version in sources.items())
        raise ModelFileError(
            f"its {slot} cannot be made; the parts come from {needed} (install what is missing, "
            f"and see that it loads): {error}"
        ) from error


def _refuse_unregistered(model: Model, registry: Registry) -> None:
    problems = [
        problem
        for one in (model, *(model.smaller or ()))
        for slot, part in (("kernel", one.kernel), ("likelihood", one.likelihood))
        for problem in unregistered(part, registry, slot)
    ]
    if problems:
        raise ModelFileError(
            "no file could name these parts: "
            + "; ".join(dict.fromkeys(problems))
            + ". Register them through "
            "an entry point of group 'sgpc_framework', or pass the registry that has them"
        )


def _distributions(model: Model, registry: Registry) -> Iterator[tuple[str, str]]:
    for one in (model, *(model.smaller or ())):
        for part in (*parts_of(one.kernel), *parts_of(one.likelihood)):
            provider = registry.provider(type(part))
            if provider is not None:
                yield provider.distribution, provider.version


def _shortened(trace: Trace) -> Trace:
    """The trace with the stages of the returned model only: a file should stay small."""
    kept = (
        iteration if position == trace.best else attrs.evolve(iteration, stages=())
        for position, iteration in enumerate(trace.iterations)
    )
    return attrs.evolve(trace, iterations=tuple(kept))


def _as_json(what: str, array: NDArray[Any], types: tuple[type, ...]) -> bytes:
    entries = array.tolist()
    strange = sorted({type(entry).__name__ for entry in entries if not isinstance(entry, types)})
    if strange:
        raise ModelFileError(f"{what} must be numbers or strings to be stored, found {strange}")
    return json.dumps(entries, allow_nan=False).encode()


def _manifest(members: Mapping[str, bytes]) -> dict[str, Any]:
    if MANIFEST not in members:
        raise ModelFileError(_STRANGE_MEMBERS)
    try:
        manifest = json.loads(members[MANIFEST])
    except (ValueError, RecursionError) as error:
        raise ModelFileError("the manifest is not JSON; the file is damaged") from error
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise ModelFileError("this is not a model file: its manifest does not say so")
    version = manifest.get("version")
    if type(version) is not int or version != FORMAT_VERSION:
        raise ModelFileError(
            f"format version {FORMAT_VERSION} is wanted, found {version!r}: "
            "a newer sgpc-framework may read it"
        )
    return manifest


def _array(name: str, members: Mapping[str, bytes], manifest: Mapping[str, Any]) -> NDArray[Any]:
    sums = manifest.get("sha256")
    if not isinstance(sums, dict) or sums.get(name) != hashlib.sha256(members[name]).hexdigest():
        raise ModelFileError(f"the checksum of {name} does not fit; the file is damaged")
    return from_npy(name, members[name])
