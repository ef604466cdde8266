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
``Tunable``               ability: says its hyperparameters itself
``PlainOptions``          ability: says its options itself
``StartsFromData``        ability: takes hyperparameters from the inputs
``Floats``, ``Inputs``    types: an array of float64, and rows of inputs
``Pullback``              type: from d loss / d output to d loss / d hyperparameters
``InputError``            the data cannot be used as given
``NumericalError``        the arithmetic failed
``PluginError``           a part did what its protocol forbids
``SgpcError``             all of them
------------------------- --------------------------------------------------------------------------
kernels
-------------------------------------------------------------------------------------------------
``Kernel``                the protocol
``KernelArithmetic``      inherit from it for ``k1 + k2``, ``k1 * k2`` and ``2.0 * k``
``KernelPullback``        ability: exact gradients
``KernelInputPullback``   ability: gradients in the inputs
``KernelFusedPullback``   ability: both at once
``KernelColumns``         ability: prepared columns
``StorableInputs``        ability: inputs in model files
``FeatureRelevance``      ability: how much each feature matters
``JoinsKernels``          ability: a kernel made of kernels
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
========================= ==========================================================================
"""

from sgpc_framework.errors import InputError, NumericalError, PluginError, SgpcError
from sgpc_framework.parts.abilities import has
from sgpc_framework.parts.arithmetic import KernelArithmetic
from sgpc_framework.parts.calls import kernel_columns, kernel_diag, kernel_values
from sgpc_framework.parts.compilation import compiled
from sgpc_framework.parts.derivatives import (
    input_pullback,
    linearised,
    linearised_diag,
    linearised_in_inputs,
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
    FeatureRelevance,
    Floats,
    Inputs,
    JoinsKernels,
    Kernel,
    KernelColumns,
    KernelFusedPullback,
    KernelInputPullback,
    KernelPullback,
    Likelihood,
    LikelihoodPullback,
    LogEvidence,
    Moments,
    PlainOptions,
    Pullback,
    SampleInputs,
    StartsFromData,
    StorableInputs,
    Tunable,
)

__all__ = [
    "FeatureRelevance",
    "Floats",
    "FreeVector",
    "Hyperparameter",
    "InputError",
    "Inputs",
    "JoinsKernels",
    "Kernel",
    "KernelArithmetic",
    "KernelColumns",
    "KernelFusedPullback",
    "KernelInputPullback",
    "KernelPullback",
    "Likelihood",
    "LikelihoodPullback",
    "LogEvidence",
    "Moments",
    "NumericalError",
    "PlainOptions",
    "PluginError",
    "Pullback",
    "SampleInputs",
    "SgpcError",
    "StartsFromData",
    "StorableInputs",
    "Tunable",
    "compiled",
    "has",
    "hookimpl",
    "hyperparameter",
    "hyperparameters",
    "input_pullback",
    "kernel_columns",
    "kernel_diag",
    "kernel_values",
    "linearised",
    "linearised_diag",
    "linearised_in_inputs",
    "one_of",
    "parts_of",
    "positive_number",
    "replaced",
    "share",
    "values",
    "whole_number",
]
