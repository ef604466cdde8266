"""Who watches a refiner: told while he wants to be, and never after he had enough."""

from __future__ import annotations

import pytest

from sgpc_framework.engine.progress import Patience, Progress
from sgpc_framework.errors import StopFitting
from sgpc_framework.protocols import Refining

STAGE = Progress(*(1 for _ in range(len(Progress._fields) - 3)))
TOLD = Refining("a run", 1, 2, 0.5)


def test_nobody_is_told_before_the_first_stage():
    seen = []
    patience = Patience(seen.append)
    assert patience.refining(TOLD)
    assert seen == []


def test_is_told_of_the_last_stage():
    seen = []
    patience = Patience(seen.append)
    patience.stage(STAGE)
    assert patience.refining(TOLD)
    assert seen == [STAGE, STAGE._replace(refining=TOLD)]


def test_had_enough():
    seen = []

    def watch(progress):
        seen.append(progress)
        if progress.refining is not None:
            raise StopFitting

    patience = Patience(watch)
    patience.stage(STAGE)
    assert not patience.refining(TOLD)
    assert patience.over
    assert not patience.refining(TOLD)
    assert len(seen) == 2
    assert patience.failure is None


def test_a_failure_is_kept_and_raised():
    def watch(progress):
        if progress.refining is not None:
            raise ValueError("no screen")

    patience = Patience(watch)
    patience.stage(STAGE)
    with pytest.raises(ValueError, match="no screen"):
        patience.refining(TOLD)
    assert isinstance(patience.failure, ValueError)
    assert not patience.over
