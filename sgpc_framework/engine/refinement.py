"""What a refiner receives and returns, and how it tells how far it is."""

from __future__ import annotations

from collections.abc import Callable

import attrs
from attrs.validators import deep_iterable, instance_of

from sgpc_framework.engine.slopes import FixedSites
from sgpc_framework.protocols import Kernel, Likelihood


@attrs.frozen
class Refining:
    """How far a refiner is: ``step`` of at most ``steps`` of what it does at the moment."""

    doing: str
    step: int
    steps: int
    loss: float


def _go_on(_: Refining) -> bool:
    return True


@attrs.frozen(eq=False)
class Refinable:
    """A classifier and the rows it was fitted to.

    ``sites`` holds the training rows (``X``, ``y`` in {-1, +1}), the basis (``basis_inputs``) and
    the site parameters (``precision``, ``mean``). A refiner returns a copy (``attrs.evolve``) in
    which the last three, the kernel and the likelihood may differ, but not the number of basis
    vectors. What its user should know of the run goes into ``notes``, which end up in the trace.

    A refiner that takes long tells how far it is from time to time, and ends with the best it has
    when the answer is no: ``if not fitted.tell(Refining("sweeping", 3, 20, loss)): ...``
    """

    sites: FixedSites
    kernel: Kernel
    likelihood: Likelihood
    notes: tuple[str, ...] = attrs.field(
        default=(), validator=deep_iterable(instance_of(str), instance_of(tuple))
    )
    tell: Callable[[Refining], bool] = _go_on
    """Tells whoever watches the fit; False if they want it to end."""

    def predictive_loss(self) -> float:
        """NLP over all training rows (eq. 5)."""
        return self.sites.predictive_loss(self.kernel, self.likelihood)
