"""Options are checked also where no configuration is: in instances made by hand."""

from __future__ import annotations

import pytest

from sgpc_plugins.objectives import Nlp
from sgpc_plugins.refiners import ExpectationPropagation
from sgpc_plugins.selectors import AdaptiveSampling, InformationGain
from sgpc_plugins.sites import PredictiveLossSites


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: AdaptiveSampling(working_set=2.5), TypeError),
        (lambda: AdaptiveSampling(working_set=True), TypeError),
        (lambda: AdaptiveSampling(working_set=0), ValueError),
        (lambda: PredictiveLossSites(max_steps="3"), TypeError),
        (lambda: InformationGain(direction="sideways"), ValueError),
        (lambda: Nlp(prior_width=0.0), ValueError),
        (lambda: Nlp(prior_width=float("inf")), ValueError),
        (lambda: Nlp(prior_width="2"), TypeError),
        (lambda: ExpectationPropagation(damping=1.0), ValueError),
        (lambda: ExpectationPropagation(damping=-0.1), ValueError),
        (lambda: ExpectationPropagation(damping=float("nan")), ValueError),
        (lambda: ExpectationPropagation(damping="0.5"), TypeError),
    ],
)
def test_wrong_options_are_refused(make, error):
    with pytest.raises(error, match="must be"):
        make()
