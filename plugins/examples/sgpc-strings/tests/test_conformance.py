"""What every kernel must do."""

from sgpc_framework.testing import parametrize_with_checks

from sgpc_strings import Spectrum, WeightedDegree


@parametrize_with_checks(
    [
        Spectrum(),
        Spectrum(variance=2.5, length=1),
        WeightedDegree(),
        WeightedDegree(variance=0.4, growth=1.5, degree=20),
    ]
)
def test_conformance(check):
    check()
