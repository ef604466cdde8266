"""What a model file holds and needs, without building the model: no plugin is imported."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs
from numpy.typing import NDArray

from sgpc_framework.files.allowance import Allowance
from sgpc_framework.files.archive import read_members
from sgpc_framework.files.manifest import FORMAT_VERSION, labels_from
from sgpc_framework.files.model_files import arrays_in, manifest_of, reading, sizes_of
from sgpc_framework.files.stored_states import memory_of
from sgpc_framework.model.costs import Costs


@attrs.frozen
class Inspection:
    """What a model file says of itself.

    ========== =======================================================================
    version    of the format
    size       of the file, in bytes
    memory     about what the model takes when it is loaded, in bytes
    trust      whether that is so much that ``load`` wants to be told ``trust=True``
    classes    the labels
    basis      the number of basis vectors of each model: of more than two classes there
               may be one for each
    sizes      the smaller sizes, where a refiner ran at them
    features   how many a row has; None where rows are no vectors
    parts      the kernel and the likelihood and what they consist of, by name
    needs      which distributions must be installed, and the versions that made the file
    target     the column that it predicts, where it takes tables
    columns    those that it predicts from
    config     the configuration of the fit, if it is known
    costs      what wrong decisions cost, a row for each true class, if it decides by costs
    ========== =======================================================================
    """

    version: int
    size: int
    memory: int
    trust: bool
    classes: tuple[Any, ...]
    basis: tuple[int, ...]
    sizes: tuple[int, ...]
    features: int | None
    parts: tuple[str, ...]
    needs: Mapping[str, str]
    target: str | None
    columns: tuple[str, ...]
    config: Mapping[str, Any] | None
    costs: tuple[tuple[float, ...], ...] | None = None


def inspect(path: str | os.PathLike[str]) -> Inspection:
    """Look into a model file; ``ModelFileError`` if it is none, or damaged."""
    with reading(path):
        members = read_members(Path(path))
        manifest = manifest_of(members)
        arrays = arrays_in(members, manifest)
        described, table = manifest["models"], manifest["table"]
        size = sum(map(len, members.values()))
        memory = memory_of(sizes_of(arrays))
        names = (name for one in described for slot in _SLOTS for name in _names(one[slot]))
        classes, costs = labels_from(manifest["classes"]), manifest.get("costs")
        return Inspection(
            version=FORMAT_VERSION,
            size=size,
            memory=memory + size,
            trust=not Allowance.of_model(size).permits(memory),
            classes=tuple(classes.tolist()),
            basis=tuple(int(own["basis"].size) for own in arrays),
            sizes=tuple(int(parts["size"]) for parts in described[0]["smaller"] or ()),
            features=_width(arrays[0]["inputs"], described[0]["inputs"]),
            parts=tuple(dict.fromkeys(names)),
            needs={str(name): str(version) for name, version in manifest["needs"].items()},
            target=None if table is None else str(table["target"]),
            columns=() if table is None else tuple(map(_column, table["columns"])),
            config=manifest["config"],
            costs=None if costs is None else _matrix(Costs.from_section(classes, costs)),
        )


_SLOTS = ("kernel", "likelihood")


def _names(part: Any) -> Iterator[str]:
    """The names of a part and of those inside it, however deep."""
    rest = [part]
    while rest:
        each = rest.pop()
        if isinstance(each, dict):
            if isinstance(each.get("name"), str):
                yield each["name"]
            rest.extend(reversed([value for key, value in each.items() if key != "name"]))
        elif isinstance(each, list):
            rest.extend(reversed(each))


def _width(inputs: NDArray[Any], kind: object) -> int | None:
    return int(inputs.shape[1]) if kind == "numbers" and inputs.ndim == 2 else None


def _matrix(costs: Costs) -> tuple[tuple[float, ...], ...]:
    return tuple(map(tuple, costs.matrix.tolist()))


def _column(described: Mapping[str, Any]) -> str:
    return str(described["name"])
