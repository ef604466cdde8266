"""Every sentence of the paper's section 5 that claims something, in the paper's order."""

from __future__ import annotations

from sgpc_framework.lab.claims import (
    computing_times,
    experiment1,
    experiment2,
    experiment3,
    experiment3_over_sets,
)
from sgpc_framework.lab.claims.claim import Claim

CLAIMS: dict[str, tuple[Claim, ...]] = {
    "Experiment 1, sites": experiment1.CLAIMS,
    "Experiment 2, sampling": experiment2.CLAIMS,
    "Experiment 3, selection, set by set": experiment3.CLAIMS,
    "Experiment 3, over the sets": experiment3_over_sets.CLAIMS,
    "Time": computing_times.CLAIMS,
}
