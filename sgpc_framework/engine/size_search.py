"""How many basis vectors? ``max_basis = "auto"`` asks rows that are held out.

The design is tried with 80 basis vectors, the usual number, and with half as many on a part of the
rows, and judged by others; where these would be few, several parts take turns. If half as many are
no worse, the number is halved again as long as that stays so; otherwise it is doubled as long as
that is clearly better. Trials are sketches: fits with less care, to at most so many rows, since
only their order counts. The size that was chosen is then fitted to all rows with all care. A fit
that is stopped before that ends with the size chosen so far, as it was sketched.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from operator import add

import attrs
import numpy as np

from sgpc_framework.config.config import Config
from sgpc_framework.engine.journal import Journal
from sgpc_framework.engine.judging import PairedLosses, paired_losses
from sgpc_framework.engine.outcome import Fit
from sgpc_framework.engine.progress import Watcher
from sgpc_framework.engine.slopes import predictive_loss
from sgpc_framework.model.trace import Size, Trace
from sgpc_framework.parts.abilities import has
from sgpc_framework.parts.calls import blame
from sgpc_framework.protocols import Refiner, Sketches
from sgpc_framework.rows.holding_out import FEWEST, HeldOut, Split
from sgpc_framework.rows.training_rows import TrainingRows

USUAL, LEAST, MOST = 80, 5, 320
"""The size that is tried first, and the smallest and the largest; between them lie factors of 2."""

SHARE = 4
"""No size above one in so many of the rows is tried, but for the smallest."""

SKETCH = 10_000
"""The most rows that a sketch is fitted to; as many judge at the most."""

JUDGES = 200
"""How many rows must have judged, if there are so many."""

ITERATIONS = 2
"""The most outer iterations of a sketch."""

BETTER, NO_WORSE = 1.0, 0.5
"""By how many standard errors twice the size must be better, and half of it may be worse."""

FitOfSize = Callable[[Config, TrainingRows, Watcher, Journal], Fit]


def search(
    config: Config, rows: TrainingRows, watch: Watcher, journal: Journal, fit: FitOfSize
) -> Fit:
    """The design fitted with as many basis vectors as held-out rows say."""
    rng = np.random.default_rng([config.seed, 0, 1])
    held_out = HeldOut(rows, rng, 2 * SKETCH, SKETCH)
    if not held_out.possible:
        why = f"with fewer than {FEWEST} different rows none can be held out to judge"
        only = fit(attrs.evolve(config, max_basis=LEAST), rows, watch, journal)
        return _with_reason(only, LEAST, why, ())
    trials = _Trials(config, held_out.splits(JUDGES), watch, journal, fit)
    chosen = trials.best_of(sizes_to_try(len(rows)))
    size, why = trials.size(chosen), trials.why(chosen, len(rows))
    if trials.stopped:
        final = trials.fits[chosen][0].numbered_by(trials.splits[0].fitted)
    else:
        final = fit(attrs.evolve(config, max_basis=size), rows, watch, journal)
    return _with_reason(final, size, why, tuple(trials.records()))


def sizes_to_try(rows: int) -> list[int]:
    """The sizes, in ascending order, of which the usual one is tried first.

    >>> sizes_to_try(400), sizes_to_try(7)
    ([5, 10, 20, 40, 80], [5])
    """
    sizes = [LEAST]
    while (size := 2 * sizes[-1]) <= min(MOST, rows // SHARE):
        sizes.append(size)
    return sizes


def sketch_of(config: Config) -> Config:
    """The design with less care: few outer iterations, and the refiner's sketch if it has one."""
    refiner: Refiner = config.refiner
    if has(refiner, Sketches):
        with blame("refiner", refiner, "sketch"):
            refiner = refiner.sketch()
    iterations = min(ITERATIONS, config.max_iterations)
    return attrs.evolve(config, refiner=refiner, max_iterations=iterations, sizes=())


