"""Pictures of a fit. They need the extra ``plots``: ``pip install 'sgpc-framework[plots]'``.

Each is a function of a model (or its trace), perhaps of data, and of the axes to draw on, which it
returns; without axes it makes a figure. matplotlib is imported by the function that draws, so that
nobody else pays for it.
"""

from sgpc_framework.plots.calibration import calibration_curve
from sgpc_framework.plots.comparisons import quality_by_cost, selector_comparison
from sgpc_framework.plots.features import feature_relevance
from sgpc_framework.plots.importance_bars import feature_importance
from sgpc_framework.plots.loss_and_error import along_stages
from sgpc_framework.plots.probabilities import probability_histogram
from sgpc_framework.plots.rank_diagrams import rank_diagram
from sgpc_framework.plots.regions import decision_regions
from sgpc_framework.plots.sizes import loss_by_size

__all__ = [
    "along_stages",
    "calibration_curve",
    "decision_regions",
    "feature_importance",
    "feature_relevance",
    "loss_by_size",
    "probability_histogram",
    "quality_by_cost",
    "rank_diagram",
    "selector_comparison",
]
