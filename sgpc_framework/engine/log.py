"""The memory of a fit: the trace, and the best model over all outer iterations."""

from __future__ import annotations

import warnings
from time import perf_counter

import attrs
import numpy as np
from numpy.typing import NDArray

from sgpc_framework.algebra.additive import smallest_pivot, sound_prefix
from sgpc_framework.config.config import Config
from sgpc_framework.engine.slopes import FixedSites
from sgpc_framework.engine.step6 import Reestimate, Theta, unchanged
from sgpc_framework.errors import NumericalError, NumericalWarning
from sgpc_framework.model.trace import Iteration, Stage, Trace
from sgpc_framework.parts.calls import kernel_values
from sgpc_framework.protocols import Inputs

Floats = NDArray[np.float64]


@attrs.frozen(eq=False)
class Designed:
    """The outcome of Algorithm 1: hyperparameters, basis, sites, and how they came about."""

    theta: Theta
    sites: FixedSites
    trace: Trace
    stopped: bool = False
    """Whether someone wanted the fit to end there."""


class History:
    """Records what happens, keeps the best model by its loss after step 6, and survives failure."""

    def __init__(self, X: Inputs, y: Floats, config: Config) -> None:
        self.X, self.y = X, y
        assert config.max_basis != "auto"  # ``sizing`` has chosen a number
        self.max_basis = min(config.max_basis, len(y))
        self._block_rows = config.block_rows
        self._iterations: list[Iteration] = []
        self._notes: list[str] = []
        self._best: tuple[int, Theta, FixedSites] | None = None
        self._stopped = False
        if self.max_basis < config.max_basis:
            self._notes.append(
                f"max_basis {config.max_basis} was cut to the number of training rows, {len(y)}"
            )

    def begin(self, theta: Theta) -> None:
        """An outer iteration begins with these hyperparameters and an empty basis."""
        self._theta = theta
        self._stages: list[Stage] = []
        self._began = perf_counter()

    def add(self, stage: Stage) -> None:
        """A basis vector was included."""
        self._stages.append(stage)

    def sites(self) -> FixedSites:
        """The basis and sites of the present iteration."""
        return FixedSites(
            X=self.X,
            y=self.y,
            basis=np.array([stage.row for stage in self._stages], dtype=np.intp),
            precision=np.array([stage.precision for stage in self._stages]),
            mean=np.array([stage.mean for stage in self._stages]),
            block_rows=self._block_rows,
        )

    def note(self, text: str) -> None:
        """Something that a reader of the trace should know about the present iteration."""
        self._notes.append(f"iteration {len(self._iterations) + 1}: {text}")

    def end(self, found: Reestimate, ended: str | None = None) -> None:
        """The iteration ends with step 6."""
        self._iterations.append(
            Iteration(
                number=len(self._iterations) + 1,
                stages=tuple(self._stages),
                ended=ended or self._why_ended(),
                hyperparameters=self._theta.named(),
                reestimated=found.theta.named(),
                objective_before=found.before,
                objective_after=found.after,
                loss=found.loss,
                evaluations=found.evaluations,
                step6=found.message,
                seconds=perf_counter() - self._began,
            )
        )
        if self._best is None or found.loss < self._iterations[self._best[0]].loss:
            self._best = len(self._iterations) - 1, found.best, self.sites()

    def place(self) -> tuple[int, int]:
        """The iteration and the stage that are being worked on, counted from one."""
        return len(self._iterations) + 1, min(len(self._stages) + 1, self.max_basis)

    def change(self) -> float:
        """How much the loss changed between the last two iterations."""
        losses = [iteration.loss for iteration in self._iterations[-2:]]
        return abs(losses[1] - losses[0]) if len(losses) == 2 else np.inf

    def give_up(self, error: NumericalError) -> None:
        """The algebra failed: say where, and end with the best model so far.

        If not one iteration was completed, that is the model of the stages before the failure.
        """
        theta = self._theta
        numbers = ", ".join(f"{path} = {value:.6g}" for path, value in theta.named().items())
        text = (
            f"the fit ended early in iteration {len(self._iterations) + 1}: {error} "
            f"(kernel {theta.kernel.name!r}; {numbers}; smallest pivot {self._pivot():.6g}). "
            "The best model before that is returned"
        )
        self._notes.append(text)
        warnings.warn(text, NumericalWarning, stacklevel=4)
        if self._best is None:
            self.end(unchanged(theta, self.predictive_loss(), "not reached"), ended=str(error))

    def stop(self) -> None:
        """Someone wants the fit to end: with the best iteration so far, or the stages there are."""
        self._stopped = True
        self._notes.append(
            f"the fit was stopped in iteration {len(self._iterations) + 1}, "
            f"after stage {len(self._stages)}"
        )
        if self._best is None:
            reached = unchanged(self._theta, self.predictive_loss(), "not reached")
            self.end(reached, ended="the fit was stopped")

    def predictive_loss(self) -> float:
        """NLP over all rows after the newest stage; log 2 before the first, when all is even."""
        return self._stages[-1].predictive_loss if self._stages else float(np.log(2.0))

    def outcome(self) -> Designed:
        """The best model and the whole trace."""
        assert self._best is not None
        position, theta, sites = self._best
        sound = sound_prefix(self._gram(theta, sites), sites.precision)
        if sound < len(sites.basis):
            self._notes.append(f"only the first {sound} stages have a Cholesky factor and are kept")
            sites = sites.first(sound)
        trace = Trace(tuple(self._iterations), position, tuple(self._notes))
        return Designed(theta, sites, trace, self._stopped)

    def _pivot(self) -> float:
        sites = self.sites()
        return smallest_pivot(self._gram(self._theta, sites), sites.precision)

    def _gram(self, theta: Theta, sites: FixedSites) -> Floats:
        return kernel_values(theta.kernel, sites.basis_inputs, sites.basis_inputs)

    def _why_ended(self) -> str:
        if len(self._stages) == self.max_basis:
            return f"max_basis {self.max_basis} was reached"
        return f"after {len(self._stages)} stages no inactive row had any variance left to give"
