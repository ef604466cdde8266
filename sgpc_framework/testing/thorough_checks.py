"""The thorough laws of every part, whatever its kind: those that only whole fits can show.

Each docstring is what a failing check says was wanted.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np

from sgpc_framework.plugin.kinds import Kind
from sgpc_framework.plugin.registry import Registry
from sgpc_framework.testing.elsewhere import HERE, THERE, reports
from sgpc_framework.testing.samples import is_unlocked, locked
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


LAWS = (
    a_fit_in_between_changes_nothing,
    leaves_the_users_data_alone,
    same_bits_in_another_process,
    leaves_the_process_as_it_was,
)
