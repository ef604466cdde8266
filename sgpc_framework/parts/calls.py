"""Blame falls where it belongs: what a part does wrong is reported as that part's.

    with blame("selector", selector, "propose"):
        rows = selector.propose(posterior, rng)

Whatever is raised inside becomes a ``PluginError`` that names the part, its distribution and the
call, and so does ``sys.exit``. Errors of the framework itself pass through: they have their own
addressee; so does what the handler of a signal raises, which is nobody's fault. The price is two
method calls where nothing goes wrong. Who provides a part is looked up in the registry in use:

    with using(registry):
        strategy.fit(task)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import TracebackType
from typing import TYPE_CHECKING

import numpy as np

from sgpc_framework.errors import PluginError, SgpcError
from sgpc_framework.parts.abilities import has
from sgpc_framework.parts.interruptions import is_fault
from sgpc_framework.protocols import Floats, Inputs, Kernel, KernelColumns

if TYPE_CHECKING:
    from sgpc_framework.plugin.registry import Registry


class blame:
    """A context in which every foreign exception, and every exit, is the fault of one part."""

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
        if error is None:
            return
        if isinstance(error, MemoryError):  # whose fault it is the user has to judge
            error.add_note(str(fault(self._kind, self._part, self._call, "wanted that memory")))
        elif is_fault(error) and not isinstance(error, SgpcError):
            text = f"{type(error).__name__}: {error}"
            raise fault(self._kind, self._part, self._call, text) from error


def fault(kind: str, part: object, call: str, problem: str) -> PluginError:
    """The error that says which part, of which distribution, did what in which call."""
    provider = registry_in_use().provider(type(part))
    if provider is not None:
        distribution, version = provider.distribution, provider.version
    else:
        distribution, version = f"module {type(part).__module__}", None
    name = getattr(type(part), "name", type(part).__qualname__)
    return PluginError(
        problem, kind=kind, name=name, distribution=distribution, version=version, call=call
    )


# ---------------------------------------------------------------------------------------------
# Calls of a kernel


def kernel_values(kernel: Kernel, X: Inputs, Z: Inputs) -> Floats:
    """k(X, Z) as a float64 array of the right shape."""
    with blame("kernel", kernel, "__call__"):
        return real_array(kernel(X, Z), (len(X), len(Z)))


def kernel_columns(kernel: Kernel, X: Inputs) -> Callable[[Inputs], Floats]:
    """The function from Z to k(Z, X), prepared if the kernel knows how."""
    if not has(kernel, KernelColumns):
        return lambda Z: kernel_values(kernel, Z, X)
    with blame("kernel", kernel, "columns_of"):
        prepared = kernel.columns_of(X)
    blame_columns = blame("kernel", kernel, "the function of columns_of")
    rows = len(X)

    def columns(Z: Inputs) -> Floats:
        with blame_columns:
            return real_array(prepared(Z), (len(Z), rows))

    return columns


def kernel_diag(kernel: Kernel, X: Inputs) -> Floats:
    """The diagonal of k(X, X) as a float64 array of the right shape."""
    with blame("kernel", kernel, "diag"):
        return real_array(kernel.diag(X), (len(X),))


def real_array(values: object, shape: tuple[int, ...]) -> Floats:
    """The values as float64, if they are real numbers of that shape."""
    if type(values) is np.ndarray and values.dtype == np.float64 and values.shape == shape:
        return values
    if isinstance(values, np.ma.MaskedArray):  # whose hidden numbers would be taken for real
        raise TypeError("wanted an array of real numbers, found a masked array: fill it")
    array = np.asarray(values)
    if array.dtype.kind not in "fiub":
        raise TypeError(f"wanted an array of real numbers, found {array.dtype}")
    array = array.astype(np.float64, copy=False)
    if array.shape != shape:
        raise ValueError(f"wanted an array of shape {shape}, found shape {array.shape}")
    return array


# ---------------------------------------------------------------------------------------------
# The registry in use

_in_use: ContextVar[Registry | None] = ContextVar("registry", default=None)


@contextmanager
def using(registry: Registry | None) -> Iterator[None]:
    """Inside, parts are looked up in this registry; ``None`` leaves it as it is outside."""
    if registry is None:
        yield
        return
    outer = _in_use.set(registry)
    try:
        yield
    finally:
        _in_use.reset(outer)


def registry_in_use() -> Registry:
    """The registry of the innermost :func:`using`; that of the installed plugins outside of any."""
    from sgpc_framework.plugin.registry import default_registry  # it imports this module's package

    return _in_use.get() or default_registry()
