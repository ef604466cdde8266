"""The problems of the quality benchmark, each divided into training and test rows.

- The six sets of the paper, as ``datasets.benchmark`` has them; those that can be generated are
  there on every machine. Partitions begin with 10: on earlier ones the presets were tuned.
- Development sets, one file ``development/NAME.npz`` each, below the folder that ``SGPC_DATA_DIR``
  names: ``X`` with NaN for what is missing, and ``y`` from 0. Of a permutation of the rows
  (``default_rng(1000 + partition)``), the first 70 % are for training, at most 2500; the rest is
  for testing, at most 5000. Missing values become the median of the training rows, columns are
  standardised by the training rows, and constant ones are left out.
- ``friedman``: the function of J. Friedman, "Multivariate adaptive regression splines" (1991), cut
  at the median. Five of its ten features are relevant.
- ``products-1e4``, ``-1e5`` and ``-1e6``: twenty standard normal features, of which six matter,

      logit p(x) = 2 x1 x2 + 2 sin(1.5 x3) x4 + 1.5 x5 x6,

  and labels that are drawn from p. What no classifier can be better than is known row by row.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import attrs
import numpy as np
from numpy.typing import NDArray

from sgpc_framework import datasets
from sgpc_framework.datasets.set_files import folder
from sgpc_framework.errors import InputError

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]

FOLDER = "development"
MOST_TRAINING, MOST_TEST = 2500, 5000
PRODUCTS: Mapping[str, int] = {f"products-1e{power}": 10**power for power in (4, 5, 6)}
FIRST_OF_THE_SIX = 10


@attrs.frozen(eq=False)
class Problem:
    """Rows to learn from and rows to be judged on, labels from 0; ``source`` says whence.

    ``bayes`` is the NLP of the true probabilities on these test rows, where they are known.
    """

    name: str
    X: Floats
    y: Codes
    X_test: Floats
    y_test: Codes
    source: str
    bayes: float = 0.0

    def first_rows(self, rows: int | None) -> Problem:
        """The same with the first of the training rows alone, if a number is given."""
        return attrs.evolve(self, X=self.X[:rows], y=self.y[:rows])


def problem(name: str, partition: int) -> Problem:
    """The problem of that name, divided or drawn in the way that ``partition`` numbers from 0."""
    if name == "friedman":
        return friedman(partition)
    if name in PRODUCTS:
        return products(name, PRODUCTS[name], partition)
    if name in datasets.BENCHMARKS:
        data = datasets.benchmark(name, FIRST_OF_THE_SIX + partition)
        y, y_test = ((labels > 0.0).astype(np.intp) for labels in (data.y, data.y_test))
        return Problem(name, data.X, y, data.X_test, y_test, data.source)
    path = development_file(name)
    if path is None:
        raise InputError(
            f"wanted a file {FOLDER}/{name}.npz below the folder that "
            f"{datasets.FOLDER_VARIABLE} names, found none; there are "
            f"{', '.join((*datasets.available(), *development(), 'friedman', *PRODUCTS))}"
        )
    with np.load(path, allow_pickle=False) as arrays:
        return divided(name, arrays["X"], arrays["y"], partition)


def development() -> tuple[str, ...]:
    """The names of the development sets that are there; those of many classes begin with mc_."""
    below = folder()
    return () if below is None else tuple(sorted(p.stem for p in (below / FOLDER).glob("*.npz")))


def development_file(name: str) -> Path | None:
    """Where the set is, if it is there."""
    below = folder()
    path = None if below is None else below / FOLDER / f"{name}.npz"
    return path if path and path.is_file() else None


def divided(name: str, X: Floats, y: NDArray[np.generic], partition: int) -> Problem:
    """A development set, prepared as said above."""
    order = np.random.default_rng(1000 + partition).permutation(len(y))
    cut = int(0.7 * len(y))
    train, test = order[:cut][:MOST_TRAINING], order[cut:][:MOST_TEST]
    X, codes = X.astype(np.float64), y.astype(np.intp)
    X = X[:, ~np.isnan(X[train]).all(axis=0)]
    filled = np.where(np.isnan(X), np.nanmedian(X[train], axis=0), X)
    mean, deviation = filled[train].mean(axis=0), filled[train].std(axis=0)
    varying = deviation > 0.0
    scaled = (filled[:, varying] - mean[varying]) / deviation[varying]
    return Problem(
        name, scaled[train], codes[train], scaled[test], codes[test], f"random split {partition}"
    )


def friedman(seed: int, rows: int = MOST_TRAINING) -> Problem:
    """Friedman's function with its noise of deviation 1, against its median.

    f(x) = 10 sin(π x1 x2) + 20 (x3 - ½)² + 10 x4 + 5 x5,   x uniform in [0, 1]^10
    """
    rng = np.random.default_rng(seed)
    x = rng.random((rows + MOST_TEST, 10))
    f = 10 * np.sin(np.pi * x[:, 0] * x[:, 1]) + 20 * (x[:, 2] - 0.5) ** 2
    values = f + 10 * x[:, 3] + 5 * x[:, 4] + rng.standard_normal(len(x))
    y = (values > np.median(values)).astype(np.intp)
    X = (x - 0.5) * np.sqrt(12.0)  # mean 0 and deviation 1
    return Problem("friedman", X[:rows], y[:rows], X[rows:], y[rows:], f"generated, seed {seed}")


def products(name: str, rows: int, seed: int, test: int = 20_000) -> Problem:
    """The products above. The test rows are the same for any number of training rows."""
    rng = np.random.default_rng(seed)

    def draw(count: int) -> tuple[Floats, Codes, Floats]:
        x = rng.standard_normal((count, 20))
        logit = 2 * x[:, 0] * x[:, 1] + 2 * np.sin(1.5 * x[:, 2]) * x[:, 3]
        logit += 1.5 * x[:, 4] * x[:, 5]
        y = (rng.random(count) < 1.0 / (1.0 + np.exp(-logit))).astype(np.intp)
        return x, y, np.logaddexp(0.0, np.where(y == 1, -logit, logit))

    X_test, y_test, least = draw(test)
    X, y, _ = draw(rows)
    return Problem(name, X, y, X_test, y_test, f"generated, seed {seed}", float(least.mean()))
