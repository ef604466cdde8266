"""How many basis vectors? ``max_basis = "auto"`` asks rows that are held out.

A fifth of the rows is held out. The design is fitted to the others with 5, 10, 20, 40, ... basis
vectors, until the loss of the held-out rows has stopped improving by more than its noise. The noise
of a difference between two sizes is the standard error of its mean over the held-out rows: both
sizes are judged by the same rows, so that rows which are hard for both do not count. The smallest
size that is as good as the best, but for the noise, is then fitted to all rows. A fit that is
stopped before that ends with the size chosen so far, as it was fitted to the rows not held out.
"""

from __future__ import annotations

from collections.abc import Iterator

import attrs
import numpy as np
from numpy.typing import NDArray

from sgpc_framework.config.config import Config
from sgpc_framework.engine.algorithm1 import Watcher
from sgpc_framework.engine.refining import Fitted, fitted_at_sizes
from sgpc_framework.model.trace import Size, Trace
from sgpc_framework.protocols import Inputs
from sgpc_framework.rows.holding_out import a_fifth
from sgpc_framework.rows.view import read_only

Floats = NDArray[np.float64]

FIRST = 5
"""The smallest size tried; each of the next is twice the one before."""

SHARE = 4
"""No size above one in so many of the rows is tried, but for the first."""

PATIENCE = 2
"""The search ends after so many sizes in a row that were no better."""

FEWEST = 20
"""With fewer different rows than this nothing is held out."""


@attrs.frozen(eq=False)
class Rung:
    """One size tried: what was found, its loss there, and its loss on each row held out."""

    found: Fitted
    predictive_loss: float
    row_losses: Floats

    @property
    def size(self) -> int:
        """The number of basis vectors, or one if there are none."""
        return max(1, len(self.found.whole.sites.mean))

    @property
    def held_out_loss(self) -> float:
        """NLP over the held-out rows."""
        return float(np.mean(self.row_losses))

    def noise(self, other: Rung) -> float:
        """The standard error of the difference between two held-out losses."""
        difference = self.row_losses - other.row_losses
        return float(np.std(difference, ddof=1) / np.sqrt(len(difference)))


def fitted(config: Config, X: Inputs, y: Floats, watch: Watcher) -> Fitted:
    """The design fitted with ``config.max_basis`` basis vectors, or with as many as it takes."""
    if config.max_basis != "auto":
        return fitted_at_sizes(config, X, y, watch)
    judges = a_fifth(X, y, np.random.default_rng([config.seed, 0, 1]), FEWEST)
    rungs = _climbed(config, X, y, judges, watch)
    chosen, note = _chosen(rungs, len(y)) if rungs else (None, _TOO_FEW)
    size = chosen.size if chosen else FIRST
    if chosen and rungs[-1].found.stopped:
        final = _of_all_rows(chosen.found, np.flatnonzero(~judges))
    else:
        final = fitted_at_sizes(attrs.evolve(config, max_basis=size), X, y, watch)
    notes = (*final.trace.notes, f'max_basis "auto" chose {size}: {note}')
    sizes = _merged(_records(rungs), final.trace)
    return attrs.evolve(final, trace=attrs.evolve(final.trace, notes=notes, sizes=sizes))


_TOO_FEW = f"with fewer than {FEWEST} different rows none can be held out to judge"


def ladder(rows: int) -> Iterator[int]:
    """The sizes to try, 5, 10, 20, ... up to a fourth of the rows.

    >>> list(ladder(200)), list(ladder(7))
    ([5, 10, 20, 40], [5])
    """
    size = FIRST
    while size == FIRST or SHARE * size <= rows:
        yield size
        size *= 2


def _climbed(
    config: Config, X: Inputs, y: Floats, judges: NDArray[np.bool_], watch: Watcher
) -> list[Rung]:
    """Sizes tried in turn until they are no better; none if no rows can be held out."""
    rungs: list[Rung] = []
    if not np.any(judges):
        return rungs
    others = read_only(X[~judges]), read_only(y[~judges])
    held_out = read_only(X[judges]), read_only(y[judges])
    best, waited = None, 0
    for size in ladder(len(y)):
        rung = _tried(attrs.evolve(config, max_basis=size, sizes=()), *others, *held_out, watch)
        rungs.append(rung)
        if best is None or best.held_out_loss - rung.held_out_loss > rung.noise(best):
            best, waited = rung, 0
        else:
            waited += 1
        out_of_variance = rung.size < size
        if waited == PATIENCE or out_of_variance or rung.found.stopped:
            break
    return rungs


def _tried(
    config: Config, X: Inputs, y: Floats, X_held_out: Inputs, y_held_out: Floats, watch: Watcher
) -> Rung:
    found = fitted_at_sizes(config, X, y, watch)
    whole = found.whole
    judged = whole.sites.judged_on(X_held_out, y_held_out)
    losses = judged.row_losses(whole.kernel, whole.likelihood)
    return Rung(found, whole.predictive_loss(), losses)


def _of_all_rows(found: Fitted, rows: NDArray[np.intp]) -> Fitted:
    """What was found on some rows, told by their numbers among all rows."""
    states = tuple(
        attrs.evolve(state, sites=attrs.evolve(state.sites, basis=rows[state.sites.basis]))
        for state in found.states
    )
    iterations = tuple(
        attrs.evolve(
            iteration,
            stages=tuple(attrs.evolve(s, row=int(rows[s.row])) for s in iteration.stages),
        )
        for iteration in found.trace.iterations
    )
    return attrs.evolve(
        found, states=states, trace=attrs.evolve(found.trace, iterations=iterations)
    )


def _best(rungs: list[Rung]) -> Rung:
    return min(rungs, key=lambda rung: rung.held_out_loss)


def _chosen(rungs: list[Rung], rows: int) -> tuple[Rung, str]:
    """The smallest size within the noise of the best, and why it was chosen."""
    best = _best(rungs)
    chosen = next(r for r in rungs if r.held_out_loss - best.held_out_loss <= r.noise(best))
    why = (
        f"{len(best.row_losses)} of {rows} rows were held out, and their loss is "
        f"{chosen.held_out_loss:.4g}, "
    )
    if chosen is best:
        return chosen, why + f"the least of sizes {[rung.size for rung in rungs]}"
    return chosen, why + (
        f"within {chosen.noise(best):.2g}, the noise, of the least, "
        f"{best.held_out_loss:.4g} at size {best.size}"
    )


def _records(rungs: list[Rung]) -> Iterator[Size]:
    for rung in rungs:
        noise = rung.noise(_best(rungs))
        yield Size(rung.size, rung.predictive_loss, rung.held_out_loss, noise)


def _merged(tried: Iterator[Size], trace: Trace) -> tuple[Size, ...]:
    """One record a size: what the fit to all rows knows goes before what was tried."""
    records = {record.size: record for record in tried}
    for known in trace.sizes:
        record = records.setdefault(known.size, known)
        records[known.size] = attrs.evolve(record, predictive_loss=known.predictive_loss)
    return tuple(records[size] for size in sorted(records))
