"""What a fit ends with."""

from __future__ import annotations

import attrs

from sgpc_framework.engine.log import Log
from sgpc_framework.model.trace import Trace
from sgpc_framework.rows.numbering import Numbering
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

    def numbered_by(self, numbers: Numbering) -> Fit:
        """What was fitted to some rows, told by their numbers among all rows."""
        states = tuple(state.numbered_by(numbers) for state in self.states)
        return attrs.evolve(self, states=states, trace=self.trace.numbered_by(numbers))
