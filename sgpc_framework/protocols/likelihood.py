"""The noise model, and what a likelihood may be able to do besides."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NamedTuple, Protocol, runtime_checkable

from sgpc_framework.protocols.every_part import Floats

if TYPE_CHECKING:
    from sgpc_framework.parts.expressions import Link


class Moments(NamedTuple):
    """log Z and its first derivative and minus its second with respect to the mean.

    ``log_z`` has one entry a row; ``alpha`` and ``nu`` have the shape of the mean.
    """

    log_z: Floats
    alpha: Floats
    nu: Floats


@runtime_checkable
class Likelihood(Protocol):
    """The noise model p(y|f), known through one function.

    For labels y (-1 or +1; see ``SeveralFunctions`` for more) and marginals N(mean, variance), all
    of one shape, ``moments`` returns

        log_z = log ∫ p(y|f) N(f; mean, variance) df,   alpha = d log_z / d mean,
        nu = -d² log_z / d mean²

    elementwise. It must be finite for any finite mean and any variance >= 0, without warnings, and
    normalised: exp(log_z) of the two labels adds up to one. ``nu * variance < 1`` always, and
    ``nu > 0`` where the likelihood is log-concave. The derivative of log_z with respect to the
    variance is (alpha² - nu) / 2 for any likelihood, so nobody has to supply it.
    """

    name: ClassVar[str]

    def moments(self, y: Floats, mean: Floats, variance: Floats, /) -> Moments: ...


@runtime_checkable
class LogEvidence(Protocol):
    """A likelihood that computes log_z alone faster than all three moments."""

    def log_z(self, y: Floats, mean: Floats, variance: Floats, /) -> Floats: ...


@runtime_checkable
class LikelihoodPullback(Protocol):
    """A likelihood with exact gradients for its own hyperparameters."""

    def pullback(
        self, y: Floats, mean: Floats, variance: Floats, moments: Moments, cotangent: Floats, /
    ) -> Floats:
        """sum(cotangent * d log_z / dθ), one entry for each hyperparameter in natural values."""
        ...


@runtime_checkable
class SeveralFunctions(Protocol):
    """A likelihood whose labels depend on several latent functions, with independent marginals.

    Labels are then positions among the classes, from 0.0 on, and mean, ``alpha`` and ``nu`` have a
    first axis of so many ``functions``. These share the kernel, the basis vectors and the site
    precisions, and so one variance, with one entry a row: the derivative of log_z with respect to
    it is Σ (alpha² - nu) / 2. ``exp(log_z)`` of all labels adds up to one.
    """

    @property
    def functions(self) -> int: ...


@runtime_checkable
class ManyClasses(Protocol):
    """A likelihood that has a form for any number of classes, with a latent function for each.

    ``for_classes(count)`` returns that form, which has ``SeveralFunctions`` and may be of another
    class. ``Design.fit`` calls it once, if there are more than two labels, or the likelihood has
    ``SeveralFunctions`` itself; without either, each of many classes gets a model against the rest.
    """

    def for_classes(self, count: int, /) -> Likelihood: ...


@runtime_checkable
class LikelihoodLink(Protocol):
    """A likelihood of a family that other languages are told, so that models with it are exported.

    ``link()`` returns a ``TwoClassLink`` or a ``ManyClassLink`` with its hyperparameters put in.
    ``sgpc export`` asks for it.
    """

    def link(self) -> Link: ...
