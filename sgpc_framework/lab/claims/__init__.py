"""Every sentence of the paper's section 5 that claims something, in the paper's order."""

from __future__ import annotations

from sgpc_framework.lab.claims import over_sets, sampling, selection, sites, speed
from sgpc_framework.lab.claims.claim import Claim

CLAIMS: dict[str, tuple[Claim, ...]] = {
    "Experiment 1, sites": sites.CLAIMS,
    "Experiment 2, sampling": sampling.CLAIMS,
    "Experiment 3, selection, set by set": selection.CLAIMS,
    "Experiment 3, over the sets": over_sets.CLAIMS,
    "Time": speed.CLAIMS,
}
