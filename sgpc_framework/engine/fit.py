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
from sgpc_framework.engine.log import Log, Note, Sampled
from sgpc_framework.engine.outcome import Fit
from sgpc_framework.engine.progress import OfSomeRows, Patience, Watcher
from sgpc_framework.engine.refining import refine
from sgpc_framework.engine.size_search import search
from sgpc_framework.engine.slopes import predictive_loss
from sgpc_framework.model.trace import Size
from sgpc_framework.rows.state import State
from sgpc_framework.rows.training_rows import TrainingRows


def fit(config: Config, rows: TrainingRows, watch: Watcher) -> Fit:
    """The design fitted with ``config.max_basis`` basis vectors, or with as many as it takes."""
    if rows.numbers is not None:
        kept = attrs.evolve(rows, numbers=None)
        return fit(config, kept, OfSomeRows(watch, rows.numbers)).numbered_by(rows.numbers)
    chosen = _fit_of_size if config.max_basis != "auto" else _fit_of_best_size
    return beside_frequencies(chosen(config, rows, watch), rows)


def _fit_of_best_size(config: Config, rows: TrainingRows, watch: Watcher) -> Fit:
    return search(config, rows, watch, _fit_of_size)


def _fit_of_size(config: Config, rows: TrainingRows, watch: Watcher) -> Fit:
    log, patience = Log(), Patience(watch)
    whole = _stages(config, rows, log, patience.stage)
    if log.stopped:  # what is not finished is not refined, and every prefix of it is a model
        return Fit((whole,), False, log.trace(), log, stopped=True)
    states = refine(config, whole, rows, log, patience)
    if states == (whole,):
        return Fit(states, False, log.trace(), log, stopped=patience.over)
    sizes = tuple(Size(len(each), predictive_loss(each, rows)) for each in states if len(each))
    trace = attrs.evolve(log.trace(), sizes=sizes)
    return Fit(states, True, trace, log, stopped=patience.over)


def _stages(config: Config, rows: TrainingRows, log: Log, watch: Watcher) -> State:
    """Algorithm 1 on all rows, or on a sample of so many."""
    if config.stage_rows == "all" or len(rows) <= config.stage_rows:
        return algorithm1(config, rows, log, watch)
    numbers = rows.draw(config.stage_rows, np.random.default_rng([config.seed, 0, 3]))
    log.add(Sampled(numbers))
    log.add(Note(f"the stages saw {len(numbers)} of {len(rows)} rows (stage_rows)"))
    return algorithm1(config, rows.subset(numbers), log, OfSomeRows(watch, numbers))
