"""Designs compared on a table: every row is predicted by a model that has not seen it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from time import perf_counter
from typing import Any
from warnings import catch_warnings

import attrs
import numpy as np
from numpy.typing import NDArray

from sgpc_framework.design import Design
from sgpc_framework.engine.progress import Progress
from sgpc_framework.errors import ChanceLevelWarning, InputError
from sgpc_framework.lab.baselines import Baseline
from sgpc_framework.metrics.figures_of_merit import Merits
from sgpc_framework.metrics.statistics import Mean, compare, holm
from sgpc_framework.tables.labels import training_labels
from sgpc_framework.tables.table import Table
from sgpc_framework.tables.table_classifier import TableClassifier


@attrs.frozen
class Score:
    """A design at a size: means over the folds, and the standard errors of these means.

    ``basis`` is the size that was had, on average: a fit may end before ``size``. ``seconds`` are
    those of the fit, which holds all sizes. ``fold_error`` and ``fold_nlp`` have an entry for each
    fold, and so have the ``figures``: every other figure of merit by its name. A baseline has no
    basis vectors: its ``size`` is 0. NLP is the log loss, by the paper's name.
    """

    design: str
    size: int
    basis: float
    error: float
    error_noise: float
    nlp: float
    nlp_noise: float
    seconds: float
    fold_error: tuple[float, ...] = ()
    fold_nlp: tuple[float, ...] = ()
    figures: Mapping[str, Mean] = attrs.field(factory=dict)


FIGURES: Mapping[str, Callable[[Merits], float]] = {
    "balanced_error": lambda merits: merits.balanced_error,
    "auc": lambda merits: merits.auc,
    "average_precision": lambda merits: merits.average_precision,
    "brier": lambda merits: merits.brier.score,
    "calibration_error": lambda merits: merits.calibration_error,
}
"""What a score has besides error and log loss."""


@attrs.frozen
class Pair:
    """A score beside the one with the least NLP: the differences in NLP, fold by fold.

    ``p`` is by Student's t with the variance that folds of the same rows have (Nadeau and Bengio),
    ``p_holm`` with Holm's correction for all pairs, ``p_wilcoxon`` by signed ranks, which cannot
    fall below 0.05 with fewer than six folds. ``effect`` is the rank-biserial correlation.
    """

    design: str
    size: int
    beside: str
    beside_size: int
    difference: float
    noise: float
    effect: float
    p: float
    p_holm: float
    p_wilcoxon: float


def pairs(scores: Sequence[Score]) -> list[Pair]:
    """Every score beside the best one."""
    best = min(scores, key=lambda score: score.nlp)
    others = [score for score in scores if score is not best]
    share = 1.0 / (len(best.fold_nlp) - 1)  # test rows by training rows
    tests = [compare(score.fold_nlp, best.fold_nlp, share) for score in others]
    corrected = holm([test.p_corrected for test in tests])
    return [
        Pair(
            *(score.design, score.size, best.design, best.size, test.difference, test.error),
            *(test.effect, test.p_corrected, p, test.p),
        )
        for score, test, p in zip(others, tests, corrected, strict=True)
    ]


def folds(labels: NDArray[Any], count: int, seed: int) -> NDArray[np.intp]:
    """The fold of each row: at random, but of each class about as many rows in every fold.

    >>> fold = folds(np.array(["a"] * 4 + ["b"] * 2), 2, seed=0)
    >>> sorted(fold[:4].tolist()), sorted(fold[4:].tolist())
    ([0, 0, 1, 1], [0, 1])
    """
    rng = np.random.default_rng(seed)
    classes, sizes = np.unique(labels, return_counts=True)
    if sizes.min() < count:
        raise InputError(
            f"wanted at least {count} rows of every class, one a fold, found {sizes.min()} of "
            f"{classes[sizes.argmin()]!s}: take fewer folds"
        )
    fold = np.empty(len(labels), dtype=np.intp)
    for label in classes:
        rows = rng.permutation(np.flatnonzero(labels == label))
        fold[rows] = np.arange(len(rows)) % count
    return fold


def cross_validate(
    table: Table,
    target: str,
    designs: Mapping[str, Design | Baseline],
    sizes: Sequence[int],
    count: int,
    seed: int = 0,
    progress: Callable[[str, int, Progress | None], object] = lambda *_: None,
    **encoding: Any,
) -> Iterator[Score]:
    """The scores of each design at each size, over ``count`` folds that all designs share.

    A design may be a baseline, which has one score.

    One fit holds all sizes: a refiner runs at each of them, and without one the smaller models are
    its first stages. The encoding is learned from the training rows of each fold. ``progress`` is
    told the name of the design and the number of the fold with what the fit has to tell, and None
    before each fit.
    """
    name, labels = training_labels(table, target)
    fold = folds(labels, count, seed)
    largest, smaller = max(sizes), tuple(sorted(set(sizes))[:-1])
    for title, design in designs.items():
        if isinstance(design, Baseline):
            yield _score_baseline(table, name, title, design, fold, count, seed, progress, encoding)
            continue
        nested = Design(attrs.evolve(design.config, max_basis=largest, sizes=smaller))
        merits: list[list[tuple[Merits, int]]] = []
        seconds = []
        for turn in range(count):
            progress(title, turn, None)
            train = table.rows(np.flatnonzero(fold != turn))
            test = table.rows(np.flatnonzero(fold == turn))
            began = perf_counter()
            with catch_warnings(action="ignore", category=ChanceLevelWarning):  # the scores say it
                classifier = TableClassifier.fit(
                    train,
                    name,
                    nested,
                    progress=partial(progress, title, turn),
                    **encoding,
                )
            seconds.append(perf_counter() - began)
            merits.append(list(_merits(classifier, test, (*smaller, largest))))
        for size, each in zip((*smaller, largest), zip(*merits, strict=True), strict=True):
            yield _score(title, size, each, float(np.mean(seconds)))


def _merits(
    classifier: TableClassifier, test: Table, sizes: Sequence[int]
) -> Iterator[tuple[Merits, int]]:
    truth = classifier.codes(test)
    for size in sizes:
        had = max((s for s in classifier.sizes if s <= size), default=len(classifier))
        model = classifier.truncated(had) if had in classifier.sizes else classifier
        yield Merits.of(model.predict_log_proba(test), truth), had


def _score(design: str, size: int, each: Sequence[tuple[Merits, int]], seconds: float) -> Score:
    basis = float(np.mean([basis for _, basis in each]))
    error = Mean.of([merits.error for merits, _ in each])
    nlp = Mean.of([merits.nlp for merits, _ in each])
    return Score(
        *(design, size, basis, error.value, error.error, nlp.value, nlp.error, seconds),
        fold_error=tuple(merits.error for merits, _ in each),
        fold_nlp=tuple(merits.nlp for merits, _ in each),
        figures={
            name: Mean.of([figure(merits) for merits, _ in each])
            for name, figure in FIGURES.items()
        },
    )


def _score_baseline(
    table: Table,
    target: str,
    title: str,
    baseline: Baseline,
    fold: NDArray[np.intp],
    count: int,
    seed: int,
    progress: Callable[[str, int, Progress | None], object],
    encoding: Mapping[str, Any],
) -> Score:
    merits, seconds = [], []
    for turn in range(count):
        progress(title, turn, None)
        test = table.rows(np.flatnonzero(fold == turn))
        began = perf_counter()
        fitted = baseline.fit(table.rows(np.flatnonzero(fold != turn)), target, seed, **encoding)
        seconds.append(perf_counter() - began)
        merits.append((Merits.of(fitted.predict_log_proba(test), fitted.codes(test)), 0))
    return _score(title, 0, merits, float(np.mean(seconds)))
