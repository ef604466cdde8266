"""The prior covariance, and what a kernel may be able to do besides."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, runtime_checkable

import numpy as np

from sgpc_framework.protocols.every_part import Floats, Inputs, Pullback

if TYPE_CHECKING:
    from typing import Self

    from sgpc_framework.parts.expressions import Expression


@runtime_checkable
class Kernel(Protocol):
    """The prior covariance k(x, z).

    ``k(X, Z)`` returns an array of shape (len(X), len(Z)), ``k.diag(X)`` one of shape (len(X),)
    that equals the diagonal of ``k(X, X)``. Both must be finite, leave their inputs unchanged and
    what they returned before as it was (no buffer that is filled anew), and accept zero rows;
    ``k(X, X)`` must be symmetric and positive semidefinite. The engine calls with a few candidates
    or basis vectors against rows of a block, never n x n.
    """

    name: ClassVar[str]

    def __call__(self, X: Inputs, Z: Inputs, /) -> Floats: ...

    def diag(self, X: Inputs, /) -> Floats: ...


@runtime_checkable
class KernelPullback(Protocol):
    """A kernel with exact gradients: the values, and a function that contracts their derivatives.

    ``linearised(X, Z)`` returns K = k(X, Z) and a function that maps a matrix G of K's shape to
    the vector of sum(G * dK/dθ), one entry for each hyperparameter in natural (not log) values.
    ``linearised_diag(X)`` does the same for the diagonal and a vector G. The function may
    remember K: nobody writes into K before its last call.
    """

    def linearised(self, X: Inputs, Z: Inputs, /) -> tuple[Floats, Pullback]: ...

    def linearised_diag(self, X: Inputs, /) -> tuple[Floats, Pullback]: ...


@runtime_checkable
class KernelInputPullback(Protocol):
    """A kernel that is differentiable in its inputs, so that basis vectors can be moved."""

    def input_pullback(self, X: Inputs, Z: Inputs, cotangent: Floats, /) -> Floats:
        """d sum(cotangent * k(X, Z)) / dX, of X's shape."""
        ...


@runtime_checkable
class KernelFusedPullback(Protocol):
    """A kernel that shares the work of its two pullbacks when both are wanted.

    ``linearised_in_inputs(X, Z)`` returns K = k(X, Z) and a function that maps a matrix G of K's
    shape to what the pullback of ``linearised`` returns and what ``input_pullback`` does. It is
    what moves basis vectors fast; without it the two are asked one after the other.
    """

    def linearised_in_inputs(
        self, X: Inputs, Z: Inputs, /
    ) -> tuple[Floats, Callable[[Floats], tuple[Floats, Floats]]]: ...


@runtime_checkable
class KernelColumns(Protocol):
    """A kernel that answers faster when it has looked at the rows before.

    ``columns_of(X)`` is called once for each block of rows in an outer iteration and returns a
    function from a few inputs Z to k(Z, X), which is then called at every stage. A model that
    predicts single rows calls it once, on its basis vectors. The function may keep what it computed
    from X alone (squared norms, say), but no copy of X.
    """

    def columns_of(self, X: Inputs, /) -> Callable[[Inputs], Floats]: ...


@runtime_checkable
class StorableInputs(Protocol):
    """A kernel on objects, such as graphs, that says how a file stores them.

    ``encode_inputs(X)`` returns plain data for JSON, or an array of float64, int64 or uint8;
    ``decode_inputs(data)`` makes inputs of it that the kernel cannot tell from X. Both are called
    when a model is saved, and the second when one is loaded, from a file that may hold anything:
    it must refuse by an exception what ``encode_inputs`` would not have written. A fit with a
    checkpoint encodes every block, by which it knows its rows again. The check "stored inputs come
    back" compares the kernel's values.
    """

    def encode_inputs(self, X: Inputs, /) -> Any: ...

    def decode_inputs(self, data: Any, /) -> Inputs: ...


@runtime_checkable
class WrapsKernel(Protocol):
    """A kernel that is made of another one, and can be made of a third.

    ``around(inner)`` raises ``ValueError`` where that kernel is of the wrong kind.
    """

    @property
    def inner(self) -> Kernel:
        """The kernel inside."""
        ...

    def around(self, inner: Any, /) -> Kernel:
        """The same with another kernel inside."""
        ...


@runtime_checkable
class WarpsInputs(WrapsKernel, Protocol):
    """A kernel that sees its inputs through a map g that can be undone.

        k(x, z) = inner(g(x), g(z))

    A refiner then moves basis vectors where the inner kernel sees them, on rows that were mapped
    once.
    """

    def warp(self, X: Inputs, /) -> Inputs:
        """g of every row."""
        ...

    def unwarp(self, X: Inputs, /) -> Inputs:
        """The rows of which g is X."""
        ...


@runtime_checkable
class JoinsKernels(Protocol):
    """A kernel made of kernels, which ``+`` (the kernel ``sum``) and ``*`` (``product``) ask for.

    ``join(*parts)`` makes one of some kernels; a part that is of the same class gives its parts
    instead. A factor may be a number, which stands for a constant kernel.
    """

    @classmethod
    def join(cls, *parts: Any) -> Self: ...


@runtime_checkable
class FeatureRelevance(Protocol):
    """A kernel that can tell how much each feature matters.

    ``relevances()`` returns 1 / lengthscale of each feature, or ``None`` where one scale is shared
    by all of them. It is asked of every part of a sum or a product by itself.
    """

    def relevances(self) -> Floats | None: ...


@runtime_checkable
class KernelExpression(Protocol):
    """A kernel that can say its formula, so that models with it are exported to other languages.

    ``expression()`` returns what it computes of two inputs, hyperparameters put in, made of the
    nodes of ``sgpc_framework.parts.expressions``. ``sgpc export`` asks for it, of every part of a
    sum or a product by itself; the check ``expression`` holds it beside the kernel.
    """

    def expression(self) -> Expression: ...


@runtime_checkable
class SampleInputs(Protocol):
    """A kernel on inputs other than vectors that can make some, for the conformance checks."""

    def sample_inputs(self, rows: int, rng: np.random.Generator, /) -> Inputs: ...
