"""Built-in objectives for the hyperparameters (step 6 of Algorithm 1)."""

from sgpc_framework.authors import hookimpl
from sgpc_plugins.objectives.marginal_likelihood import MarginalLikelihood
from sgpc_plugins.objectives.no_objective import NoObjective
from sgpc_plugins.objectives.predictive import Nlp, PredictiveLoss

__all__ = ["MarginalLikelihood", "Nlp", "NoObjective", "PredictiveLoss"]


@hookimpl
def sgpc_hyper_objectives() -> list[type]:
    return [MarginalLikelihood, Nlp, NoObjective, PredictiveLoss]
