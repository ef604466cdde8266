"""The thorough laws of every part, whatever its kind: those that only whole fits can show.

Each docstring is what a failing check says was wanted.
"""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any
from warnings import catch_warnings, simplefilter

import numpy as np

from sgpc_framework.errors import ChanceLevelWarning
from sgpc_framework.plugin.kinds import Kind
from sgpc_framework.plugin.registry import Registry
from sgpc_framework.testing.elsewhere import HERE, THERE, reports
from sgpc_framework.testing.memory_use import require_memory_back
from sgpc_framework.testing.samples import is_matrix, is_unlocked, locked
from sgpc_framework.testing.verdict import require, require_equal
from sgpc_framework.testing.whole_fits import TrainingSet, fitted, training_set


def same_bits_in_another_process(part: Any, kind: Kind, registry: Registry) -> None:
    """A fit does not depend on the seed of Python's hashes, on the clock, on the time zone or on
    what the process did before."""
    first, second = reports(part, kind.name)
    here = fitted(part, kind.name, training_set(part))
    where = (
        f"hash seed {HERE.hash_seed}, then hash seed {THERE.hash_seed}, another time zone and a "
        f"clock that is {THERE.ahead / 86400:.0f} days ahead"
    )
    for name, numbers in first.outcome.items():
        require_equal(np.array(numbers), np.array(second.outcome[name]), name, where)
        was = "a process of its own, then this one, which has made other fits"
        require_equal(np.array(numbers), here[name], name, was)


def leaves_the_process_as_it_was(part: Any, kind: Kind, registry: Registry) -> None:
    """After a fit the settings of numpy, warnings, logging, signals and the environment are as
    before, and the global random generators; no file is new or open, no thread goes on, and
    nothing was printed."""
    for report in reports(part, kind.name):
        require(not report.left, "; ".join(report.left))


def a_fit_in_between_changes_nothing(part: Any, kind: Kind, registry: Registry) -> None:
    """A fit has the same bits after a fit to other data as before: nothing is kept anywhere."""
    data, other = training_set(part), training_set(part, seed=1)
    first = fitted(part, kind.name, data)
    fitted(part, kind.name, other, seed=4)
    second = fitted(part, kind.name, data)
    for name, array in first.items():
        require_equal(array, second[name], name, "before and after a fit to other data")


def leaves_the_users_data_alone(part: Any, kind: Kind, registry: Registry) -> None:
    """A fit changes nothing in the arrays that it is given, and does not make them writable."""
    given = training_set(part)
    data = TrainingSet(locked(deepcopy(given.X)), locked(given.y))
    fitted(part, kind.name, data)
    for name, now, before in (("X", data.X, given.X), ("y", data.y, given.y)):
        require(np.array_equal(np.asarray(now), np.asarray(before)), f"{name} was changed")
        require(not is_unlocked(now) or not is_unlocked(before), f"{name} was made writable")


def keeps_nothing_of_what_it_was_given(part: Any, kind: Kind, registry: Registry) -> None:
    """The same fit, time after time, takes no more memory: nothing holds on to its rows, posteriors
    or states. (A cache of inputs by their values holds them once.)"""
    data = training_set(part, rows=MANY if is_matrix(training_set(part).X) else FEW)
    require_memory_back(lambda: fitted(part, kind.name, data), "the same fit")


def warns_of_nothing(part: Any, kind: Kind, registry: Registry) -> None:
    """An ordinary fit gives no warning: what is meant is said with ``np.errstate``, and what the
    user should know in a note."""
    with catch_warnings(record=True) as said:
        simplefilter("always")
        fitted(part, kind.name, training_set(part))
    found = [each for each in said if not issubclass(each.category, ChanceLevelWarning)]
    for each in found[:1]:
        place = f"{Path(each.filename).name}, line {each.lineno}"
        require(False, f"{each.category.__name__}: {each.message} ({place})")


LAWS = (
    a_fit_in_between_changes_nothing,
    leaves_the_users_data_alone,
    same_bits_in_another_process,
    leaves_the_process_as_it_was,
    keeps_nothing_of_what_it_was_given,
    warns_of_nothing,
)

MANY, FEW = 1000, 120
"""How many rows the fits have that might be kept; few where a kernel brings its own inputs."""
