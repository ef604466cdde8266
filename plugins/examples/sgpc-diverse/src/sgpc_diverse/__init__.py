"""Two basis selectors: one that does not trust labels, and one that does not look at every row."""

from sgpc_framework.authors import hookimpl

from sgpc_diverse.lazy_entropy import LazyEntropy
from sgpc_diverse.margin_variance import MarginVariance

__all__ = ["LazyEntropy", "MarginVariance"]


@hookimpl
def sgpc_basis_selectors() -> list[type]:
    return [LazyEntropy, MarginVariance]
