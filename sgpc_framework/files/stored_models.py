"""One model as named arrays and plain data, and back, where nothing is taken on trust."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from importlib import metadata
from typing import Any

import attrs
import cattrs
import numpy as np
from numpy.typing import NDArray

from sgpc_framework.config.provenance import Provenance
from sgpc_framework.config.structure import plain, structured
from sgpc_framework.errors import ModelFileError, SgpcError
from sgpc_framework.files.allowance import Allowance
from sgpc_framework.files.stored_inputs import (
    inputs_from_array,
    inputs_to_array,
    kind_of_inputs,
)
from sgpc_framework.model.model import Model, nested
from sgpc_framework.model.trace import Size, Trace
from sgpc_framework.parts.hyperparameters import parts_of
from sgpc_framework.plugin.registry import Registry
from sgpc_framework.protocols import Kernel, Likelihood
from sgpc_framework.rows.state import NO_ROW, State, latent_functions

MOST_BASIS = 10_000
"""No file has more basis vectors than this; a Gram matrix of theirs takes 800 MB."""

MATRICES = 4
"""The Gram matrix, its factor, the inverse of that, and one in between."""

OVERHEAD = 2**15
"""What a model of no size takes."""

FEW_TERMS = 20
"""So many parts of a kernel are nothing to think of; more are counted as if they took memory."""

_OWN_ARRAYS = ("inputs", "mean", "precision")
"""What every size has for itself. The basis of a smaller one is the beginning of that of the whole,
unless its refiner left some out: then it has a basis of its own, and says so."""

Arrays = Mapping[str, NDArray[Any]]


def _one_or_several(value: Any, _: object) -> float | tuple[float, ...]:
    """A number, or one for each latent function."""
    return tuple(map(float, value)) if isinstance(value, list) else float(value)


_CONVERTER = cattrs.Converter()
_CONVERTER.register_structure_hook(float | tuple[float, ...], _one_or_several)


def every_size(model: Model) -> tuple[Model, ...]:
    """The model with its smaller sizes that a refiner ran at, in ascending order."""
    return (*(model.smaller or ()), model)


def check_total(sizes: Iterable[int], allowance: Allowance | None = None) -> None:
    """Refuse more basis vectors, in all models of a file, than predictions have room for."""
    each = list(sizes)
    total = sum(size**2 for size in each)
    if total > MOST_BASIS**2:
        raise ModelFileError(f"a file may hold {MOST_BASIS} basis vectors, not more than that")
    if allowance is not None:
        most = max(each, default=0)
        what = f"its model of {most} basis vectors" if len(each) == 1 else f"its {len(each)} models"
        allowance.check(memory_of(each), what)


def memory_of(sizes: Iterable[int]) -> int:
    """About how many bytes models of these sizes take: a few matrices among the basis vectors."""
    return sum(MATRICES * 8 * size**2 + OVERHEAD for size in sizes)


# -- into a file ---------------------------------------------------------------------------------


def arrays_of(model: Model) -> dict[str, NDArray[Any]]:
    """The arrays of a model and of its smaller sizes, by name."""
    arrays: dict[str, NDArray[Any]] = {"basis": np.asarray(model.basis, dtype=np.int64)}
    for one in every_size(model):
        before = "" if one is model else f"{len(one)}."
        arrays[f"{before}inputs"] = inputs_to_array(one.kernel, one.inputs)
        arrays[f"{before}mean"] = one.sites.mean
        arrays[f"{before}precision"] = one.sites.precision
        if not _is_prefix(one, model):
            arrays[f"{before}basis"] = np.asarray(one.basis, dtype=np.int64)
    return arrays


def _is_prefix(one: Model, whole: Model) -> bool:
    return np.array_equal(one.basis, whole.basis[: len(one)])


def description_of(model: Model) -> dict[str, Any]:
    """All else: the parts, those of each smaller size, and the trace."""
    smaller = model.smaller and [
        _parts(one) | {"size": len(one)} | ({} if _is_prefix(one, model) else {"basis": "own"})
        for one in model.smaller
    ]
    return {
        **_parts(model),
        "inputs": kind_of_inputs(model.kernel, model.inputs),
        "smaller": smaller,
        "trace": _CONVERTER.unstructure(_shortened(model.trace)),
    }


def _parts(model: Model) -> dict[str, Any]:
    return {"kernel": plain(model.kernel), "likelihood": plain(model.likelihood)}


def _shortened(trace: Trace) -> Trace:
    """The trace with the stages of the returned model only: a file should stay small."""
    kept = (
        iteration if position == trace.best else attrs.evolve(iteration, stages=())
        for position, iteration in enumerate(trace.iterations)
    )
    return attrs.evolve(trace, iterations=tuple(kept))


# -- out of a file -------------------------------------------------------------------------------


def array_names(described: Mapping[str, Any]) -> Iterator[str]:
    """The names of the arrays that a described model must have."""
    yield "basis"
    for before in ("", *(f"{size}." for size in _smaller_sizes(described))):
        for name in _OWN_ARRAYS:
            yield before + name
    for parts in described["smaller"] or ():
        if parts.get("basis") == "own":
            yield f"{parts['size']}.basis"


@attrs.frozen
class Reader:
    """What all models of a file have in common."""

    classes: NDArray[Any]
    provenance: Provenance | None
    needs: Mapping[str, Any]
    registry: Registry
    allowance: Allowance

    def model(self, arrays: Arrays, described: Mapping[str, Any]) -> Model:
        """The model with these arrays."""
        trace = _CONVERTER.structure(described["trace"], Trace)
        if not 0 <= trace.best < len(trace.iterations):
            raise ModelFileError("the trace has no iteration that the model comes from")
        _check_sizes(trace.sizes)
        kind = described["inputs"]
        whole = self._of_one_size(arrays, described, kind, trace)
        if described["smaller"] is None:
            return whole
        smaller = []
        for parts in described["smaller"]:
            size = parts["size"]
            own = {name: arrays[f"{size}.{name}"] for name in _OWN_ARRAYS}
            own["basis"] = arrays.get(f"{size}.basis", arrays["basis"][:size])
            one = self._of_one_size(own, parts, kind, trace)
            if not len(one) == size < len(whole) or one.inputs.shape[1:] != whole.inputs.shape[1:]:
                raise ModelFileError(f"the model of size {size} does not fit the whole")
            smaller.append(one)
        return nested([*smaller, whole])

    def _of_one_size(
        self, arrays: Arrays, parts: Mapping[str, Any], kind: object, trace: Trace
    ) -> Model:
        likelihood = self._part("likelihood", Likelihood, parts)
        functions = latent_functions(likelihood)
        if len(self.classes) != max(2, functions):
            raise ModelFileError(
                f"{len(self.classes)} classes do not have a model of {functions} latent functions"
            )
        size = len(arrays["basis"])
        for name, shape, dtype in (
            ("basis", (size,), "i"),
            ("mean", (size,) if functions == 1 else (functions, size), "f"),
            ("precision", (size,), "f"),
        ):
            array = arrays[name]
            if array.shape != shape or array.dtype.kind != dtype or not np.isfinite(array).all():
                raise ModelFileError(f"{name}.npy does not hold {size} finite numbers")
        if np.any(arrays["precision"] <= 0.0) or np.any(arrays["basis"] < NO_ROW):
            raise ModelFileError(
                f"precisions must be above zero, and row numbers not below {NO_ROW}, which is none"
            )
        kernel = self._part("kernel", Kernel, parts)
        terms = sum(1 for _ in parts_of(kernel))
        if terms > FEW_TERMS:
            what = f"a kernel of {terms} parts among {size} basis vectors"
            self.allowance.check(terms / FEW_TERMS * memory_of([size]), what)
        state = State(
            kernel=kernel,
            likelihood=likelihood,
            basis=arrays["basis"].astype(np.intp),
            inputs=inputs_from_array(kernel, arrays["inputs"], kind, size),
            precision=arrays["precision"],
            mean=arrays["mean"],
        )
        model = Model(self.classes, state, trace, provenance=self.provenance)
        if not all(np.isfinite(s).all() for s in (model.sites.coefficient, model.sites.shrinkage)):
            raise ModelFileError("its sites are so large that nothing can be predicted")
        return model

    def _part(self, slot: str, protocol: Any, parts: Mapping[str, Any]) -> Any:
        try:
            return structured(parts[slot], protocol, self.registry)
        except SgpcError as error:
            raise ModelFileError(f"its {slot} cannot be made; {self._advice()}: {error}") from error

    def _advice(self) -> str:
        missing = [f"{name} {self.needs[name]}" for name in self.needs if not _installed(name)]
        if missing:
            return f"install {' and '.join(missing)}, where it comes from"
        needed = ", ".join(f"{name} {version}" for name, version in self.needs.items())
        return f"its parts came from {needed}; 'sgpc plugins' says which load"


def _installed(distribution: str) -> bool:
    try:
        metadata.version(distribution)
    except (metadata.PackageNotFoundError, ValueError):  # a file may say any name, or none
        return False
    return True


def _smaller_sizes(described: Mapping[str, Any]) -> list[int]:
    smaller = described["smaller"]
    if smaller is None:
        return []
    if not isinstance(smaller, list):
        raise ModelFileError(f"wanted a list of smaller sizes, found {smaller!r}")
    sizes = [parts["size"] for parts in smaller]
    if not all(type(size) is int and size >= 1 for size in sizes) or sizes != sorted({*sizes}):
        raise ModelFileError(f"wanted sizes in ascending order, found {sizes}")
    return sizes


def _check_sizes(records: tuple[Size, ...]) -> None:
    sizes = [record.size for record in records]
    if sizes != sorted(set(sizes)) or not all(size >= 1 for size in sizes):
        raise ModelFileError(f"wanted a trace with sizes in ascending order, found {sizes}")
