"""The contract: what the parts of a sparse Gaussian process classifier must do.

Five protocols and one optional sixth. A component is a frozen attrs class with a class attribute
``name`` (lower case, hyphens); its options are its fields; its tunable numbers are fields declared
with :func:`sgpc_framework.authors.hyperparameter`. New hyperparameters make a new object.
Randomness is an argument. No base class is needed: having the methods is enough.

Abilities are small protocols beside the five. A part has one if its class has the methods, and the
engine does without where they are missing: a kernel with no pullback is differentiated numerically.

The life of a fit, with the calls each part receives:

    StartsFromData.started                      once, before the first stage, on 10 000 rows at most
    Kernel.__call__, Kernel.diag                once, on one row, where they have to agree
    repeat (outer loop)
        Kernel.diag, KernelColumns.columns_of   once per block                          step 2
        SelectsWithMemory.begun                 once
        repeat (inner loop, one stage each)
            BasisSelector.propose               once                                    step 3
            SiteEstimator.estimate              once                                    step 4
            ScoresCandidates.score              once, if there are two candidates or more
            Kernel.__call__                     once per block, for the candidates' columns
            Likelihood.moments or log_z         once per block, shared by selector and trace, and
                                                for each of several candidates if nobody scores
        HyperObjective.loss                     once per evaluation                     step 6
        Kernel's and likelihood's pullbacks     once per evaluation and piece of a block
    Refiner.refine, or .refine_in_runs          once for each size the model is to be had in

The candidates' columns are computed when somebody first needs them: an estimator that tries sites,
a score, or the inclusion. The engine never asks for ``Refiner.loss``; the checks do. With
``max_basis = "auto"`` all of this happens for every size that is tried, on a part of the rows, and
then once more; a fit that goes on from an earlier model may have no stages in its first iteration.

Rows may have weights: a row of weight two counts as two rows. A row-local function says what a
single row is worth; whoever sums over rows (``Posterior.total``, ``Trial.mean`` and ``of_sums``,
``slopes``, ``mean_over_rows``) or draws them (``Posterior.sample``) multiplies by the weights. So
parts need not know of weights, but for one thing: a sum becomes a mean by ``total_weight``, of the
posterior or of the rows, which without weights is their number. ``rows.weight`` is there for who
compares single rows. A row of weight zero takes no part in a fit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from typing import Self

    from sgpc_framework.algebra.sites import Steps
    from sgpc_framework.engine.trial import Trial
    from sgpc_framework.parts.declarations import Hyperparameter
    from sgpc_framework.parts.expressions import Expression, Link
    from sgpc_framework.rows.candidates import Candidates
    from sgpc_framework.rows.posterior import Posterior
    from sgpc_framework.rows.state import State
    from sgpc_framework.rows.training_rows import TrainingRows

Floats = NDArray[np.float64]
"""An array of float64."""

Inputs = Any
"""Rows of inputs: whatever can be indexed by an array of row numbers. Usually a float matrix."""

Pullback = Callable[[Floats], Floats]
"""From d loss / d output to d loss / d hyperparameters, in the order of ``hyperparameters()``."""


class Moments(NamedTuple):
    """log Z and its first derivative and minus its second with respect to the mean.

    ``log_z`` has one entry a row; ``alpha`` and ``nu`` have the shape of the mean.
    """

    log_z: Floats
    alpha: Floats
    nu: Floats


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


class Refining(NamedTuple):
    """How far a refiner is: ``step`` of at most ``steps`` of what it does at the moment."""

    doing: str
    step: int
    steps: int
    loss: float


class Refined(NamedTuple):
    """What a refiner returns: a state, and what its user should know of the run."""

    state: State
    notes: tuple[str, ...] = ()
    settled: Refiner | None = None
    """The refiner with nothing left to choose, for a later fit that starts from this state."""


Tell = Callable[[Refining], bool]
"""Tells whoever watches the fit how far a refiner is; False if they want it to end."""

Once = Callable[[np.random.Generator, Callable[[], "State"]], "State"]
"""``once(rng, run)`` is ``run()``, or, in a fit that is resumed, where the same run ended before;
``rng`` is then left as that run left it."""


# ---------------------------------------------------------------------------------------------
# The five parts


@runtime_checkable
class Kernel(Protocol):
    """The prior covariance k(x, z).

    ``k(X, Z)`` returns an array of shape (len(X), len(Z)), ``k.diag(X)`` one of shape (len(X),)
    that equals the diagonal of ``k(X, X)``. Both must be finite, leave their inputs unchanged and
    what they returned before as it was (no buffer that is filled anew), and accept zero rows;
    ``k(X, X)`` must be symmetric and positive semidefinite. The engine calls with a few candidates
    or basis vectors against rows of a block, never n x n.
    """

    name: ClassVar[str]

    def __call__(self, X: Inputs, Z: Inputs, /) -> Floats: ...

    def diag(self, X: Inputs, /) -> Floats: ...


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
class BasisSelector(Protocol):
    """Step 3: which row becomes the next basis vector.

    ``propose`` is called once a stage and returns the candidates: one row number, or an array of
    distinct ones, all of inactive rows with some variance left (``posterior.eligible``). It reaches
    the rows through the posterior's verbs (``argmin``, ``sample``, ``total``) with row-local
    functions. All randomness comes from ``rng``, which is set anew at every stage and not to be
    kept. ``None`` says that it has had enough: the stages end.

    If several rows are proposed, each is tried with its own site and the one with the least loss
    is included: NLP over all rows (eq. 5), or what ``score`` says (see ``ScoresCandidates``).
    """

    name: ClassVar[str]

    def propose(
        self, posterior: Posterior, rng: np.random.Generator, /
    ) -> int | NDArray[np.intp] | None: ...


@runtime_checkable
class SiteEstimator(Protocol):
    """Step 4: the site of each candidate.

    ``estimate`` is called once a stage and returns one (coefficient, shrinkage) for each
    candidate. Both must be finite, with 0 < shrinkage * variance < 1: then no variance increases
    and none becomes negative.
    """

    name: ClassVar[str]

    def estimate(self, posterior: Posterior, candidates: Candidates, /) -> Steps: ...


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
class Refiner(Protocol):
    """After the stages: better sites, hyperparameters or basis inputs, all at once.

    ``refine`` is called once for each size that the model is to be had in, on so many of the first
    stages of the best state of the outer loop, and returns a state that is never worse than the one
    it was given, by what it minimises. That is its ``loss`` (the check "never worse than its
    start"), unless rows that it held out have chosen something else. The state may have fewer basis
    vectors or more; one that is no training row has the row number -1. What was not changed is to
    be returned as the same objects. All randomness comes from ``rng``, the same for every size.

    A refiner that takes long tells how far it is from time to time, and ends with the best it has
    when the answer is no: ``if not tell(Refining("sweeping", 3, 20, loss)): ...``. Its notes, such
    as whether it converged, are added to those of the trace.
    """

    name: ClassVar[str]

    def loss(self, state: State, rows: TrainingRows, /) -> float: ...

    def refine(
        self, state: State, rows: TrainingRows, rng: np.random.Generator, tell: Tell, /
    ) -> Refined: ...


# ---------------------------------------------------------------------------------------------
# Abilities


@runtime_checkable
class Sketches(Protocol):
    """A refiner that knows how to take less care, for who only compares several of its fits.

    ``max_basis = "auto"`` asks for it once, and refines its trials with what it gets.
    """

    def sketch(self) -> Refiner:
        """A refiner that takes a part of the time and nearly gets there."""
        ...


@runtime_checkable
class StartsFromData(Protocol):
    """A component some of whose hyperparameters may start from the training inputs."""

    def started(self, X: Inputs, /) -> Self:
        """The component with every word (``"median"``) replaced by a number.

        ``X`` has all rows, or a sample of 10 000 if there are more.
        """
        ...


@runtime_checkable
class KernelPullback(Protocol):
    """A kernel with exact gradients: the values, and a function that contracts their derivatives.

    ``linearised(X, Z)`` returns K = k(X, Z) and a function that maps a matrix G of K's shape to
    the vector of sum(G * dK/dθ), one entry for each hyperparameter in natural (not log) values.
    ``linearised_diag(X)`` does the same for the diagonal and a vector G. The function may
    remember K: nobody writes into K before its last call.
    """

    def linearised(self, X: Inputs, Z: Inputs, /) -> tuple[Floats, Pullback]: ...

    def linearised_diag(self, X: Inputs, /) -> tuple[Floats, Pullback]: ...


@runtime_checkable
class KernelInputPullback(Protocol):
    """A kernel that is differentiable in its inputs, so that basis vectors can be moved."""

    def input_pullback(self, X: Inputs, Z: Inputs, cotangent: Floats, /) -> Floats:
        """d sum(cotangent * k(X, Z)) / dX, of X's shape."""
        ...


@runtime_checkable
class KernelFusedPullback(Protocol):
    """A kernel that shares the work of its two pullbacks when both are wanted.

    ``linearised_in_inputs(X, Z)`` returns K = k(X, Z) and a function that maps a matrix G of K's
    shape to what the pullback of ``linearised`` returns and what ``input_pullback`` does. It is
    what moves basis vectors fast; without it the two are asked one after the other.
    """

    def linearised_in_inputs(
        self, X: Inputs, Z: Inputs, /
    ) -> tuple[Floats, Callable[[Floats], tuple[Floats, Floats]]]: ...


@runtime_checkable
class KernelColumns(Protocol):
    """A kernel that answers faster when it has looked at the rows before.

    ``columns_of(X)`` is called once for each block of rows in an outer iteration and returns a
    function from a few inputs Z to k(Z, X), which is then called at every stage. The function may
    keep what it computed from X alone (squared norms, say), but no copy of X.
    """

    def columns_of(self, X: Inputs, /) -> Callable[[Inputs], Floats]: ...


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
    it makes the part with its defaults. Configurations and model files call them, once each; what
    ``from_options`` raises is reported as a problem of the configuration.
    """

    def to_options(self) -> Mapping[str, Any]: ...

    @classmethod
    def from_options(cls, options: Mapping[str, Any], /) -> Self: ...


@runtime_checkable
class StorableInputs(Protocol):
    """A kernel on objects, such as graphs, that says how a file stores them.

    ``encode_inputs(X)`` returns plain data for JSON, or an array of float64, int64 or uint8;
    ``decode_inputs(data)`` makes inputs of it that the kernel cannot tell from X. Both are called
    when a model is saved, and the second when one is loaded, from a file that may hold anything:
    it must refuse by an exception what ``encode_inputs`` would not have written. The check "stored
    inputs come back" compares the kernel's values.
    """

    def encode_inputs(self, X: Inputs, /) -> Any: ...

    def decode_inputs(self, data: Any, /) -> Inputs: ...


@runtime_checkable
class WrapsKernel(Protocol):
    """A kernel that is made of another one, and can be made of a third.

    ``around(inner)`` raises ``ValueError`` where that kernel is of the wrong kind.
    """

    @property
    def inner(self) -> Kernel:
        """The kernel inside."""
        ...

    def around(self, inner: Any, /) -> Kernel:
        """The same with another kernel inside."""
        ...


@runtime_checkable
class WarpsInputs(WrapsKernel, Protocol):
    """A kernel that sees its inputs through a map g that can be undone.

        k(x, z) = inner(g(x), g(z))

    A refiner then moves basis vectors where the inner kernel sees them, on rows that were mapped
    once.
    """

    def warp(self, X: Inputs, /) -> Inputs:
        """g of every row."""
        ...

    def unwarp(self, X: Inputs, /) -> Inputs:
        """The rows of which g is X."""
        ...


@runtime_checkable
class FeatureRelevance(Protocol):
    """A kernel that can tell how much each feature matters.

    ``relevances()`` returns 1 / lengthscale of each feature, or ``None`` where one scale is shared
    by all of them. It is asked of every part of a sum or a product by itself.
    """

    def relevances(self) -> Floats | None: ...


@runtime_checkable
class JoinsKernels(Protocol):
    """A kernel made of kernels, which ``+`` (the kernel ``sum``) and ``*`` (``product``) ask for.

    ``join(*parts)`` makes one of some kernels; a part that is of the same class gives its parts
    instead. A factor may be a number, which stands for a constant kernel.
    """

    @classmethod
    def join(cls, *parts: Any) -> Self: ...


@runtime_checkable
class KernelExpression(Protocol):
    """A kernel that can say its formula, so that models with it are exported to other languages.

    ``expression()`` returns what it computes of two inputs, hyperparameters put in, made of the
    nodes of ``sgpc_framework.parts.expressions``. ``sgpc export`` asks for it, of every part of a
    sum or a product by itself; the check ``expression`` holds it beside the kernel.
    """

    def expression(self) -> Expression: ...


@runtime_checkable
class LikelihoodLink(Protocol):
    """A likelihood of a family that other languages are told, so that models with it are exported.

    ``link()`` returns a ``TwoClassLink`` or a ``ManyClassLink`` with its hyperparameters put in.
    ``sgpc export`` asks for it.
    """

    def link(self) -> Link: ...


@runtime_checkable
class SampleInputs(Protocol):
    """A kernel on inputs other than vectors that can make some, for the conformance checks."""

    def sample_inputs(self, rows: int, rng: np.random.Generator, /) -> Inputs: ...


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
    class. ``Design.fit`` calls it once, if there are more than two labels; without it, every class
    gets a model of its own against the rest.
    """

    def for_classes(self, count: int, /) -> Likelihood: ...


@runtime_checkable
class ScoresCandidates(Protocol):
    """A selector that ranks its candidates by a loss of its own; lower is better.

    ``score`` is called once a stage, if two or more rows were proposed, with the site of each, and
    returns a number for each. Ties go to the lowest row number.
    """

    def score(self, posterior: Posterior, candidates: Candidates, steps: Steps, /) -> Floats: ...


@runtime_checkable
class SelectsWithMemory(Protocol):
    """A selector that remembers something through the stages of an inner loop.

    ``begun`` is called once in every outer iteration, before the first stage. What it returns, any
    object, is handed to ``propose`` and to ``score`` as one argument more, the last. The selector
    itself stays frozen.
    """

    def begun(self, posterior: Posterior, rng: np.random.Generator, /) -> Any: ...


@runtime_checkable
class RefinesInRuns(Protocol):
    """A refiner whose work is several runs of an optimiser, none of which is to be lost.

    ``refine_in_runs`` is called in place of ``refine``, and does the same. It asks ``once`` for the
    end of every run: ``end = once(rng, lambda: run(begin, rng))``. A fit with a checkpoint keeps
    that state; when it is resumed, the run is not made again. All that a run decides must be in
    the state that it returns, in its arguments and in ``rng``.
    """

    def refine_in_runs(
        self,
        state: State,
        rows: TrainingRows,
        rng: np.random.Generator,
        tell: Tell,
        once: Once,
        /,
    ) -> Refined: ...


@runtime_checkable
class Subsampled(Protocol):
    """An objective that makes do with some of the rows when there are many.

    ``subset`` is how many, 0 for all. They are drawn once a fit, from its seed, so that the losses
    of different iterations can be compared.
    """

    @property
    def subset(self) -> int: ...
