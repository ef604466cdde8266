"""What authors of parts import: everything that a part may need, and nothing else is API.

    from sgpc_framework.authors import Floats, Inputs, hyperparameter, hookimpl

Built-in parts, examples and templates import from here and from no other module of the framework.

========================= ==========================================================================
every part
-------------------------------------------------------------------------------------------------
``hookimpl``              marks a function of a plugin that returns classes of parts
``hyperparameter``        declares a field that a fit tunes
``Hyperparameter``        one tunable number, as a ``Tunable`` part says it
``hyperparameters``       all tunable numbers of a part, those of parts inside it included
``values``, ``replaced``  their values as one vector, and the part with others
``parts_of``              a part and all parts inside it
``FreeVector``            the coordinates that optimisers work in
``whole_number``          a field for a count
``positive_number``       a field for a finite number above zero
``share``                 a field for a number from zero to one
``one_of``                a field for one of a few words
``has``                   whether a part has an ability
``compiled``              a module of passes that numba compiles, where it is installed
``compiler_options``      how such passes are compiled
``Tunable``               ability: says its hyperparameters itself
``PlainOptions``          ability: says its options itself
``StartsFromData``        ability: takes hyperparameters from the inputs
``Floats``, ``Inputs``    types: an array of float64, and rows of inputs
``Pullback``              type: from d loss / d output to d loss / d hyperparameters
``InputError``            the data cannot be used as given
``NumericalError``        the arithmetic failed
``NumericalWarning``      says that a fit or a refiner ended early because it did
``PluginError``           a part did what its protocol forbids
``SgpcError``             all of them
------------------------- --------------------------------------------------------------------------
kernels
-------------------------------------------------------------------------------------------------
``Kernel``                the protocol
``KernelArithmetic``      inherit from it for ``k1 + k2``, ``k1 * k2`` and ``2.0 * k``
``kernel_from_jax``       the class of a kernel that is a function of JAX
``KernelPullback``        ability: exact gradients
``KernelInputPullback``   ability: gradients in the inputs
``KernelFusedPullback``   ability: both at once
``KernelColumns``         ability: prepared columns
``StorableInputs``        ability: inputs in model files
``WarpsInputs``           ability: a map of the inputs, and a kernel of what was mapped
``WrapsKernel``           ability: a kernel around another one
``FeatureRelevance``      ability: how much each feature matters
``JoinsKernels``          ability: a kernel made of kernels
``KernelExpression``      ability: its formula, so that models with it can be exported
``Expression``            type: such a formula, which has ``+``, ``*`` and ``**``
``SquaredDistance``       in it: Σ weights_f (x_f - z_f)²
``SineDistance``          in it: Σ weights_f sin²(rate (x_f - z_f))
``DotProduct``            in it: Σ x_f z_f
``Exp``, ``Number``       in it: an exponential, and a number
``Warp``                  in it: a formula of features that went through rising lines
``LinearMap``             in it: a formula of linear combinations of features
``SampleInputs``          ability: inputs for the conformance kit
``kernel_values``         k(X, Z) of any kernel, checked
``kernel_diag``           the diagonal of k(X, X), checked
``kernel_columns``        the function from Z to k(Z, X), prepared where the kernel knows how
``linearised``            k(X, Z) and its pullback, exact or numerical
``linearised_diag``       the same of the diagonal
``linearised_in_inputs``  k(X, Z) and its pullbacks to hyperparameters and inputs
``input_pullback``        d sum(G * k(X, Z)) / dX
------------------------- --------------------------------------------------------------------------
likelihoods
-------------------------------------------------------------------------------------------------
``Likelihood``            the protocol
``Moments``               what it returns
``LogEvidence``           ability: log Z alone
``LikelihoodPullback``    ability: exact gradients
``SeveralFunctions``      ability: labels that depend on several latent functions
``ManyClasses``           ability: a form for any number of classes
``LikelihoodLink``        ability: its formula, so that models with it can be exported
``TwoClassLink``          such a formula: a normal or a logistic curve
``ManyClassLink``         such a formula: the highest of several latent functions with noise
``likelihood_gradient``   sum(G * d log Z / dθ) of any likelihood, exact or numerical
------------------------- --------------------------------------------------------------------------
selectors and site estimators
-------------------------------------------------------------------------------------------------
``BasisSelector``         the protocol
``ScoresCandidates``      ability: a ranking of its own
``SelectsWithMemory``     ability: a memory through the stages
``SiteEstimator``         the protocol
``Posterior``             what both are given: the verbs that reach the rows
``Rows``                  what a row-local function sees
``Candidates``            the rows that a stage considers
``Steps``                 a coefficient and a shrinkage for each of them
------------------------- --------------------------------------------------------------------------
objectives
-------------------------------------------------------------------------------------------------
``HyperObjective``        the protocol
``Subsampled``            ability: makes do with some of the rows
``Trial``                 what it is given: fixed sites under trial hyperparameters, with its verbs
``Loss``                  what it returns
``RowLoss``               a loss of each row, with its derivatives
``additive_form``         basis functions and coefficients of sites
------------------------- --------------------------------------------------------------------------
refiners
-------------------------------------------------------------------------------------------------
``Refiner``               the protocol
``State``                 basis, sites, kernel and likelihood: what it changes
``TrainingRows``          the rows, wherever they live
``Refined``               what it returns: a state and notes
``Tell``, ``Refining``    how it tells how far it is
``RefinesInRuns``         ability: runs that are kept one by one, so that none is lost
``Once``                  how it asks for the end of each
``predictive_loss``       NLP of a state over rows (eq. 5)
``mean_over_rows``        the mean of any row-local value under a state
``RowMean``, ``slopes``   a mean over rows and its derivatives by all that it depends on
``in_hyperparameters``    as ``linearised_in_inputs``, for inputs that stay
``HeldOut``               rows to judge by, kept apart
``Split``                 one way of doing so: rows to fit to, and their judges
``Sketches``              ability: a quicker form, by which sizes are compared
``paired_losses``         what such rows say of several states
``PairedLosses``          their losses, with the noise of differences
``minimise``              a search in a box that never ends worse than it began
``descend``               a search by gradients that are seen through batches of rows (Adam)
``factorised``, ``Factor``  the Cholesky factor of I + Π^½ K Π^½
``ROUNDING``              what rounding may do to a variance
========================= ==========================================================================
"""

