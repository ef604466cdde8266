"""A short soak, and that the judge of a long one can say no (``python -m benchmarks.soak``)."""

from __future__ import annotations

import os
import sys
from itertools import count

import attrs
import pytest

pytest.importorskip("benchmarks", reason="benchmarks are in the repository, not in a wheel")

from benchmarks.soak import Fit, Footprint, Soak, fits, soak

linux = pytest.mark.skipif(sys.platform != "linux", reason="footprints are read from /proc")


@linux
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_fits_in_threads_and_children_leave_nothing_behind_and_have_the_same_bits():
    result = soak([*fits(2), *fits(5)[4:]] * 6, together=3)
    assert result.fits == 18
    assert list(result.problems()) == []


@linux
def test_other_bits_are_noticed(monkeypatch):
    numbers = count()
    monkeypatch.setattr(Fit, "bits", lambda _: next(numbers).to_bytes(32, "big"))
    result = soak(fits(4), together=2)
    assert len(result.different) == 4
    assert "other bits" in next(result.problems())


@pytest.mark.parametrize(
    ("grown", "word"),
    [({"megabytes": 300.0}, "memory"), ({"descriptors": 8}, "files"), ({"threads": 2}, "threads")],
)
def test_growth_is_noticed(grown, word):
    before = Footprint(200.0, 7, 1)
    result = Soak([before] * 5 + [attrs.evolve(before, **grown)], [], 60, 1.0)
    (problem,) = result.problems()
    assert word in problem
    assert list(Soak([before] * 6, [], 60, 1.0).problems()) == []


@linux
def test_a_footprint_sees_an_open_file(tmp_path):
    before = Footprint.now()
    with (tmp_path / "open").open("w"):
        assert Footprint.now().descriptors == before.descriptors + 1
    assert Footprint.now().descriptors == before.descriptors
    assert before.threads >= 1
    assert 10.0 < before.megabytes < os.sysconf("SC_PHYS_PAGES") * 4096 / 2**20
