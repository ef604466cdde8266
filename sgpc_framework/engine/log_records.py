"""What can happen in a fit: the records of its log. A stage (``model.trace``) is one as well."""

from __future__ import annotations

from collections.abc import Mapping
from time import perf_counter
from typing import Any, NamedTuple

import attrs
import numpy as np
from numpy.typing import NDArray

from sgpc_framework.engine.step6 import Reestimate
from sgpc_framework.model.trace import Stage
from sgpc_framework.rows.state import State


class Sampled(NamedTuple):
    """Algorithm 1 sees only the rows with these numbers, and numbers them anew."""

    rows: NDArray[np.intp]


@attrs.frozen(eq=False)
class Began:
    """An outer iteration began with these hyperparameters and an empty basis (step 2); or with the
    basis and the sites of an earlier model, and then has no stages."""

    theta: State
    at: float = attrs.field(factory=perf_counter)
    earlier: State | None = None


class Tried(NamedTuple):
    """The rows that the next stage tried together. What is computed for several at once differs in
    its last bits from what is computed for one, so that ``replay`` must know them."""

    rows: NDArray[np.intp]


@attrs.frozen(eq=False)
class Ended:
    """An outer iteration ended with step 6, and why its inner loop did."""

    step6: Reestimate
    why: str
    seconds: float


@attrs.frozen
class Note:
    """Something that a reader of the trace should know."""

    text: str


@attrs.frozen
class Stopped:
    """Someone wanted the fit to end."""


@attrs.frozen
class Cut:
    """Only so many stages of the best iteration have a Cholesky factor, and are kept."""

    stages: int


@attrs.frozen(eq=False)
class RunEnded:
    """A run of a refiner's optimiser ended here, and left the generator in that state."""

    state: State
    generator: Mapping[str, Any]


@attrs.frozen(eq=False)
class RefinerEnded:
    """A refiner ended with this state; it began with the first ``size`` stages.

    ``changed`` says whether it did anything at all, ``settled`` what it would need to choose no
    more.
    """

    size: int
    state: State
    notes: tuple[str, ...] = ()
    changed: bool = True
    settled: Mapping[str, Any] | None = None


Record = Sampled | Began | Tried | Stage | Ended | Note | Stopped | Cut | RunEnded | RefinerEnded
