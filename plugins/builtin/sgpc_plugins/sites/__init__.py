"""Built-in site estimators (step 4 of Algorithm 1)."""

from sgpc_framework.authors import hookimpl
from sgpc_plugins.sites.moment_matching import MomentMatching
from sgpc_plugins.sites.predictive_loss import PredictiveLossSites

__all__ = ["MomentMatching", "PredictiveLossSites"]


@hookimpl
def sgpc_site_estimators() -> list[type]:
    return [MomentMatching, PredictiveLossSites]
