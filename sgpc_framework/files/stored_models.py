"""One model as named arrays and plain data, and back, where nothing is taken on trust."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import attrs
import cattrs
import numpy as np
from numpy.typing import NDArray

from sgpc_framework.config.provenance import Provenance
from sgpc_framework.errors import ModelFileError
from sgpc_framework.files.allowance import Allowance
from sgpc_framework.files.stored_states import (
    Arrays,
    StateReader,
    arrays_of_state,
    memory_of,
    parts_of_state,
)
from sgpc_framework.model.model import Model, nest_sizes
from sgpc_framework.model.trace import Size, Trace
from sgpc_framework.rows.state import latent_functions

MOST_BASIS = 10_000
"""No file has more basis vectors than this; a Gram matrix of theirs takes 800 MB."""

_OWN_ARRAYS = ("inputs", "mean", "precision")
"""What every size has for itself. The basis of a smaller one is the beginning of that of the whole,
unless its refiner left some out: then it has a basis of its own, and says so."""


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


# -- into a file ---------------------------------------------------------------------------------


def arrays_of(model: Model) -> dict[str, NDArray[Any]]:
    """The arrays of a model and of its smaller sizes, by name."""
    arrays: dict[str, NDArray[Any]] = {}
    for one in every_size(model):
        before = "" if one is model else f"{len(one)}."
        own = arrays_of_state(one.state)
        if one is not model and _is_prefix(one, model):
            del own["basis"]
        arrays |= {before + name: array for name, array in own.items()}
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
        **parts_of_state(model.state),
        "smaller": smaller,
        "trace": _CONVERTER.unstructure(_shortened(model.trace)),
    }


def _parts(model: Model) -> dict[str, Any]:
    parts = parts_of_state(model.state)
    return {slot: parts[slot] for slot in ("kernel", "likelihood")}


def _shortened(trace: Trace) -> Trace:
    """The trace with the stages of the returned model only: a file should stay small.

    It does not say how long that took: the same fit, resumed or not, makes the same file.
    """
    kept = (
        attrs.evolve(
            iteration, stages=iteration.stages if position == trace.best else (), seconds=None
        )
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
    states: StateReader

    def model(self, arrays: Arrays, described: Mapping[str, Any]) -> Model:
        """The model with these arrays."""
        trace = _CONVERTER.structure(described["trace"], Trace)
        if not 0 <= trace.best < len(trace.iterations):
            raise ModelFileError("the trace has no iteration that the model comes from")
        _check_sizes(trace.sizes)
        if trace.settled is not None and not isinstance(trace.settled, dict):
            raise ModelFileError(f"wanted a settled refiner or none, found {trace.settled!r}")
        _check_shares(trace.class_shares, len(self.classes))
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
        return nest_sizes([*smaller, whole])

    def _of_one_size(
        self, arrays: Arrays, parts: Mapping[str, Any], kind: object, trace: Trace
    ) -> Model:
        state = self.states.state(arrays, parts, kind)
        functions = latent_functions(state.likelihood)
        if len(self.classes) != max(2, functions):
            raise ModelFileError(
                f"{len(self.classes)} classes do not have a model of {functions} latent functions"
            )
        model = Model(self.classes, state, trace, provenance=self.provenance)
        if not all(np.isfinite(s).all() for s in (model.sites.coefficient, model.sites.shrinkage)):
            raise ModelFileError("its sites are so large that nothing can be predicted")
        return model


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


def _check_shares(shares: tuple[float, ...], classes: int) -> None:
    sound = len(shares) == classes and all(0.0 < share < 1.0 for share in shares)
    if shares and not (sound and abs(sum(shares) - 1.0) < 1e-6):
        raise ModelFileError(
            f"wanted the shares of {classes} classes, which add up to one, found {shares[:5]}"
        )