from sgpc_framework.adapters.kernels import kernel_from_jax
from sgpc_framework.algebra.additive import Factor, additive_form, factorised
from sgpc_framework.algebra.rounding import ROUNDING
from sgpc_framework.algebra.sites import Steps
from sgpc_framework.engine.adam import descend
from sgpc_framework.engine.judging import PairedLosses, paired_losses
from sgpc_framework.engine.optimisers import minimise
from sgpc_framework.engine.slopes import RowMean, mean_over_rows, predictive_loss, slopes
from sgpc_framework.engine.trial import Trial
from sgpc_framework.errors import (
    InputError,
    NumericalError,
    NumericalWarning,
    PluginError,
    SgpcError,
)
from sgpc_framework.parts.abilities import has
from sgpc_framework.parts.arithmetic import KernelArithmetic
from sgpc_framework.parts.calls import kernel_columns, kernel_diag, kernel_values
from sgpc_framework.parts.compilation import compiled, compiler_options
from sgpc_framework.parts.derivatives import (
    in_hyperparameters,
    input_pullback,
    likelihood_gradient,
    linearised,
    linearised_diag,
    linearised_in_inputs,
)
from sgpc_framework.parts.expressions import (
    DotProduct,
    Exp,
    Expression,
    LinearMap,
    ManyClassLink,
    Number,
    SineDistance,
    SquaredDistance,
    TwoClassLink,
    Warp,
)
from sgpc_framework.parts.hyperparameters import (
    FreeVector,
    Hyperparameter,
    hyperparameter,
    hyperparameters,
    parts_of,
    replaced,
    values,
)
from sgpc_framework.parts.options import one_of, positive_number, share, whole_number
from sgpc_framework.plugin.markers import hookimpl
from sgpc_framework.protocols import (
    BasisSelector,
    FeatureRelevance,
    Floats,
    HyperObjective,
    Inputs,
    JoinsKernels,
    Kernel,
    KernelColumns,
    KernelExpression,
    KernelFusedPullback,
    KernelInputPullback,
    KernelPullback,
    Likelihood,
    LikelihoodLink,
    LikelihoodPullback,
    LogEvidence,
    Loss,
    ManyClasses,
    Moments,
    Once,
    PlainOptions,
    Pullback,
    Refined,
    Refiner,
    RefinesInRuns,
    Refining,
    RowLoss,
    SampleInputs,
    ScoresCandidates,
    SelectsWithMemory,
    SeveralFunctions,
    SiteEstimator,
    Sketches,
    StartsFromData,
    StorableInputs,
    Subsampled,
    Tell,
    Tunable,
    WarpsInputs,
    WrapsKernel,
)
from sgpc_framework.rows.candidates import Candidates
from sgpc_framework.rows.holding_out import HeldOut, Split
from sgpc_framework.rows.posterior import Posterior
from sgpc_framework.rows.state import State
from sgpc_framework.rows.training_rows import TrainingRows
from sgpc_framework.rows.view import Rows

