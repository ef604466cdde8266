"""How many basis vectors? ``max_basis = "auto"`` asks rows that are held out.

A fifth of the rows is held out. The design is fitted to the others with 5, 10, 20, 40, ... basis
vectors, until the loss of the held-out rows has stopped improving by more than its noise, the
standard error of a difference between two sizes that are judged by the same rows. The smallest size
that is as good as the best, but for the noise, is then fitted to all rows. A fit that is stopped
before that ends with the size chosen so far, as it was fitted to the rows not held out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import attrs
import numpy as np

from sgpc_framework.config.config import Config
from sgpc_framework.engine.judging import PairedLosses, paired_losses
from sgpc_framework.engine.outcome import Fit
from sgpc_framework.engine.progress import Watcher
from sgpc_framework.engine.slopes import predictive_loss
from sgpc_framework.model.trace import Size, Trace
from sgpc_framework.rows.holding_out import FEWEST, HeldOut
from sgpc_framework.rows.training_rows import TrainingRows

FIRST = 5
"""The smallest size tried; each of the next is twice the one before."""

SHARE = 4
"""No size above one in so many of the rows is tried, but for the first."""

PATIENCE = 2
"""The search ends after so many sizes in a row that were no better."""

FitOfSize = Callable[[Config, TrainingRows, Watcher], Fit]


def search(config: Config, rows: TrainingRows, watch: Watcher, fit: FitOfSize) -> Fit:
    """The design fitted with as many basis vectors as held-out rows say."""
    held_out = HeldOut(rows, np.random.default_rng([config.seed, 0, 1]))
    if not held_out.possible:
        why = f"with fewer than {FEWEST} different rows none can be held out to judge"
        return _noted(fit(attrs.evolve(config, max_basis=FIRST), rows, watch), FIRST, why, ())
    numbers, judges = held_out.split()
    ladder = _Ladder(config, rows.subset(numbers), rows.subset(judges), len(rows))
    ladder.climb(watch, fit)
    chosen = ladder.chosen()
    size = ladder.size(chosen)
    if ladder.fits[-1].stopped:
        final = ladder.fits[chosen].numbered_by(numbers)
    else:
        final = fit(attrs.evolve(config, max_basis=size), rows, watch)
    return _noted(final, size, ladder.why(chosen), tuple(ladder.records()))


def sizes_to_try(rows: int) -> Iterator[int]:
    """The sizes to try, 5, 10, 20, ... up to a fourth of the rows.

    >>> list(sizes_to_try(200)), list(sizes_to_try(7))
    ([5, 10, 20, 40], [5])
    """
    size = FIRST
    while size == FIRST or SHARE * size <= rows:
        yield size
        size *= 2


class _Ladder:
    """Sizes tried in turn, and what the rows held out say of them."""

    def __init__(
        self, config: Config, rows: TrainingRows, judges: TrainingRows, all_rows: int
    ) -> None:
        self._config = config
        self._rows = rows
        self._judges = judges
        self._all_rows = all_rows
        self.fits: list[Fit] = []
        self._losses: PairedLosses

    def climb(self, watch: Watcher, fit: FitOfSize) -> None:
        """Try sizes until they are no better."""
        best, waited = 0, 0
        for size in sizes_to_try(self._all_rows):
            config = attrs.evolve(self._config, max_basis=size, sizes=())
            self.fits.append(fit(config, self._rows, watch))
            latest = len(self.fits) - 1
            self._losses = paired_losses([each.whole for each in self.fits], self._judges)
            if latest == 0 or self._losses.clearly_better(latest, best, standard_errors=1.0):
                best, waited = latest, 0
            else:
                waited += 1
            out_of_variance = self.size(latest) < size
            if waited == PATIENCE or out_of_variance or self.fits[-1].stopped:
                break

    def size(self, rung: int) -> int:
        """How many basis vectors the stages ended with, or one if with none.

        It is what ``max_basis`` has to be; a refiner may have made more or fewer of them.
        """
        return max(1, len(self.fits[rung].log.state()))

    def chosen(self) -> int:
        """The smallest size within the noise of the best."""
        means, best = self._losses.means, self._best
        return next(
            rung
            for rung in range(len(self.fits))
            if means[rung] - means[best] <= self._losses.noise(rung, best)
        )

    def why(self, chosen: int) -> str:
        """Why a size was chosen."""
        means, best = self._losses.means, self._best
        why = (
            f"{self._losses.rows} of {self._all_rows} rows were held out, and their loss is "
            f"{means[chosen]:.4g}, "
        )
        if chosen == best:
            sizes = [self.size(rung) for rung in range(len(self.fits))]
            return why + f"the least of sizes {sizes}"
        return why + (
            f"within {self._losses.noise(chosen, best):.2g}, the noise, of the least, "
            f"{means[best]:.4g} at size {self.size(best)}"
        )

    def records(self) -> Iterator[Size]:
        """What each model is worth that has basis vectors."""
        for rung, fit in enumerate(self.fits):
            if len(fit.whole):
                yield Size(
                    len(fit.whole),
                    predictive_loss(fit.whole, self._rows),
                    float(self._losses.means[rung]),
                    self._losses.noise(rung, self._best),
                )

    @property
    def _best(self) -> int:
        return int(self._losses.means.argmin())


def _noted(fit: Fit, size: int, why: str, records: tuple[Size, ...]) -> Fit:
    notes = (*fit.trace.notes, f'max_basis "auto" chose {size}: {why}')
    sizes = _merged(records, fit.trace)
    return attrs.evolve(fit, trace=attrs.evolve(fit.trace, notes=notes, sizes=sizes))


def _merged(tried: tuple[Size, ...], trace: Trace) -> tuple[Size, ...]:
    """One record a size: what the fit to all rows knows goes before what was tried."""
    records = {record.size: record for record in tried}
    for known in trace.sizes:
        record = records.setdefault(known.size, known)
        records[known.size] = attrs.evolve(record, predictive_loss=known.predictive_loss)
    return tuple(records[size] for size in sorted(records))
