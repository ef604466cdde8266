"""The direction of the paper's main claims, on generated data. The whole is `docs/experiments`."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from sgpc_framework.lab.cells import Cell, data_of
from sgpc_framework.lab.methods import ENTROPY, PROPOSED, adaptive, random
from sgpc_framework.metrics.statistics import Mean

PARTITIONS = range(12)


@pytest.fixture(autouse=True)
def _generated(monkeypatch):
    monkeypatch.delenv("SGPC_DATA_DIR", raising=False)
    data_of.cache_clear()


@cache
def losses(method: str) -> np.ndarray:
    """Test NLP on Waveform with 40 basis vectors, a thousand training rows, one a partition."""
    cells = (Cell("waveform", p, method, size=40, iterations=3, rows=1000) for p in PARTITIONS)
    return np.array([cell.compute()["test_nlp"] for cell in cells])


def test_adaptive_sampling_beats_random_sampling_with_the_same_working_set():
    """By more than two standard errors; over 48 partitions it is six of them."""
    gains = [losses(random(k)) - losses(adaptive(k)) for k in (2, 5)]
    found = Mean.of(np.concatenate(gains))
    assert found.value > 2.0 * found.error


def test_the_proposed_method_beats_entropy_everywhere():
    assert np.all(losses(PROPOSED) < losses(ENTROPY) - 0.02)
