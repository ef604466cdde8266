"""Kernels written in JAX: a formula for two inputs becomes a part. It needs the extra ``jax``.

    def periodic(x, z, variance, period):
        return variance * jnp.exp(-2.0 * jnp.sum(jnp.sin(jnp.pi * (x - z) / period) ** 2))

    Periodic = kernel_from_jax(periodic, variance=1.0, period=2.0)

What comes out is a class like any other kernel's: its hyperparameters are fields, so it is tuned,
described, saved and added to others as all kernels are. JAX differentiates the formula, for the
hyperparameters and for the inputs.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, ClassVar

import attrs
import numpy as np

from sgpc_framework.adapters.jax_passes import Passes, passes_of
from sgpc_framework.parts.arithmetic import KernelArithmetic
from sgpc_framework.parts.declarations import Declaration, declaration, hyperparameter
from sgpc_framework.protocols import Floats, Inputs, Pullback

BOUNDS = (1e-6, 1e6)
"""Of a hyperparameter that is given as a number alone."""


class JaxKernel(KernelArithmetic):
    """k(x, z) = function(x, z, **hyperparameters); what all such kernels share."""

    __slots__ = ()

    name: ClassVar[str]
    function: ClassVar[Callable[..., Any]]

    def __call__(self, X: Inputs, Z: Inputs, /) -> Floats:
        return self._passes.gram(self._theta, X, Z)

    def diag(self, X: Inputs, /) -> Floats:
        return self._passes.diagonal(self._theta, X)

    def linearised(self, X: Inputs, Z: Inputs, /) -> tuple[Floats, Pullback]:
        return self(X, Z), lambda G: self._passes.gram_pullback(self._theta, X, Z, G)

    def linearised_diag(self, X: Inputs, /) -> tuple[Floats, Pullback]:
        return self.diag(X), lambda G: self._passes.diagonal_pullback(self._theta, X, G)

    def input_pullback(self, X: Inputs, Z: Inputs, cotangent: Floats, /) -> Floats:
        return self._passes.gram_pullbacks(self._theta, X, Z, cotangent)[1]

    def linearised_in_inputs(
        self, X: Inputs, Z: Inputs, /
    ) -> tuple[Floats, Callable[[Floats], tuple[Floats, Floats]]]:
        return self(X, Z), lambda G: self._passes.gram_pullbacks(self._theta, X, Z, G)

    @property
    def _passes(self) -> Passes:
        return passes_of(type(self).function)

    @property
    def _theta(self) -> dict[str, Floats]:
        """The hyperparameters in the order of the fields, which is that of the gradients."""
        cls: Any = type(self)
        return {each.name: np.asarray(getattr(self, each.name)) for each in attrs.fields(cls)}

    def __reduce__(self) -> Any:
        """By the function, which a module has under its name; the class need not have one."""
        cls: Any = type(self)
        own = tuple(getattr(self, each.name) for each in attrs.fields(cls))
        return _remade, (cls.function, _declarations(cls), own)


def kernel_from_jax(function: Callable[..., Any], **hyperparameters: Any) -> type[JaxKernel]:
    """The class of kernels k(x, z) = ``function(x, z, **hyperparameters)``.

    ``function`` is made of ``jax.numpy`` and returns one number for two inputs, each a vector with
    an entry for each feature. It must be symmetric and positive semidefinite, which nobody can see
    from outside: run ``sgpc check file.py:Class``. It gives the part its name, with hyphens, and
    its documentation.

    A hyperparameter is a positive number to start from, or a list of them (one for each feature,
    say), tuned as a ratio between 1e-6 and 1e6 of its unit; or a ``hyperparameter(...)``, which
    says its own bounds and transform.

    Numbers are float64, whatever JAX is set to elsewhere, and that setting is left alone. Blocks of
    rows are padded to a few lengths, so that few programs are compiled.
    """
    name = getattr(function, "__name__", "")
    if not name.isidentifier():
        raise TypeError(f"wanted a function that was defined with a name, found {function!r}")
    try:
        inspect.signature(function).bind(None, None, **hyperparameters)
    except TypeError as error:
        raise TypeError(
            f"wanted {name}(x, z, {', '.join(hyperparameters)}) to be a call of a function of two "
            f"inputs and its hyperparameters: {error}"
        ) from error
    fields = {key: _field(key, value) for key, value in hyperparameters.items()}
    cls: Any = _class(function, fields)
    return _class_of(function, _declarations(cls))


def _field(name: str, value: Any) -> Any:
    if type(value) is type(hyperparameter(1.0, bounds=BOUNDS)):
        return value
    try:
        numbers = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        numbers = np.zeros((0, 0))
    if numbers.ndim > 1 or not np.all((BOUNDS[0] <= numbers) & (numbers <= BOUNDS[1])):
        raise ValueError(
            f"wanted {name} to be a number from {BOUNDS[0]:g} to {BOUNDS[1]:g}, a list of such "
            f"numbers, or hyperparameter(start, bounds=..., transform=...), found {value!r}"
        )
    return hyperparameter(value, bounds=BOUNDS)


_Declarations = tuple[tuple[str, Any, Declaration], ...]


def _declarations(cls: Any) -> _Declarations:
    """Names, starts and how they may move: all that tells one class of a function from another."""
    return tuple(
        (each.name, tuple(each.default) if np.ndim(each.default) else each.default, declared)
        for each in attrs.fields(cls)
        if (declared := declaration(each)) is not None
    )


@cache
def _class_of(function: Callable[..., Any], declarations: _Declarations) -> type[JaxKernel]:
    """One class for one declaration, so that a kernel from another process equals one from here."""
    return _class(
        function,
        {
            name: hyperparameter(start, bounds=how.bounds, transform=how.transform)
            for name, start, how in declarations
        },
    )


def _class(function: Callable[..., Any], fields: Mapping[str, Any]) -> type[JaxKernel]:
    name = function.__name__
    body = {
        "name": name.strip("_").replace("_", "-").lower(),
        "function": staticmethod(function),
        "__doc__": function.__doc__,
        "__module__": function.__module__,
        "__reduce__": JaxKernel.__reduce__,  # attrs has its own for classes with slots
    }
    title = "".join(word.capitalize() for word in name.split("_"))
    made: type[JaxKernel] = attrs.make_class(
        title, dict(fields), bases=(JaxKernel,), class_body=body, frozen=True, slots=True
    )
    made.__module__ = function.__module__
    return made


def _remade(function: Callable[..., Any], declarations: _Declarations, own: tuple[Any, ...]) -> Any:
    return _class_of(function, declarations)(*own)
