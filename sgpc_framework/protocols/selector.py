"""Step 3, which row becomes the next basis vector, and what a selector may do besides."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from sgpc_framework.protocols.every_part import Floats

if TYPE_CHECKING:
    from sgpc_framework.algebra.sites import Steps
    from sgpc_framework.rows.candidates import Candidates
    from sgpc_framework.rows.posterior import Posterior


@runtime_checkable
class BasisSelector(Protocol):
    """Step 3: which row becomes the next basis vector.

    ``propose`` is called once a stage and returns the candidates: one row number, or an array of
    distinct ones, all of inactive rows with some variance left (``posterior.eligible``). It reaches
    the rows through the posterior's verbs (``argmin``, ``sample``, ``total``) with row-local
    functions. All randomness comes from ``rng``, which is set anew at every stage and not to be
    kept. ``None`` says that it has had enough: the stages end.

    If several rows are proposed, each is tried with its own site and the one with the least loss
    is included: NLP over all rows (eq. 5), or what ``score`` says (see ``ScoresCandidates``).
    """

    name: ClassVar[str]

    def propose(
        self, posterior: Posterior, rng: np.random.Generator, /
    ) -> int | NDArray[np.intp] | None: ...


@runtime_checkable
class ScoresCandidates(Protocol):
    """A selector that ranks its candidates by a loss of its own; lower is better.

    ``score`` is called once a stage, if two or more rows were proposed, with the site of each, and
    returns a number for each; the candidates are in the order of their row numbers. Ties go to the
    lowest.
    """

    def score(self, posterior: Posterior, candidates: Candidates, steps: Steps, /) -> Floats: ...


@runtime_checkable
class SelectsWithMemory(Protocol):
    """A selector that remembers something through the stages of an inner loop.

    ``begun`` is called once in every outer iteration, before the first stage. What it returns, any
    object, is handed to ``propose`` and to ``score`` as one argument more, the last. The selector
    itself stays frozen. No file keeps the memory: a fit that is resumed asks such a selector again
    for the stages that there were.
    """

    def begun(self, posterior: Posterior, rng: np.random.Generator, /) -> Any: ...
