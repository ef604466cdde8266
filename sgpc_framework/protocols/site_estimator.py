"""Step 4: the site of a basis vector."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Protocol, runtime_checkable

if TYPE_CHECKING:
    from sgpc_framework.algebra.sites import Steps
    from sgpc_framework.rows.candidates import Candidates
    from sgpc_framework.rows.posterior import Posterior


@runtime_checkable
class SiteEstimator(Protocol):
    """Step 4: the site of each candidate.

    ``estimate`` is called once a stage and returns one (coefficient, shrinkage) for each
    candidate. Both must be finite, with 0 < shrinkage * variance < 1: then no variance increases
    and none becomes negative.
    """

    name: ClassVar[str]

    def estimate(self, posterior: Posterior, candidates: Candidates, /) -> Steps: ...
