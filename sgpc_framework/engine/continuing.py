"""Going on from an earlier model: its hyperparameters and its basis.

Rows may have come or gone since. Basis vectors that are rows still are included first, in their
order, with new sites. Where a refiner has moved them and made the sites work together, the state is
taken as it is, and refined further.

What makes an earlier model one to go on from is that the design would have arrived at its like: the
same kernel and likelihood, or what the same refiner has chosen in their place, and the same
classes. Otherwise hyperparameters are taken where they have the same names, or nothing is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import attrs
import numpy as np
from numpy.typing import NDArray

from sgpc_framework.algebra.sites import by_function
from sgpc_framework.config.config import Config
from sgpc_framework.config.provenance import Provenance
from sgpc_framework.config.structure import structured
from sgpc_framework.engine.slopes import mean_over_rows, predictive_loss
from sgpc_framework.errors import ConfigError
from sgpc_framework.model.model import Model
from sgpc_framework.model.trace import LOG_2, Stage
from sgpc_framework.parts.calls import registry_in_use
from sgpc_framework.parts.hyperparameters import hyperparameters, parts_of, replaced, values
from sgpc_framework.protocols import Refiner
from sgpc_framework.rows.posterior import Posterior
from sgpc_framework.rows.state import NO_ROW, State, latent_functions
from sgpc_framework.rows.training_rows import TrainingRows

SLOTS = ("kernel", "likelihood", "refiner")


class Earlier(NamedTuple):
    """The state of a model to go on from, and whether a refiner made its sites work together."""

    state: State
    refined: bool

    def among(self, numbers: NDArray[np.intp]) -> Earlier:
        """The same for whoever looks at some rows only."""
        return self._replace(state=self.state.among(numbers))

    def beginning(self, d_max: int) -> tuple[State | None, list[int]]:
        """What the first iteration begins with: a state that is taken as it is, or rows to include
        first."""
        if self.refined:
            return self.state[:d_max], []
        return None, [row for row in self.state.basis.tolist() if row != NO_ROW]


@attrs.frozen
class InOrder:
    """A selector that proposes given rows, each once, and then has had enough."""

    name: ClassVar[str] = "in-order"
    rows: Sequence[int]

    def propose(self, posterior: Posterior, rng: np.random.Generator) -> NDArray[np.intp] | None:
        active = set(posterior.basis)
        for row in self.rows:
            one = np.array([row], dtype=np.intp)
            if row not in active and posterior.candidates(one).eligible.all():
                return one
        return None


@attrs.frozen(eq=False)
class Continuing:
    """A fit that would begin at ``theta``, the hyperparameters of its configuration."""

    config: Config
    provenance: Provenance
    theta: State
    rows: TrainingRows
    classes: NDArray[Any]

    def after(self, before: Model) -> tuple[Config, Earlier | None]:
        """What it begins with after an earlier model: a configuration, and what to go on from, if
        inputs and classes are the same. A refined model must have enough basis vectors."""
        earlier, config = before.state, self.config
        same_kernel = _places(self.theta.kernel) == _places(earlier.kernel)
        same_likelihood = _places(self.theta.likelihood) == _places(earlier.likelihood)
        same_design = self._same_design(before.provenance)
        same_parts = same_design or (same_kernel and same_likelihood)
        refined = before.smaller is not None
        if not (same_parts and self._suits(before, refined)):
            return self._with_values(earlier, same_kernel, same_likelihood), None
        refiner = _settled_refiner(before) if same_design else None
        config = attrs.evolve(
            config,
            kernel=earlier.kernel,
            likelihood=earlier.likelihood,
            refiner=refiner or config.refiner,
        )
        return config, Earlier(_with_row_numbers(earlier, self.rows), refined)

    def _suits(self, before: Model, refined: bool) -> bool:
        """Whether it has the right inputs and classes, and enough basis vectors."""
        wanted, earlier = self.config.max_basis, before.state
        return (
            wanted != "auto"
            and (not refined or len(earlier) >= min(wanted, len(self.rows)))
            and earlier.inputs.shape[1:] == self.theta.inputs.shape[1:]
            and np.array_equal(before.classes, self.classes)
            and latent_functions(earlier.likelihood) == latent_functions(self.theta.likelihood)
        )

    def _same_design(self, theirs: Provenance | None) -> bool:
        ours = self.provenance.config
        return theirs is not None and all(ours[slot] == theirs.config.get(slot) for slot in SLOTS)

    def _with_values(self, earlier: State, kernel: bool, likelihood: bool) -> Config:
        """The configuration with the hyperparameters of an earlier model, if its kernel has the
        same ones; its likelihood may be that of another number of classes, and then counts for
        nothing."""
        if not kernel:
            return self.config
        noise = self.theta.likelihood
        return attrs.evolve(
            self.config,
            kernel=replaced(self.theta.kernel, values(earlier.kernel)),
            likelihood=replaced(noise, values(earlier.likelihood)) if likelihood else noise,
        )


def as_last_stage(state: State, rows: TrainingRows) -> Stage:
    """What there is to say of a state that no stages were made for, as if its last basis vector
    had just been included: two trips."""
    form = state.form()
    mean, coefficient = (
        np.atleast_2d(each)[:, -1].tolist() for each in (state.mean, form.coefficient)
    )
    return Stage(
        row=int(state.basis[-1]),
        precision=float(state.precision[-1]),
        mean=by_function(mean),
        coefficient=by_function(coefficient),
        shrinkage=float(form.shrinkage[-1]),
        predictive_loss=predictive_loss(state, rows),
        training_error=mean_over_rows(
            lambda view: (view.log_z <= -LOG_2).astype(np.float64), state, rows
        ),
    )


def _settled_refiner(before: Model) -> Refiner | None:
    """The refiner with nothing left to choose, if the model says which."""
    if before.trace.settled is None:
        return None
    try:
        protocol: Any = Refiner
        refiner: Refiner = structured(dict(before.trace.settled), protocol, registry_in_use())
    except ConfigError:  # of another version, say
        return None
    return refiner


def _with_row_numbers(earlier: State, rows: TrainingRows) -> State:
    """The state with the numbers of those basis vectors that are rows still."""
    if isinstance(rows.numbers, np.ndarray):
        earlier = earlier.among(rows.numbers)
    elif rows.numbers is not None:  # of rows that are elsewhere nobody lists the numbers
        earlier = attrs.evolve(earlier, basis=np.full(len(earlier), NO_ROW))
    basis = np.where(earlier.basis < len(rows), earlier.basis, NO_ROW)
    here = np.flatnonzero(basis != NO_ROW)
    inputs = rows.inputs(basis[here])
    for place, row in zip(here, inputs, strict=True):
        if not np.array_equal(row, earlier.inputs[place]):
            basis[place] = NO_ROW
    return attrs.evolve(earlier, basis=basis)


def _places(part: object) -> list[object]:
    return [*map(type, parts_of(part)), *(each.path for each in hyperparameters(part))]
