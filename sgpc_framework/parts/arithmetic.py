"""``k1 + k2``, ``k1 * k2`` and ``2.0 * k``: kernels that add and multiply.

The kernels named ``sum`` and ``product`` of the registry in use do the joining, so that nothing
here knows how they are made.
"""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

from sgpc_framework.errors import PluginError
from sgpc_framework.parts.abilities import has
from sgpc_framework.parts.calls import registry_in_use
from sgpc_framework.protocols import JoinsKernels, Kernel


class KernelArithmetic:
    """A class to inherit from for a kernel that is to be added and multiplied.

    A sum of sums is one sum, a number is a constant kernel, and what stands on the other side may
    be anybody's kernel:

    >>> from sgpc_plugins.kernels import Constant, Linear
    >>> Linear() + Constant() + Linear() == Linear() + (Constant() + Linear())
    True
    >>> 2.0 * Linear()
    Product(factors=(Constant(variance=2.0), Linear(variance=1.0)))
    """

    __slots__ = ()
    __array_ufunc__: ClassVar[None] = None  # so that numpy's numbers leave the product to us

    def __add__(self, other: Any, /) -> Any:
        return _join("sum", self, other) if has(other, Kernel) else NotImplemented

    def __radd__(self, other: Any, /) -> Any:
        if isinstance(other, int) and other == 0:  # where the builtin ``sum`` begins
            return self
        return _join("sum", other, self) if has(other, Kernel) else NotImplemented

    def __mul__(self, other: Any, /) -> Any:
        return _join("product", self, other) if _is_factor(other) else NotImplemented

    def __rmul__(self, other: Any, /) -> Any:
        return _join("product", other, self) if _is_factor(other) else NotImplemented


def _is_factor(other: object) -> bool:
    return has(other, Kernel) or (isinstance(other, Real) and not isinstance(other, bool))


def _join(name: str, *parts: object) -> Any:
    cls: Any = registry_in_use().get("kernel", name)
    if not has(cls, JoinsKernels):
        raise PluginError(
            f"wanted a kernel {name!r} with the class method join, found none in {cls!r}: it "
            "is what adds and multiplies kernels (sgpc_framework.protocols.JoinsKernels)"
        )
    return cls.join(*parts)
