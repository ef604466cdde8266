"""A state as named arrays and plain data, and back, where nothing is taken on trust."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import metadata
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from sgpc_framework.config.structure import plain, structured, unregistered
from sgpc_framework.errors import ModelFileError, SgpcError
from sgpc_framework.files.allowance import Allowance
from sgpc_framework.files.stored_inputs import (
    inputs_from_array,
    inputs_to_array,
    kind_of_inputs,
)
from sgpc_framework.parts.hyperparameters import parts_of
from sgpc_framework.plugin.records import HERE
from sgpc_framework.plugin.registry import Registry
from sgpc_framework.protocols import Kernel, Likelihood
from sgpc_framework.rows.state import NO_ROW, State, latent_functions

MATRICES = 4
"""The Gram matrix, its factor, the inverse of that, and one in between."""

OVERHEAD = 2**15
"""What a model of no size takes."""

FEW_TERMS = 20
"""So many parts of a kernel are nothing to think of; more are counted as if they took memory."""

Arrays = Mapping[str, NDArray[Any]]


def refuse_unregistered(
    parts: Iterable[tuple[str, Any]],
    registry: Registry,
    error: type[SgpcError],
    holder: str,
    otherwise: str,
) -> None:
    """The error if a file or a log (the ``holder``) could not name parts, each with its slot."""
    problems = (text for slot, part in parts for text in unregistered(part, registry, slot))
    if texts := "; ".join(dict.fromkeys(problems)):
        raise error(
            f"no {holder} could name these parts: {texts}. Register them through an entry point of "
            f"group 'sgpc_framework', or {otherwise}"
        )


def memory_of(sizes: Iterable[int]) -> int:
    """About how many bytes models of these sizes take: a few matrices among the basis vectors."""
    return sum(MATRICES * 8 * size**2 + OVERHEAD for size in sizes)


def arrays_of_state(state: State) -> dict[str, NDArray[Any]]:
    """The arrays of a state, by name."""
    return {
        "basis": np.asarray(state.basis, dtype=np.int64),
        "inputs": inputs_to_array(state.kernel, state.inputs),
        "mean": state.mean,
        "precision": state.precision,
    }


def parts_of_state(state: State) -> dict[str, Any]:
    """All else: the parts, and how its inputs are stored."""
    return {
        "kernel": plain(state.kernel),
        "likelihood": plain(state.likelihood),
        "inputs": kind_of_inputs(state.kernel, state.inputs),
    }


@attrs.frozen
class StateReader:
    """What all states of a file have in common: where parts come from, and how much is allowed."""

    needs: Mapping[str, Any]
    registry: Registry
    allowance: Allowance

    def state(self, arrays: Arrays, parts: Mapping[str, Any], kind: object) -> State:
        """The state with these arrays and parts, whose inputs are stored in that way."""
        likelihood = self._part("likelihood", Likelihood, parts)
        functions = latent_functions(likelihood)
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
        return State(
            kernel=kernel,
            likelihood=likelihood,
            basis=arrays["basis"].astype(np.intp),
            inputs=inputs_from_array(kernel, arrays["inputs"], kind, size),
            precision=arrays["precision"],
            mean=arrays["mean"],
        )

    def _part(self, slot: str, protocol: Any, parts: Mapping[str, Any]) -> Any:
        try:
            return structured(parts[slot], protocol, self.registry)
        except SgpcError as error:
            raise ModelFileError(f"its {slot} cannot be made; {self._advice()}: {error}") from error

    def _advice(self) -> str:
        absent = [name for name in self.needs if not _installed(name)]
        missing = [f"{name} {self.needs[name]}" for name in absent if name != HERE.distribution]
        if missing:
            return f"install {' and '.join(missing)}, where it comes from"
        if absent:
            return "it came from no distribution: load it with a registry that has its class"
        needed = ", ".join(f"{name} {version}" for name, version in self.needs.items())
        return f"its parts came from {needed}; 'sgpc plugins' says which load"


def _installed(distribution: str) -> bool:
    try:
        metadata.version(distribution)
    except (metadata.PackageNotFoundError, ValueError):  # a file may say any name, or none
        return False
    return True
