"""Step 6: the loss that the hyperparameters minimise, and what it is made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NamedTuple, Protocol, runtime_checkable

from sgpc_framework.protocols.every_part import Floats, Pullback

if TYPE_CHECKING:
    from sgpc_framework.engine.trial import Trial


class RowLoss(NamedTuple):
    """A loss for each row, and its derivatives with respect to what it was computed from.

    Give ``d_log_z`` if the loss is a function of log_z (the framework goes on from there to the
    mean, the variance and the likelihood's hyperparameters), ``d_mean`` and ``d_variance`` for
    whatever depends on the marginals directly. Zero may be written for what is absent. A loss that
    depends on the likelihood's hyperparameters θ in another way than through log_z says how by a
    ``pullback``, from a weight for each row to sum(weights * d value / dθ).
    """

    value: Floats
    d_log_z: Floats | float = 0.0
    d_mean: Floats | float = 0.0
    d_variance: Floats | float = 0.0
    pullback: Pullback | None = None


class Loss(NamedTuple):
    """What an objective says of trial hyperparameters: a value and its gradient.

    The gradient is in the free coordinates of the optimiser, one entry for each hyperparameter of
    the kernel, then of the likelihood. ``rows`` is how many rows were averaged or summed over, or
    the sum of their weights; one if there were none. ``comparable`` is whether values of different
    bases can be compared. ``remark`` goes into the trace.
    """

    value: float
    gradient: Floats
    rows: float = 1
    comparable: bool = True
    remark: str = ""


@runtime_checkable
class HyperObjective(Protocol):
    """Step 6: the loss that the hyperparameters minimise while basis and sites stay fixed.

    ``loss`` is called once for each evaluation of the optimiser, and composes its answer from the
    trial's verbs: ``mean`` over rows, ``of_sums`` over rows, ``of_gram``. The framework does the
    linear algebra in between, so that gradients are exact. ``None``, which is said always or never,
    says that there is nothing to minimise: the hyperparameters stay, and the outer loop runs once.
    """

    name: ClassVar[str]

    def loss(self, trial: Trial, /) -> Loss | None: ...


@runtime_checkable
class Subsampled(Protocol):
    """An objective that makes do with some of the rows when there are many.

    ``subset`` is how many, 0 for all. They are drawn once a fit, from its seed, so that the losses
    of different iterations can be compared.
    """

    @property
    def subset(self) -> int: ...
