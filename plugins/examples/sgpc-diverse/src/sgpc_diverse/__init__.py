"""Basis selectors, most of them of the literature, each a few lines on the posterior's verbs."""

from sgpc_framework.authors import hookimpl

from sgpc_diverse.doubt import ActiveSet, QualityDiversity
from sgpc_diverse.label_free import KernelKmeans, Novelty, PivotedCholesky, RidgeLeverage
from sgpc_diverse.lazy_entropy import LazyEntropy
from sgpc_diverse.margin_variance import MarginVariance
from sgpc_diverse.pursuit import GradientPursuit, MatchingPursuit

SELECTORS: list[type] = [
    ActiveSet,
    GradientPursuit,
    KernelKmeans,
    LazyEntropy,
    MarginVariance,
    MatchingPursuit,
    Novelty,
    PivotedCholesky,
    QualityDiversity,
    RidgeLeverage,
]

__all__ = [
    "SELECTORS",
    "ActiveSet",
    "GradientPursuit",
    "KernelKmeans",
    "LazyEntropy",
    "MarginVariance",
    "MatchingPursuit",
    "Novelty",
    "PivotedCholesky",
    "QualityDiversity",
    "RidgeLeverage",
]


@hookimpl
def sgpc_basis_selectors() -> list[type]:
    return SELECTORS
