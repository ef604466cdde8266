"""The selector ``margin-variance``: near the boundary, and far from the basis."""

from __future__ import annotations

from typing import ClassVar, final

import attrs
import numpy as np
from attrs.validators import ge, instance_of
from numpy.typing import NDArray
from sgpc_framework.authors import Floats, Posterior, Rows


@final
@attrs.frozen
class MarginVariance:
    """A small working set of rows that are undecided and not yet explained.

    ``working_set`` inactive rows are drawn without replacement with weights

        χⱼ ∝ Zⱼ (1 - Zⱼ) · Aⱼⱼ

    and the one whose inclusion gives the least NLP over all rows is taken (eqs. 5 and 10).

    Zⱼ is the predictive probability of the row's own label, so the first factor is the variance of
    the label as the model predicts it: the same for either label. A row that is confidently wrong,
    which adaptive sampling likes best, counts for little, because it may be mislabelled. Aⱼⱼ is the
    posterior variance, the squared distance to the span of the basis in feature space: drawing in
    proportion to it is the spread of k-means++ and of randomly pivoted Cholesky factorisation.

    Arthur & Vassilvitskii (2007), "k-means++: the advantages of careful seeding"; Chen, Epperly,
    Tropp & Webber (2022), "Randomly pivoted Cholesky".
    """

    name: ClassVar[str] = "margin-variance"

    working_set: int = attrs.field(default=2, validator=[instance_of(int), ge(1)])

    def propose(self, posterior: Posterior, rng: np.random.Generator) -> NDArray[np.intp]:
        return posterior.sample(_doubt_times_variance, self.working_set, rng)


def _doubt_times_variance(rows: Rows) -> Floats:
    return -np.expm1(rows.log_z) * np.exp(rows.log_z) * rows.variance
