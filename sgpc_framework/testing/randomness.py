"""Python's and numpy's global random generators, which no part may touch or depend on."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import numpy as np

from sgpc_framework.testing.verdict import Violation

T = TypeVar("T")


@contextmanager
def global_seed(seed: int) -> Iterator[None]:
    """Both global generators with a known seed; afterwards they are as they were."""
    python, legacy = random.getstate(), np.random.get_state()  # noqa: NPY002  it is watched
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002
    try:
        yield
    finally:
        random.setstate(python)
        np.random.set_state(legacy)  # noqa: NPY002


def under_two_global_seeds(act: Callable[[], T]) -> tuple[T, T]:
    """What ``act`` returns under two global seeds; ``Violation`` if it moves a generator."""
    first, second = (_watched(act, seed) for seed in (1, 2))
    return first, second


def repeated(act: Callable[[], T]) -> tuple[T, T]:
    """What ``act`` returns twice, with the global generators where they were.

    So whoever uses them is not blamed for being undecided, but only for using them.
    """
    with global_seed(1):
        first = act()
    with global_seed(1):
        return first, act()


def _watched(act: Callable[[], T], seed: int) -> T:
    with global_seed(seed):
        python, legacy = random.getstate(), _legacy_state()
        result = act()
        if _legacy_state() != legacy:
            raise Violation("it draws from numpy.random, whose state it changed")
        if random.getstate() != python:
            raise Violation("it draws from Python's random, whose state it changed")
        return result


def _legacy_state() -> str:
    state = np.random.get_state(legacy=False)  # noqa: NPY002
    assert isinstance(state, dict)
    return repr([state["state"]["pos"], state["state"]["key"].tolist(), state["has_gauss"]])
