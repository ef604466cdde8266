"""Kernels on strings: ``spectrum`` (which pieces occur) and ``weighted-degree`` (and where)."""

from sgpc_framework.authors import hookimpl

from sgpc_strings.spectrum import Spectrum
from sgpc_strings.weighted_degree import WeightedDegree

__all__ = ["Spectrum", "WeightedDegree"]


@hookimpl
def sgpc_kernels() -> list[type]:
    return [Spectrum, WeightedDegree]
