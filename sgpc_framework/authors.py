"""All that an author of a part needs; built-in parts import from nowhere else of ours.

What is not here is not for parts to rely on.
"""

from __future__ import annotations

from sgpc_framework.algebra.additive import Factor as Factor
from sgpc_framework.algebra.additive import additive_form as additive_form
from sgpc_framework.algebra.additive import factorised as factorised
from sgpc_framework.algebra.rounding import ROUNDING as ROUNDING
from sgpc_framework.algebra.sites import Steps as Steps
from sgpc_framework.engine.judging import PairedLosses as PairedLosses
from sgpc_framework.engine.judging import paired_losses as paired_losses
from sgpc_framework.engine.optimisers import minimise as minimise
from sgpc_framework.engine.slopes import RowMean as RowMean
from sgpc_framework.engine.slopes import mean_over_rows as mean_over_rows
from sgpc_framework.engine.slopes import predictive_loss as predictive_loss
from sgpc_framework.engine.slopes import slopes as slopes
from sgpc_framework.engine.trial import Trial as Trial
from sgpc_framework.errors import InputError as InputError
from sgpc_framework.errors import NumericalError as NumericalError
from sgpc_framework.errors import NumericalWarning as NumericalWarning
from sgpc_framework.parts.derivatives import in_hyperparameters as in_hyperparameters
from sgpc_framework.parts.derivatives import input_pullback as input_pullback
from sgpc_framework.parts.derivatives import likelihood_gradient as likelihood_gradient
from sgpc_framework.parts.derivatives import linearised_in_inputs as linearised_in_inputs
from sgpc_framework.parts.hyperparameters import FreeVector as FreeVector
from sgpc_framework.parts.hyperparameters import Hyperparameter as Hyperparameter
from sgpc_framework.parts.hyperparameters import hyperparameters as hyperparameters
from sgpc_framework.parts.hyperparameters import replaced as replaced
from sgpc_framework.parts.hyperparameters import values as values
from sgpc_framework.parts.option_fields import one_of as one_of
from sgpc_framework.parts.option_fields import positive_number as positive_number
from sgpc_framework.parts.option_fields import share as share
from sgpc_framework.parts.option_fields import whole_number as whole_number
from sgpc_framework.plugin.markers import hookimpl as hookimpl
from sgpc_framework.protocols import Floats as Floats
from sgpc_framework.protocols import KernelInputPullback as KernelInputPullback
from sgpc_framework.protocols import Likelihood as Likelihood
from sgpc_framework.protocols import Loss as Loss
from sgpc_framework.protocols import Refined as Refined
from sgpc_framework.protocols import Refining as Refining
from sgpc_framework.protocols import RowLoss as RowLoss
from sgpc_framework.protocols import Tell as Tell
from sgpc_framework.rows.candidates import Candidates as Candidates
from sgpc_framework.rows.holding_out import HeldOut as HeldOut
from sgpc_framework.rows.posterior import Posterior as Posterior
from sgpc_framework.rows.state import State as State
from sgpc_framework.rows.training_rows import TrainingRows as TrainingRows
from sgpc_framework.rows.view import Rows as Rows
