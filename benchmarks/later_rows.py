"""More rows later: what going on from a model saves, and what a bounded number of rows costs.

    python -m benchmarks.survival later
    python -m benchmarks.survival stream

``later`` (or of some presets: ``later paper fast``) fits 1000 rows, then 1200 of which they are the
first: afresh, and from the model. ``stream`` feeds 20 000 rows to ``partial_fit`` in portions of
2000. Seconds are those of the processor; NLP is that of 10 000 test rows, in the mean over the
generated sets and seeds.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from collections.abc import Sequence
from statistics import mean, median
from time import process_time
from typing import Any

import numpy as np

import sgpc_framework as sgpc
from sgpc_framework import datasets
from sgpc_framework.metrics.merits import nlp

SETS = {"waveform": datasets.waveform, "twonorm": datasets.twonorm}
SEEDS = (1, 2, 3)
FIRST, ALL, TEST = 1000, 1200, 10_000
STREAM, PORTION = 20_000, 2000


def judged(model: Any, X: Any, y: Any) -> float:
    """NLP of test rows."""
    return nlp(model.predict_log_proba(X), np.searchsorted(model.classes, y))


def later(arguments: Sequence[str] = ()) -> None:
    """The table of fits that go on from a model."""
    print("| preset | afresh | from the model | NLP afresh | NLP from the model | NLP before |")
    print("|---|---|---|---|---|---|")
    for preset in arguments or ("paper", "fast", "accurate"):
        design = sgpc.build(preset, max_basis=40)
        rows = []
        for make in SETS.values():
            for seed in SEEDS:
                X, y = make(ALL, seed=seed)
                test = make(TEST, seed=100 + seed)
                first = design.fit(X[:FIRST], y[:FIRST])
                began = process_time()
                afresh = design.fit(X, y)
                between = process_time()
                further = design.fit(X, y, start=first)
                end = process_time()
                losses = (judged(each, *test) for each in (afresh, further, first))
                rows.append((between - began, end - between, *losses))
        seconds = [median(column) for column in list(zip(*rows, strict=True))[:2]]
        losses_ = [mean(column) for column in list(zip(*rows, strict=True))[2:]]
        texts = [f"{each:.2f} s" for each in seconds] + [f"{each:.4f}" for each in losses_]
        print(f"| `{preset}` | {' | '.join(texts)} |", flush=True)


def stream(arguments: Sequence[str] = ()) -> None:
    """The table of streams of which some rows are kept."""
    from sgpc_framework import SGPClassifier

    print("| kept | NLP in the end | seconds of the last portion | of all |\n|---|---|---|---|")
    make = SETS["waveform"]
    X, y = make(STREAM, seed=1)
    test = make(TEST, seed=101)
    for keep, warm in ((1000, True), (4000, True), (4000, False), (True, True), (True, False)):
        classifier = SGPClassifier("fast", max_basis=40, keep_rows=keep, warm_start=warm)
        seconds = []
        for start in range(0, STREAM, PORTION):
            began = process_time()
            classifier.partial_fit(X[start : start + PORTION], y[start : start + PORTION])
            seconds.append(process_time() - began)
        loss = judged(classifier.model_, *test)
        what = f"{'all' if keep is True else keep}{', warm start' if warm else ''}"
        print(f"| {what} | {loss:.4f} | {seconds[-1]:.2f} | {sum(seconds):.1f} |", flush=True)
