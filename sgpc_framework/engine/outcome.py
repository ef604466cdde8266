"""What a fit ends with."""

from __future__ import annotations

import attrs
import numpy as np
from numpy.typing import NDArray

from sgpc_framework.engine.log import Log
from sgpc_framework.model.trace import Trace
from sgpc_framework.rows.state import State


@attrs.frozen(eq=False)
class Fit:
    """The states of a fit, in order of size, the whole one last, and how they came about.

    Unless a refiner changed something (``refined``), there is one state, and every prefix of it is
    a model as well.
    """

    states: tuple[State, ...]
    refined: bool
    trace: Trace
    log: Log
    stopped: bool = False
    """Whether someone wanted the fit to end before it did."""

    @property
    def whole(self) -> State:
        """The state of the largest size."""
        return self.states[-1]

    def renumbered(self, numbers: NDArray[np.intp]) -> Fit:
        """What was fitted to some rows, told by their numbers among all rows."""
        states = tuple(
            attrs.evolve(state, basis=np.where(state.basis >= 0, numbers[state.basis], state.basis))
            for state in self.states
        )
        iterations = tuple(
            attrs.evolve(
                iteration,
                stages=tuple(attrs.evolve(s, row=int(numbers[s.row])) for s in iteration.stages),
            )
            for iteration in self.trace.iterations
        )
        trace = attrs.evolve(self.trace, iterations=iterations)
        return attrs.evolve(self, states=states, trace=trace)
