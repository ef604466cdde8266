"""Model files: one zip of uncompressed ``.npy`` members and a JSON manifest. Nothing is unpickled.

The file holds what a prediction needs, the basis vectors, sites and hyperparameters, and the trace
of the stages. It is written beside its destination and then moved there, so that a reader sees the
old file or the new one and never a half. A reader trusts nothing: names, sizes, checksums and
values are checked before they are used, and whatever is wrong is a ``ModelFileError``.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs
import cattrs
import numpy as np
from numpy.typing import NDArray

from sgpc_framework.engine.trace import Trace
from sgpc_framework.errors import ConfigError, ModelFileError, NumericalError
from sgpc_framework.model import Model
from sgpc_framework.plugin.registry import Registry, default_registry
from sgpc_framework.protocols import Kernel, Likelihood
from sgpc_framework.structuring import plain, structured

FORMAT = "sgpc-model"
FORMAT_VERSION = 1
MANIFEST = "manifest.json"
MOST_BYTES = 2**31
"""A model is small. A file that claims more than this is not one."""

_ARRAYS = ("basis", "classes", "inputs", "mean", "precision")


def save(model: Model, path: str | os.PathLike[str], registry: Registry | None = None) -> None:
    """Write a model file, or leave what was there untouched."""
    registry = registry or default_registry()
    arrays = {
        "basis": np.asarray(model.basis, dtype=np.int64),
        "classes": _storable("classes", model.classes),
        "inputs": _storable("basis inputs", model.inputs),
        "mean": model.sites.mean,
        "precision": model.sites.precision,
    }
    members = {f"{name}.npy": _npy(array) for name, array in arrays.items()}
    manifest = {
        "format": FORMAT,
        "version": FORMAT_VERSION,
        "kernel": _described(model.kernel, registry),
        "likelihood": _described(model.likelihood, registry),
        "sha256": {name: hashlib.sha256(data).hexdigest() for name, data in members.items()},
        "trace": cattrs.unstructure(_shortened(model.trace)),
    }
    members[MANIFEST] = json.dumps(manifest, allow_nan=False).encode()
    _write_whole(Path(path), members)


def load(path: str | os.PathLike[str], registry: Registry | None = None) -> Model:
    """Read a model file; the plugins that its parts come from must be installed."""
    registry = registry or default_registry()
    try:
        members = _read_members(Path(path))
        manifest = _manifest(members)
        arrays = {name: _array(f"{name}.npy", members, manifest) for name in _ARRAYS}
        return _model(arrays, manifest, registry)
    except ModelFileError as error:
        raise ModelFileError(f"{os.fspath(path)}: {error}") from error.__cause__


def _model(
    arrays: dict[str, NDArray[Any]], manifest: Mapping[str, Any], registry: Registry
) -> Model:
    inputs, classes = arrays["inputs"], arrays["classes"]
    sizes = {len(arrays[name]) for name in ("basis", "inputs", "mean", "precision")}
    finite = all(np.all(np.isfinite(arrays[name])) for name in ("mean", "precision"))
    if len(sizes) != 1 or not finite or np.any(arrays["precision"] <= 0) or classes.shape != (2,):
        raise ModelFileError("the arrays do not describe a model; the file is damaged")
    try:
        return Model.of(
            classes=classes,
            basis=arrays["basis"].astype(np.intp),
            inputs=inputs.astype(object) if inputs.dtype.kind == "U" else inputs,
            precision=arrays["precision"],
            mean=arrays["mean"],
            kernel=_part("kernel", Kernel, manifest, registry),
            likelihood=_part("likelihood", Likelihood, manifest, registry),
            trace=cattrs.structure(manifest["trace"], Trace),
        )
    except (KeyError, TypeError, ValueError, NumericalError, cattrs.BaseValidationError) as error:
        raise ModelFileError(f"the file does not describe a model: {error}") from error


def _part(slot: str, protocol: Any, manifest: Mapping[str, Any], registry: Registry) -> Any:
    described = manifest[slot]
    try:
        return structured(described["part"], protocol, registry)
    except ConfigError as error:
        raise ModelFileError(
            f"its {slot} comes from {described['distribution']} "
            f"{described['distribution_version']} (install that, and see that it loads): {error}"
        ) from error


def _described(component: object, registry: Registry) -> dict[str, Any]:
    provider = registry.provider(type(component))
    if provider is None:
        raise ModelFileError(
            f"{type(component).__name__} is not a registered part, so no file could name it: "
            "register it through an entry point of group 'sgpc_framework'"
        )
    return {
        "part": plain(component),
        "distribution": provider.distribution,
        "distribution_version": provider.version,
    }


def _shortened(trace: Trace) -> Trace:
    """The trace with the stages of the returned model only: a file should stay small."""
    kept = (
        iteration if position == trace.best else attrs.evolve(iteration, stages=())
        for position, iteration in enumerate(trace.iterations)
    )
    return attrs.evolve(trace, iterations=tuple(kept))


def _storable(what: str, array: NDArray[Any]) -> NDArray[Any]:
    if array.dtype.kind == "O":
        kinds = {type(entry) for entry in array.flat}
        if not kinds <= {str}:
            names = ", ".join(sorted(kind.__name__ for kind in kinds))
            raise ModelFileError(f"{what} must be numbers or strings to be stored, found {names}")
        return array.astype(str)
    return array


def _npy(array: NDArray[Any]) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.ascontiguousarray(array), allow_pickle=False)
    return buffer.getvalue()


def _write_whole(path: Path, members: Mapping[str, bytes]) -> None:
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        try:
            with open(part, "xb") as file:
                with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
                    for name, data in sorted(members.items()):
                        archive.writestr(zipfile.ZipInfo(name), data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(part, path)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise ModelFileError(f"{path}: cannot be written: {error.strerror}") from error


def _read_members(path: Path) -> dict[str, bytes]:
    try:
        with zipfile.ZipFile(path) as archive:
            entries = {entry.filename: entry for entry in archive.infolist()}
            wanted = {MANIFEST, *(f"{name}.npy" for name in _ARRAYS)}
            if set(entries) != wanted or len(entries) != len(archive.infolist()):
                raise ModelFileError("this is not a model file: its members are not those of one")
            if any(entry.compress_type != zipfile.ZIP_STORED for entry in entries.values()):
                raise ModelFileError("this is not a model file: its members are compressed")
            if sum(entry.file_size for entry in entries.values()) > MOST_BYTES:
                raise ModelFileError("the file claims to be larger than any model")
            return {name: archive.read(name) for name in wanted}
    except FileNotFoundError as error:
        raise ModelFileError("there is no such file") from error
    except OSError as error:
        raise ModelFileError(f"cannot be read: {error.strerror or error}") from error
    except (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError, ValueError) as error:
        raise ModelFileError(f"this is not a model file, or it is damaged: {error}") from error


def _manifest(members: Mapping[str, bytes]) -> dict[str, Any]:
    try:
        manifest = json.loads(members[MANIFEST])
    except (ValueError, RecursionError) as error:
        raise ModelFileError("the manifest is not JSON; the file is damaged") from error
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise ModelFileError("this is not a model file: its manifest does not say so")
    if manifest.get("version") != FORMAT_VERSION:
        raise ModelFileError(
            f"format version {FORMAT_VERSION} is wanted, found {manifest.get('version')!r}: "
            "a newer sgpc-framework may read it"
        )
    return manifest


def _array(name: str, members: Mapping[str, bytes], manifest: Mapping[str, Any]) -> NDArray[Any]:
    sums = manifest.get("sha256")
    if not isinstance(sums, dict) or sums.get(name) != hashlib.sha256(members[name]).hexdigest():
        raise ModelFileError(f"the checksum of {name} does not fit; the file is damaged")
    try:
        return np.lib.format.read_array(io.BytesIO(members[name]), allow_pickle=False)
    except (ValueError, EOFError, MemoryError) as error:
        raise ModelFileError(f"{name} is not an array that can be read: {error}") from error
