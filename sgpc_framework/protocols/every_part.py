"""What parts of any kind are made of, and what they may say of themselves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from typing import Self

    from sgpc_framework.parts.declarations import Hyperparameter

Floats = NDArray[np.float64]
"""An array of float64."""

Inputs = Any
"""Rows of inputs: whatever can be indexed by an array of row numbers. Usually a float matrix."""

Pullback = Callable[[Floats], Floats]
"""From d loss / d output to d loss / d hyperparameters, in the order of ``hyperparameters()``."""


@runtime_checkable
class StartsFromData(Protocol):
    """A component some of whose hyperparameters may start from the training inputs."""

    def started(self, X: Inputs, /) -> Self:
        """The component with every word (``"median"``) replaced by a number.

        ``X`` has all rows, or a sample of 10 000 if there are more. A component that has numbers
        already keeps them: it may be asked again.
        """
        ...


@runtime_checkable
class Tunable(Protocol):
    """A kernel or likelihood that says its hyperparameters itself, because no attrs field does.

    ``hyperparameters()`` returns a tuple of them, each with value, bounds and transform;
    ``with_hyperparameters(values)`` returns a copy with other values in the same order, and leaves
    the part as it is. Both are called at every evaluation of a gradient, so they should be cheap.
    A part that returns no hyperparameter says that it has none. Equal values make equal parts:
    the check "hyperparameters round trip" asks for ``==`` and for equal hashes.
    """

    def hyperparameters(self) -> tuple[Hyperparameter, ...]: ...

    def with_hyperparameters(self, values: Floats, /) -> Self: ...


@runtime_checkable
class PlainOptions(Protocol):
    """A part that is no attrs class and says itself what a file writes of it.

    ``to_options()`` returns plain data (numbers, strings, lists, mappings) by name, the values of
    hyperparameters among them, and ``from_options`` makes an equal part of it; of an empty mapping
    it makes the part with its defaults. Configurations and model files call them; what
    ``from_options`` raises is reported as a problem of the configuration.
    """

    def to_options(self) -> Mapping[str, Any]: ...

    @classmethod
    def from_options(cls, options: Mapping[str, Any], /) -> Self: ...
