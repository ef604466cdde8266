"""Built-in basis selectors (step 3 of Algorithm 1)."""

from sgpc_framework.authors import hookimpl
from sgpc_plugins.selectors.greedy import (
    ConditionalVariance,
    Entropy,
    InformationGain,
    MostViolated,
)
from sgpc_plugins.selectors.pool import Pool
from sgpc_plugins.selectors.sampling import AdaptiveSampling, RandomSampling, Validation

__all__ = [
    "AdaptiveSampling",
    "ConditionalVariance",
    "Entropy",
    "InformationGain",
    "MostViolated",
    "Pool",
    "RandomSampling",
    "Validation",
]


@hookimpl
def sgpc_basis_selectors() -> list[type]:
    return [
        AdaptiveSampling,
        ConditionalVariance,
        Entropy,
        InformationGain,
        MostViolated,
        Pool,
        RandomSampling,
        Validation,
    ]
