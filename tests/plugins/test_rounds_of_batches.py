"""Very many rows: how long the corrective refiner goes on by batches."""

from __future__ import annotations

import numpy as np
import pytest

from sgpc_framework.rows.training_rows import TrainingRows
from sgpc_plugins.refiners.corrective import many_rows
from sgpc_plugins.refiners.corrective.corrective import Corrective

ROWS = TrainingRows.of(np.arange(400.0)[:, None], np.resize([-1.0, 1.0], 400))


class Losses:
    """What judges say of a round (first) and of what it began with."""

    def __init__(self, after, before, clearly=True):
        self.means = np.array([after, before])
        self._clearly = clearly

    def clearly_better(self, a, b, standard_errors):
        assert (a, b, standard_errors) == (0, 1, many_rows.STANDARD_ERRORS)
        return self._clearly


def rounds(monkeypatch, *said):
    """The rounds that are made, and which of them is returned, if judges say so."""
    made, says = [], iter(said)

    class Search:
        def run(self, begin, rows, effort, rng, what, without):
            assert len(without) == len(set(without.tolist())) == 20  # one row in twenty judges
            made.append((begin, effort.batches))
            return len(made)

    def judged(states, judges):
        assert len(judges) == 20
        assert states == [len(made), made[-1][0]]
        return next(says)

    monkeypatch.setattr(many_rows, "paired_losses", judged)
    best = many_rows.refine_by_batches(Search(), 0, ROWS, np.random.default_rng(0))
    return made, best


def test_rounds_are_twice_as_long_each_as_long_as_they_pay(monkeypatch):
    made, best = rounds(monkeypatch, Losses(0.9, 1.0), Losses(0.8, 0.9), Losses(0.9, 0.8))
    assert made == [(0, 500), (1, 1000), (2, 2000)]
    assert best == 2


def test_the_longest_round_is_the_last(monkeypatch):
    made, best = rounds(monkeypatch, *[Losses(0.5, 1.0)] * 6)
    assert [batches for _, batches in made] == [500, 1000, 2000, 4000, 8000, 16000]
    assert best == 6


@pytest.mark.parametrize(
    ("losses", "goes_on"),
    [
        (Losses(0.9969, 1.0), True),
        (Losses(0.9971, 1.0), False),
        (Losses(0.9, 1.0, clearly=False), False),
        (Losses(0.9971, 1.0, clearly=False), False),
    ],
)
def test_what_gains_little_or_perhaps_nothing_is_kept_and_is_the_last(monkeypatch, losses, goes_on):
    made, best = rounds(monkeypatch, losses, Losses(1.0, 1.0))
    assert len(made) == 1 + goes_on
    assert best == 1, "a round that is as good as the one before it changes nothing"


class Chosen:
    penalty, elbo_share, tied = 0.25, 0.5, True


def test_who_goes_on_with_few_rows_needs_no_batches():
    first = Corrective()
    for rows, batches in [(many_rows.MANY, 0), (many_rows.MANY + 1, first.batches)]:
        after = first._settled(Chosen(), rows)
        assert (after.batches, after.settling) == (batches, 0)
        assert (after.penalty, after.elbo_share, after.tied) == (0.25, 0.5, True)
        assert after.kernels == after.terms == after.warps == after.likelihoods == ()
