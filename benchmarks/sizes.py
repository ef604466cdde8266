"""What ``max_basis = "auto"`` chooses, and what the choice costs: ``python -m benchmarks.sizes``.

One partition of each set of the quality benchmark (``problems``), for each preset. Beside it stand
fits with 80 basis vectors and, for the time, with the size that was chosen; all three in turns.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
from collections.abc import Sequence
from time import process_time

import attrs

import sgpc_framework as sgpc
from benchmarks.problems import Problem, development, problem
from sgpc_framework import datasets
from sgpc_framework.metrics.predictions import Predictions
from sgpc_framework.model.model import Model

USUAL = 80
SUITS = 0.01
"""Losses that differ by no more than this share are called equal."""


@attrs.frozen
class Fitted:
    """A model, its NLP on the test rows, and the processor seconds that it took."""

    model: Model
    nlp: float
    seconds: float

    @classmethod
    def of(cls, preset: str, data: Problem, max_basis: int | str) -> Fitted:
        began = process_time()
        model = sgpc.build(preset, max_basis=max_basis).fit(data.X, data.y)
        seconds = process_time() - began
        return cls(model, Predictions.of(model, data.X_test, data.y_test).merits.nlp, seconds)


def compare(preset: str, sets: Sequence[str], partition: int) -> None:
    """A line for each set, and a summary."""
    worse, better, times = 0, 0, []
    print(
        f"| set, {preset} | tried | chosen | NLP | NLP with {USUAL} | seconds / those of its size |"
    )
    print("|---|---|---|---|---|---|")
    for name in sets:
        data = problem(name, partition)
        auto, usual = (Fitted.of(preset, data, size) for size in ("auto", USUAL))
        size = len(auto.model)
        same = usual if size == USUAL else Fitted.of(preset, data, size)
        times.append(auto.seconds / same.seconds)
        worse += auto.nlp > (1.0 + SUITS) * usual.nlp
        better += auto.nlp < (1.0 - SUITS) * usual.nlp
        tried = [record.size for record in auto.model.trace.sizes]
        print(
            f"| {name} | {min(tried)} to {max(tried)} | {size} | {auto.nlp:.4f} | {usual.nlp:.4f} "
            f"| {auto.seconds:.1f} / {same.seconds:.1f} = {times[-1]:.1f} |",
            flush=True,
        )
    print(
        f"\n{preset}: of {len(sets)} sets, worse than {USUAL} by more than {SUITS:.0%} on {worse}, "
        f"better on {better}; {sum(times) / len(times):.2f} x the time of the size chosen, "
        f"at most {max(times):.2f}\n"
    )


def main() -> None:
    everything = [*datasets.available(), *development()]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="+", choices=everything, default=everything)
    parser.add_argument("--presets", nargs="+", default=["fast", "accurate"])
    parser.add_argument("--partition", type=int, default=0)
    given = parser.parse_args()
    warm = problem(given.sets[0], 0).first_rows(100)
    for preset in given.presets:
        Fitted.of(preset, warm, 5)  # loads what is used
        compare(preset, given.sets, given.partition)


if __name__ == "__main__":
    main()
