"""The contract: what the parts of a sparse Gaussian process classifier must do.

Five protocols and one optional sixth. A component is a frozen attrs class with a class attribute
``name`` (lower case, hyphens); its options are its fields; its tunable numbers are fields declared
with :func:`sgpc_framework.authors.hyperparameter`. New hyperparameters make a new object.
Randomness is an argument. No base class is needed: having the methods is enough.

Abilities are small protocols beside the five. A part has one if its class has the methods, and the
engine does without where they are missing: a kernel with no pullback is differentiated numerically.
Each kind of part has a module here, with its abilities; ``every_part`` has those of any kind.

The life of a fit, with the calls each part receives:

    StartsFromData.started                      once, before the first stage, on 10 000 rows at most
    Kernel.__call__, Kernel.diag                once, on one row, where they have to agree
    repeat (outer loop)
        Kernel.diag, KernelColumns.columns_of   once per block                          step 2
        SelectsWithMemory.begun                 once
        repeat (inner loop, one stage each)
            BasisSelector.propose               once                                    step 3
            SiteEstimator.estimate              once                                    step 4
            Likelihood.moments                  once, on the candidates, if it asks
            ScoresCandidates.score              once, if there are two candidates or more
            Kernel.__call__                     once per block, for the candidates' columns; with
                                                KernelColumns the function of columns_of instead
            Likelihood.moments or log_z         once per block, shared by selector and trace, and
                                                for each of several candidates if nobody scores
        HyperObjective.loss                     once per evaluation                     step 6
        Kernel's and likelihood's pullbacks     once per evaluation and piece of a block; the
                                                kernel's once more, among the basis vectors
    Refiner.refine, or .refine_in_runs          once for each size the model is to be had in

The candidates' columns are computed when somebody first needs them: an estimator that tries sites,
a score, or the inclusion; of so many candidates that nobody could keep them, each time. The engine
never asks for ``Refiner.loss``; the checks do. With ``max_basis = "auto"`` all of this happens for
every size that is tried, on a part of the rows, and then once more; with a model for each class
against the rest, for each of these models, and again on some of the rows to see how they go
together. A fit that goes on from an earlier model may have no stages in its first iteration.

Rows may have weights: a row of weight two counts as two rows. A row-local function says what a
single row is worth; whoever sums over rows (``Posterior.total``, ``Trial.mean`` and ``of_sums``,
``slopes``, ``mean_over_rows``) or draws them (``Posterior.sample``) multiplies by the weights. So
parts need not know of weights, but for one thing: a sum becomes a mean by ``total_weight``, of the
posterior or of the rows, which without weights is their number. ``rows.weight`` is there for who
compares single rows. A row of weight zero takes no part in a fit.
"""

from sgpc_framework.protocols.every_part import (
    Floats,
    Inputs,
    PlainOptions,
    Pullback,
    StartsFromData,
    Tunable,
)
from sgpc_framework.protocols.kernel import (
    FeatureRelevance,
    JoinsKernels,
    Kernel,
    KernelColumns,
    KernelExpression,
    KernelFusedPullback,
    KernelInputPullback,
    KernelPullback,
    SampleInputs,
    StorableInputs,
    WarpsInputs,
    WrapsKernel,
)
from sgpc_framework.protocols.likelihood import (
    Likelihood,
    LikelihoodLink,
    LikelihoodPullback,
    LogEvidence,
    ManyClasses,
    Moments,
    SeveralFunctions,
)
from sgpc_framework.protocols.objective import HyperObjective, Loss, RowLoss, Subsampled
from sgpc_framework.protocols.refiner import (
    Once,
    Refined,
    Refiner,
    RefinesInRuns,
    Refining,
    Sketches,
    Tell,
)
from sgpc_framework.protocols.selector import BasisSelector, ScoresCandidates, SelectsWithMemory
from sgpc_framework.protocols.site_estimator import SiteEstimator

__all__ = [
    "BasisSelector",
    "FeatureRelevance",
    "Floats",
    "HyperObjective",
    "Inputs",
    "JoinsKernels",
    "Kernel",
    "KernelColumns",
    "KernelExpression",
    "KernelFusedPullback",
    "KernelInputPullback",
    "KernelPullback",
    "Likelihood",
    "LikelihoodLink",
    "LikelihoodPullback",
    "LogEvidence",
    "Loss",
    "ManyClasses",
    "Moments",
    "Once",
    "PlainOptions",
    "Pullback",
    "Refined",
    "Refiner",
    "RefinesInRuns",
    "Refining",
    "RowLoss",
    "SampleInputs",
    "ScoresCandidates",
    "SelectsWithMemory",
    "SeveralFunctions",
    "SiteEstimator",
    "Sketches",
    "StartsFromData",
    "StorableInputs",
    "Subsampled",
    "Tell",
    "Tunable",
    "WarpsInputs",
    "WrapsKernel",
]