__all__ = [
    "ROUNDING",
    "BasisSelector",
    "Candidates",
    "DotProduct",
    "Exp",
    "Expression",
    "Factor",
    "FeatureRelevance",
    "Floats",
    "FreeVector",
    "HeldOut",
    "HyperObjective",
    "Hyperparameter",
    "InputError",
    "Inputs",
    "JoinsKernels",
    "Kernel",
    "KernelArithmetic",
    "KernelColumns",
    "KernelExpression",
    "KernelFusedPullback",
    "KernelInputPullback",
    "KernelPullback",
    "Likelihood",
    "LikelihoodLink",
    "LikelihoodPullback",
    "LinearMap",
    "LogEvidence",
    "Loss",
    "ManyClassLink",
    "ManyClasses",
    "Moments",
    "Number",
    "NumericalError",
    "NumericalWarning",
    "Once",
    "PairedLosses",
    "PlainOptions",
    "PluginError",
    "Posterior",
    "Pullback",
    "Refined",
    "Refiner",
    "RefinesInRuns",
    "Refining",
    "RowLoss",
    "RowMean",
    "Rows",
    "SampleInputs",
    "ScoresCandidates",
    "SelectsWithMemory",
    "SeveralFunctions",
    "SgpcError",
    "SineDistance",
    "SiteEstimator",
    "Sketches",
    "Split",
    "SquaredDistance",
    "StartsFromData",
    "State",
    "Steps",
    "StorableInputs",
    "Subsampled",
    "Tell",
    "TrainingRows",
    "Trial",
    "Tunable",
    "TwoClassLink",
    "Warp",
    "WarpsInputs",
    "WrapsKernel",
    "additive_form",
    "compiled",
    "compiler_options",
    "descend",
    "factorised",
    "has",
    "hookimpl",
    "hyperparameter",
    "hyperparameters",
    "in_hyperparameters",
    "input_pullback",
    "kernel_columns",
    "kernel_diag",
    "kernel_from_jax",
    "kernel_values",
    "likelihood_gradient",
    "linearised",
    "linearised_diag",
    "linearised_in_inputs",
    "mean_over_rows",
    "minimise",
    "one_of",
    "paired_losses",
    "parts_of",
    "positive_number",
    "predictive_loss",
    "replaced",
    "share",
    "slopes",
    "values",
    "whole_number",
]
