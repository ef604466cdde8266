"""One entry: from a configuration and rows of one latent function to what was fitted to them.

Algorithm 1        stages and step 6 in turns             ``algorithm1``
the refiner        once for each size                     ``refining``
the size           if held-out rows are to choose it      ``size_search``
a last look        whether it is of any use               ``baseline``
"""

from __future__ import annotations

import attrs

from sgpc_framework.config.config import Config
from sgpc_framework.engine.algorithm1 import algorithm1
from sgpc_framework.engine.baseline import beside_frequencies
from sgpc_framework.engine.log import Log
from sgpc_framework.engine.outcome import Fit
from sgpc_framework.engine.progress import Patience, Watcher
from sgpc_framework.engine.refining import refine
from sgpc_framework.engine.size_search import search
from sgpc_framework.engine.slopes import predictive_loss
from sgpc_framework.model.trace import Size
from sgpc_framework.rows.training_rows import TrainingRows


def fit(config: Config, rows: TrainingRows, watch: Watcher) -> Fit:
    """The design fitted with ``config.max_basis`` basis vectors, or with as many as it takes."""
    chosen = _fit_of_size if config.max_basis != "auto" else _fit_of_best_size
    return beside_frequencies(chosen(config, rows, watch), rows)


def _fit_of_best_size(config: Config, rows: TrainingRows, watch: Watcher) -> Fit:
    return search(config, rows, watch, _fit_of_size)


def _fit_of_size(config: Config, rows: TrainingRows, watch: Watcher) -> Fit:
    log, patience = Log(), Patience(watch)
    whole = algorithm1(config, rows, log, patience.stage)
    if log.stopped:  # what is not finished is not refined, and every prefix of it is a model
        return Fit((whole,), False, log.trace(), log, stopped=True)
    states = refine(config, whole, rows, log, patience)
    if states == (whole,):
        return Fit(states, False, log.trace(), log, stopped=patience.over)
    sizes = tuple(Size(len(each), predictive_loss(each, rows)) for each in states if len(each))
    trace = attrs.evolve(log.trace(), sizes=sizes)
    return Fit(states, True, trace, log, stopped=patience.over)