class _Trials:
    """Sizes that were tried, and what the rows held out say of them."""

    def __init__(
        self,
        config: Config,
        splits: Sequence[Split],
        watch: Watcher,
        journal: Journal,
        fit: FitOfSize,
    ) -> None:
        self._config = sketch_of(config)
        self._watch = watch
        self._journal = journal
        self._fit = fit
        self.splits = splits
        self.fits: dict[int, list[Fit]] = {}
        """By the size that was asked for, one for each split."""
        self.stopped = False
        self._losses: PairedLosses

    def best_of(self, sizes: Sequence[int]) -> int:
        """The usual size, a larger one if it is better, or the smallest that is no worse."""
        usual = max(size for size in sizes if size <= USUAL)
        self._try(usual)
        smaller = [size for size in reversed(sizes) if size < usual]
        if smaller and not self.stopped:
            self._try(smaller[0])
            if self._no_worse(smaller[0], usual):
                return self._last_good(smaller[0], smaller[1:], self._no_worse)
        return self._last_good(usual, [size for size in sizes if size > usual], self._better)

    def _last_good(self, best: int, sizes: Sequence[int], good: Callable[[int, int], bool]) -> int:
        """The last of the sizes before one is not good enough beside the one before it."""
        for size in sizes:
            if self.stopped or self._out_of_variance(best):
                break
            self._try(size)
            if not good(size, best):
                break
            best = size
        return best

    def size(self, asked: int) -> int:
        """How many basis vectors the stages ended with, or one if with none.

        It is what ``max_basis`` has to be; a refiner may have made more or fewer of them.
        """
        return max(1, len(self.fits[asked][0].log.state()))

    def why(self, chosen: int, all_rows: int) -> str:
        """Why a size was chosen."""
        means, best = self._losses.means, self._best
        why = (
            f"{self._losses.rows} of {all_rows} rows were held out, and their loss is "
            f"{means[self._place(chosen)]:.4g}, "
        )
        if chosen == best:
            return why + f"the least of sizes {sorted(map(self.size, self.fits))}"
        noise = self._losses.noise(self._place(chosen), self._place(best))
        return why + (
            f"not clearly more than the least, {means[self._place(best)]:.4g} at size "
            f"{self.size(best)} (the noise is {noise:.2g})"
        )

    def records(self) -> Iterator[Size]:
        """What each model is worth that has basis vectors, in order of size."""
        for asked in sorted(self.fits):
            state = self.fits[asked][0].whole
            if len(state):
                yield Size(
                    len(state),
                    predictive_loss(state, self.splits[0].rows),
                    float(self._losses.means[self._place(asked)]),
                    self._losses.noise(self._place(asked), self._place(self._best)),
                )

    def _try(self, size: int) -> None:
        config = attrs.evolve(self._config, max_basis=size)
        fits = []
        for turn, split in enumerate(self.splits):
            journal = self._journal.within(f"size {size}, turn {turn}")
            fits.append(self._fit(config, split.rows, self._watch, journal))
            self.stopped = fits[-1].stopped
            if self.stopped:
                self.splits = self.splits[: len(fits)]  # the others say nothing of this size
                break
        self.fits[size] = fits
        self._losses = reduce(
            add,
            (
                paired_losses([each[turn].whole for each in self.fits.values()], split.judges)
                for turn, split in enumerate(self.splits)
            ),
        )

    def _better(self, a: int, b: int) -> bool:
        return self._losses.clearly_better(self._place(a), self._place(b), BETTER)

    def _no_worse(self, a: int, b: int) -> bool:
        return not self._losses.clearly_better(self._place(b), self._place(a), NO_WORSE)

    def _out_of_variance(self, asked: int) -> bool:
        """Whether the stages ended before they were told to: no larger size is any different."""
        return self.size(asked) < asked

    def _place(self, asked: int) -> int:
        return list(self.fits).index(asked)

    @property
    def _best(self) -> int:
        return list(self.fits)[int(self._losses.means.argmin())]


def _with_reason(fit: Fit, size: int, why: str, records: tuple[Size, ...]) -> Fit:
    notes = (*fit.trace.notes, f'max_basis "auto" chose {size}: {why}')
    sizes = _merge_records(records, fit.trace)
    return attrs.evolve(fit, trace=attrs.evolve(fit.trace, notes=notes, sizes=sizes))


def _merge_records(tried: tuple[Size, ...], trace: Trace) -> tuple[Size, ...]:
    """One record a size: what the fit to all rows knows goes before what was tried."""
    records = {record.size: record for record in tried}
    for known in trace.sizes:
        record = records.setdefault(known.size, known)
        records[known.size] = attrs.evolve(record, predictive_loss=known.predictive_loss)
    return tuple(records[size] for size in sorted(records))
