"""Model files: one zip of uncompressed ``.npy`` members and a JSON manifest. Nothing is unpickled.

The file holds what a prediction needs, the basis vectors, sites and hyperparameters (of a refined
model, those of each of its sizes; of many classes, those of each), the trace of the stages, and how
the model was made. Besides, it may say how the columns of a table become inputs. A reader trusts
nothing: names, sizes, checksums and values are checked before they are used, and whatever is wrong
is a ``ModelFileError``.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import attrs
import cattrs
import numpy as np
from numpy.typing import NDArray

from sgpc_framework.errors import InputError, ModelFileError, SgpcError
from sgpc_framework.files.allowance import Allowance
from sgpc_framework.files.archive import from_npy, npy, read_members, write_whole
from sgpc_framework.files.manifest import (
    labels_from,
    labels_section,
    manifest_bytes,
    parse_manifest,
    provenance_from,
    provenance_section,
    table_section,
)
from sgpc_framework.files.stored_models import (
    Reader,
    array_names,
    arrays_of,
    check_total,
    description_of,
    every_size,
)
from sgpc_framework.files.stored_states import StateReader, refuse_unregistered
from sgpc_framework.model.classes import Classifier
from sgpc_framework.model.costs import Costs
from sgpc_framework.model.many_classes import ONE_OR_REST, OneVsRest
from sgpc_framework.model.model import Model
from sgpc_framework.parts.calls import using
from sgpc_framework.parts.hyperparameters import parts_of
from sgpc_framework.plugin.registry import Registry, default_registry

MANIFEST = "manifest.json"
_STRANGE_MEMBERS = "this is not a model file: its members are not those of one"

_NOT_A_MODEL = (
    ArithmeticError,
    AttributeError,
    LookupError,
    MemoryError,
    RecursionError,
    TypeError,
    ValueError,
    SgpcError,
    cattrs.BaseValidationError,
)


class Contents(NamedTuple):
    """What a model file holds: the model, and how columns of a table become inputs, if it says."""

    model: Classifier
    table: Mapping[str, Any] | None


def save(
    model: Classifier,
    path: str | os.PathLike[str],
    registry: Registry | None = None,
    *,
    table: Mapping[str, Any] | None = None,
) -> None:
    """Write a model file, or leave what was there untouched.

    ``table`` is plain data that says how the columns of a table become inputs. The parts are named
    by the ``registry``, unless told otherwise the one that the model was made or loaded with.
    """
    known = model.provenance.registry if model.provenance is not None else None
    registry = registry or known or default_registry()
    models = model.models if isinstance(model, OneVsRest) else (model,)
    every = [size for one in models for size in every_size(one)]
    parts = [
        named for one in every for named in (("kernel", one.kernel), ("likelihood", one.likelihood))
    ]
    otherwise = "pass the registry that has them"
    refuse_unregistered(parts, registry, ModelFileError, "file", otherwise)
    check_total(map(len, every))
    members = {
        _member(position, name): npy(array)
        for position, one in enumerate(models)
        for name, array in arrays_of(one).items()
    }
    manifest = {
        "classes": labels_section(model.classes),
        "models": [description_of(one) for one in models],
        **({"odds_share": model.odds_share} if isinstance(model, OneVsRest) else {}),
        **({} if model.costs is None else {"costs": model.costs.as_section()}),
        "needs": dict(_distributions(every, registry)),
        **provenance_section(model.provenance),
        "table": table_section(table),
        "sha256": {name: hashlib.sha256(data).hexdigest() for name, data in members.items()},
    }
    write_whole(Path(path), {**members, MANIFEST: manifest_bytes(manifest)})


def load(
    path: str | os.PathLike[str],
    registry: Registry | None = None,
    *,
    parts: Collection[str] | None = None,
    trust: bool = False,
) -> Any:
    """Read a model file; the plugins that its parts come from must be installed.

    A file that says how the columns of a table become inputs gives a ``TableClassifier``, any other
    the ``Model`` or ``OneVsRest`` that was saved.

    ``parts`` names all that the file may use, ``["squared-exponential", "probit"]``, and no plugin
    is imported but of those distributions that it says it needs. ``trust`` lets it take more memory
    than ten times its size and 256 MB, which models of some 2900 basis vectors or more do;
    with many classes in one model, the basis vectors count once for each class.
    ``sgpc_framework.inspect`` says what a file holds and needs.
    """
    model, table = read(path, registry, parts=parts, trust=trust)
    if table is None:
        return model
    from sgpc_framework.tables import TableClassifier  # for those alone who have such a file

    with reading(path):
        return TableClassifier.from_section(model, table)


def read(
    path: str | os.PathLike[str],
    registry: Registry | None = None,
    *,
    parts: Collection[str] | None = None,
    trust: bool = False,
) -> Contents:
    """The model of a file, and its section on tables."""
    if isinstance(parts, str):  # in which every piece of a name could be found
        raise InputError(f"wanted a list of the names of parts, found the text {parts!r}")
    with reading(path):
        members = read_members(Path(path))
        manifest = manifest_of(members)
        if parts is None:
            chosen = registry or default_registry()
        else:
            chosen = (registry or Registry.of_distributions(manifest["needs"])).limited(parts)
        size = sum(map(len, members.values()))
        allowance = Allowance.of_model(size, trust=trust)
        with using(chosen):
            return _contents(members, manifest, chosen, allowance)


@contextmanager
def reading(path: str | os.PathLike[str]) -> Iterator[None]:
    """Whatever is wrong inside is wrong with that file."""
    try:
        yield
    except ModelFileError as error:
        raise ModelFileError(f"{os.fspath(path)}: {error}") from error.__cause__
    except _NOT_A_MODEL as error:
        text = f"{os.fspath(path)}: this does not describe a model: {error}"
        raise ModelFileError(text) from error


def manifest_of(members: Mapping[str, bytes]) -> dict[str, Any]:
    """What the file says of itself."""
    if MANIFEST not in members:
        raise ModelFileError(_STRANGE_MEMBERS)
    return parse_manifest(members[MANIFEST])


def _contents(
    members: Mapping[str, bytes],
    manifest: Mapping[str, Any],
    registry: Registry,
    allowance: Allowance,
) -> Contents:
    classes = labels_from(manifest["classes"])
    described = manifest["models"]
    several = len(described) > 1  # one for each class, against the rest
    if several and len(described) != len(classes):
        raise ModelFileError(f"{len(classes)} classes do not have {len(described)} models")
    arrays = arrays_in(members, manifest)
    check_total(sizes_of(arrays), allowance)
    table = manifest["table"]
    if table is not None and not isinstance(table, dict):
        raise ModelFileError(f"wanted a section on tables or nothing, found {table!r}")
    reader = Reader(
        ONE_OR_REST if several else classes,
        provenance_from(manifest, registry),
        StateReader(manifest["needs"], registry, allowance),
    )
    with np.errstate(all="ignore"):  # what is not finite is refused
        models = [reader.model(*one) for one in zip(arrays, described, strict=True)]
    costs = manifest.get("costs")  # which a file has only if there are any
    decided = None if costs is None else Costs.from_section(classes, costs)
    if not several:
        return Contents(attrs.evolve(models[0], costs=decided), table)
    share = manifest.get("odds_share", 0.0)  # which older files do not say
    if not isinstance(share, (int, float)) or not 0.0 <= share <= 1.0:
        raise ModelFileError(f"wanted odds_share to be a number from 0 to 1, found {share!r}")
    return Contents(OneVsRest(classes, tuple(models), float(share), decided), table)


def arrays_in(
    members: Mapping[str, bytes], manifest: Mapping[str, Any]
) -> list[dict[str, NDArray[Any]]]:
    """The arrays of each model, if there are just those that there must be, and undamaged."""
    names = [list(array_names(one)) for one in manifest["models"]]
    wanted = {_member(position, name) for position, own in enumerate(names) for name in own}
    if members.keys() != {MANIFEST, *wanted}:
        raise ModelFileError(_STRANGE_MEMBERS)
    for member in wanted:
        if manifest["sha256"].get(member) != hashlib.sha256(members[member]).hexdigest():
            raise ModelFileError(f"the checksum of {member} does not fit; the file is damaged")
    return [
        {name: from_npy(name, members[_member(position, name)]) for name in own}
        for position, own in enumerate(names)
    ]


def sizes_of(arrays: Iterable[Mapping[str, NDArray[Any]]]) -> list[int]:
    """The number of sites of each model, and of each smaller one."""
    return [a.size for own in arrays for name, a in own.items() if name.endswith("mean")]


def _member(position: int, array: str) -> str:
    return f"{position}.{array}.npy"


def _distributions(models: Iterable[Model], registry: Registry) -> Iterator[tuple[str, str]]:
    """What must be installed for the models to predict."""
    for one in models:
        for part in (*parts_of(one.kernel), *parts_of(one.likelihood)):
            provider = registry.provider(type(part))
            if provider is not None:
                yield provider.distribution, provider.version
