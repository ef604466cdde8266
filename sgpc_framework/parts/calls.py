"""Blame falls where it belongs: what a part does wrong is reported as that part's.

    with calling("selector", selector, "propose"):
        rows = selector.propose(posterior, rng)

Whatever is raised inside becomes a ``PluginError`` that names the part, its distribution and the
call. Errors of the framework itself pass through: they have their own addressee. The price is two
method calls where nothing goes wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType

import numpy as np
from numpy.typing import NDArray

from sgpc_framework.errors import PluginError, SgpcError
from sgpc_framework.parts.abilities import has
from sgpc_framework.protocols import Inputs, Kernel, KernelColumns

Floats = NDArray[np.float64]


class calling:
    """A context in which every foreign exception is the fault of one part."""

    __slots__ = ("_call", "_kind", "_part")

    def __init__(self, kind: str, part: object, call: str) -> None:
        self._kind = kind
        self._part = part
        self._call = call

    def __enter__(self) -> None:
        pass

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if isinstance(error, Exception) and not isinstance(error, SgpcError):
            text = f"{type(error).__name__}: {error}"
            raise blamed(self._kind, self._part, self._call, text) from error


def blamed(kind: str, part: object, call: str, problem: str) -> PluginError:
    """The error that says which part, of which distribution, did what in which call."""
    distribution, version = _provider(type(part))
    name = getattr(type(part), "name", type(part).__qualname__)
    return PluginError(
        problem, kind=kind, name=name, distribution=distribution, version=version, call=call
    )


def kernel_values(kernel: Kernel, X: Inputs, Z: Inputs) -> Floats:
    """k(X, Z) as a float64 array of the right shape."""
    with calling("kernel", kernel, "__call__"):
        return shaped(kernel(X, Z), (len(X), len(Z)))


def kernel_columns(kernel: Kernel, X: Inputs) -> Callable[[Inputs], Floats]:
    """The function from Z to k(Z, X), prepared if the kernel knows how."""
    if not has(kernel, KernelColumns):
        return lambda Z: kernel_values(kernel, Z, X)
    with calling("kernel", kernel, "columns_of"):
        prepared = kernel.columns_of(X)

    def columns(Z: Inputs) -> Floats:
        with calling("kernel", kernel, "the function of columns_of"):
            return shaped(prepared(Z), (len(Z), len(X)))

    return columns


def kernel_diag(kernel: Kernel, X: Inputs) -> Floats:
    """The diagonal of k(X, X) as a float64 array of the right shape."""
    with calling("kernel", kernel, "diag"):
        return shaped(kernel.diag(X), (len(X),))


def shaped(values: object, shape: tuple[int, ...]) -> Floats:
    """The values as float64, if they are real numbers of that shape."""
    array = np.asarray(values)
    if array.dtype.kind not in "fiub":
        raise TypeError(f"wanted an array of real numbers, found {array.dtype}")
    array = array.astype(np.float64, copy=False)
    if array.shape != shape:
        raise ValueError(f"wanted an array of shape {shape}, found shape {array.shape}")
    return array


def _provider(cls: type) -> tuple[str, str | None]:
    """The distribution and version a class was installed with; its module if with none."""
    from sgpc_framework.plugin.registry import default_registry  # rarely needed

    part = default_registry().provider(cls)
    return (part.distribution, part.version) if part else (f"module {cls.__module__}", None)
