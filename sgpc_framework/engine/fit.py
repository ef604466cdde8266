"""One entry: from a configuration and rows of one latent function to what was fitted to them.

Algorithm 1        stages and step 6 in turns             ``algorithm1``
the refiner        once for each size                     ``refining``
the size           if held-out rows are to choose it      ``size_search``
a last look        whether it is of any use               ``baseline``
"""

from __future__ import annotations

import attrs
import numpy as np

from sgpc_framework.config.config import Config
from sgpc_framework.engine.algorithm1 import algorithm1
from sgpc_framework.engine.baseline import beside_frequencies
from sgpc_framework.engine.continuing import Earlier
from sgpc_framework.engine.journal import NOWHERE, Journal
from sgpc_framework.engine.log import Log
from sgpc_framework.engine.log_records import Note, Sampled
from sgpc_framework.engine.outcome import Fit
from sgpc_framework.engine.progress import OfSomeRows, Patience, Watcher
from sgpc_framework.engine.refining import refine
from sgpc_framework.engine.size_search import search
from sgpc_framework.engine.slopes import predictive_loss
from sgpc_framework.model.trace import Size
from sgpc_framework.rows.state import State
from sgpc_framework.rows.training_rows import TrainingRows


def fit(
    config: Config,
    rows: TrainingRows,
    watch: Watcher,
    journal: Journal = NOWHERE,
    earlier: Earlier | None = None,
) -> Fit:
    """The design fitted with ``config.max_basis`` basis vectors, or with as many as it takes.

    What the journal has of an earlier life of the same fit is not done again. ``earlier`` is a
    model to go on from, whose hyperparameters the configuration has.
    """
    if rows.numbers is not None:
        kept = attrs.evolve(rows, numbers=None)
        some = fit(config, kept, OfSomeRows(watch, rows.numbers), journal, earlier)
        return some.numbered_by(rows.numbers)
    if config.max_basis == "auto":
        end = search(config, rows, watch, journal, _fit_of_size)
    else:
        end = _fit_of_size(config, rows, watch, journal, earlier)
    return _with_remark(beside_frequencies(end, rows), rows.remark)


def _with_remark(fit: Fit, remark: str | None) -> Fit:
    if remark is None:
        return fit
    return attrs.evolve(fit, trace=attrs.evolve(fit.trace, notes=(*fit.trace.notes, remark)))


def _fit_of_size(
    config: Config,
    rows: TrainingRows,
    watch: Watcher,
    journal: Journal,
    earlier: Earlier | None = None,
) -> Fit:
    log, patience = Log(journal), Patience(watch)
    whole = _stages(config, rows, log, patience.stage, earlier)
    if log.stopped:  # what is not finished is not refined, and every prefix of it is a model
        return Fit((whole,), False, log.trace(), log, stopped=True)
    states = refine(config, whole, rows, log, patience)
    was_refined = earlier is not None and earlier.refined and log.best == 0
    if states == (whole,) and not was_refined:
        return Fit(states, False, log.trace(), log, stopped=patience.over)
    sizes = tuple(Size(len(each), predictive_loss(each, rows)) for each in states if len(each))
    trace = attrs.evolve(log.trace(), sizes=sizes)
    return Fit(states, True, trace, log, stopped=patience.over)


def _stages(
    config: Config, rows: TrainingRows, log: Log, watch: Watcher, earlier: Earlier | None
) -> State:
    """Algorithm 1 on all rows, or on a sample of so many."""
    if config.stage_rows == "all" or len(rows) <= config.stage_rows:
        return algorithm1(config, rows, log, watch, earlier)
    numbers = rows.draw(config.stage_rows, np.random.default_rng([config.seed, 0, 3]))
    log.add(Sampled(numbers))
    log.add(Note(f"the stages saw {len(numbers)} of {len(rows)} rows (stage_rows)"))
    some = None if earlier is None else earlier.among(numbers)
    return algorithm1(config, rows.subset(numbers), log, OfSomeRows(watch, numbers), some)
