"""A basis selector: uncertain rows that the basis does not explain yet."""

from sgpc_framework.plugin import hookimpl

from sgpc_diverse.margin_variance import MarginVariance

__all__ = ["MarginVariance"]


@hookimpl
def sgpc_basis_selectors() -> list[type]:
    return [MarginVariance]
