"""One entry: from a configuration and rows of one latent function to what was fitted to them.

Algorithm 1        stages and step 6 in turns             ``algorithm1``
the refiner        once for each size                     ``refining``
the size           if held-out rows are to choose it      ``size_search``
"""

from __future__ import annotations

import attrs

from sgpc_framework.config.config import Config
from sgpc_framework.engine.algorithm1 import algorithm1
from sgpc_framework.engine.log import Log
from sgpc_framework.engine.outcome import Fit
from sgpc_framework.engine.progress import OfSomeRows, Patience, Watcher
from sgpc_framework.engine.refining import refine
from sgpc_framework.engine.size_search import search
from sgpc_framework.engine.slopes import predictive_loss
from sgpc_framework.model.trace import Size
from sgpc_framework.rows.training_rows import TrainingRows


def fit(config: Config, rows: TrainingRows, watch: Watcher) -> Fit:
    """The design fitted with ``config.max_basis`` basis vectors, or with as many as it takes."""
    if rows.numbers is not None:
        kept = attrs.evolve(rows, numbers=None)
        return fit(config, kept, OfSomeRows(watch, rows.numbers)).renumbered(rows.numbers)
    if config.max_basis == "auto":
        return search(config, rows, watch, fit)
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
