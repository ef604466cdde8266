"""Data sets: three that can be generated anywhere, and the six benchmark sets of the paper.

``waveform``, ``twonorm`` and ``ringnorm`` return ``X`` (rows x features) and ``y`` in {-1, +1},
the same for the same seed. The definitions are those of L. Breiman, "Bias, variance and arcing
classifiers" (1996), and of Breiman et al., "Classification and Regression Trees" (1984) for
Waveform.

``benchmark`` returns one of the sets of G. Raetsch, T. Onoda and K.-R. Mueller, "Soft margins for
AdaBoost" (2001), divided into training and test rows as in the paper. It reads ``NAME.npz`` in the
folder that the environment variable ``SGPC_DATA_DIR`` names.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from zipfile import BadZipFile
from zlib import error as CorruptError

import attrs
import numpy as np
from numpy.typing import NDArray

from sgpc_framework.errors import InputError, suggestion

Floats = NDArray[np.float64]
Arrays = Mapping[str, NDArray[np.generic]]
Rows = NDArray[np.intp]

FOLDER_VARIABLE = "SGPC_DATA_DIR"


def waveform(rows: int, seed: int = 0) -> tuple[Floats, Floats]:
    """Waveform: 21 features; mixtures of two of three triangular waves, plus unit noise.

        x = u hₐ + (1 - u) h_b + noise,   u uniform in (0, 1)

    The pairs (a, b) are (1, 2), (1, 3) and (2, 3), equally likely; +1 is the second of them.
    """
    rng = np.random.default_rng(seed)
    time = np.arange(1, 22)
    waves = np.maximum(6.0 - np.abs(time - np.array([[11], [15], [7]])), 0.0)
    pair = rng.integers(3, size=rows)
    first, second = np.array([0, 0, 1])[pair], np.array([1, 2, 2])[pair]
    u = rng.random((rows, 1))
    X = u * waves[first] + (1.0 - u) * waves[second] + rng.standard_normal((rows, 21))
    return X, np.where(pair == 1, 1.0, -1.0)


def twonorm(rows: int, seed: int = 0) -> tuple[Floats, Floats]:
    """Twonorm: 20 features; unit normals around (a, ..., a) and (-a, ..., -a), a = 2/√20."""
    rng = np.random.default_rng(seed)
    y = rng.choice([-1.0, 1.0], size=rows)
    return rng.standard_normal((rows, 20)) + y[:, None] * 2.0 / np.sqrt(20.0), y


def ringnorm(rows: int, seed: int = 0) -> tuple[Floats, Floats]:
    """Ringnorm: 20 features; +1 is N(0, 4 I), -1 is N((a, ..., a), I) with a = 2/√20."""
    rng = np.random.default_rng(seed)
    y = rng.choice([-1.0, 1.0], size=rows)
    wide = (y > 0.0)[:, None]
    noise = rng.standard_normal((rows, 20))
    return np.where(wide, 2.0 * noise, noise + 2.0 / np.sqrt(20.0)), y


@attrs.frozen
class Facts:
    """What is known of a benchmark set: its size, its class balance and the paper's division."""

    rows: int
    features: int
    positive: int
    """How many rows are labelled +1."""

    train: int
    """How many rows the paper trains with; it tests with the others."""

    generate: Callable[[int, int], tuple[Floats, Floats]] | None = None
    """Makes rows of the same distribution from their number and a seed, where that is known."""

    @property
    def test(self) -> int:
        return self.rows - self.train

    @property
    def negative(self) -> int:
        return self.rows - self.positive


BENCHMARKS: Mapping[str, Facts] = MappingProxyType(
    {
        "banana": Facts(5300, 2, positive=2376, train=4000),
        "waveform": Facts(5000, 21, positive=1647, train=4000, generate=waveform),
        "twonorm": Facts(7400, 20, positive=3703, train=4000, generate=twonorm),
        "ringnorm": Facts(7400, 20, positive=3664, train=4000, generate=ringnorm),
        "splice": Facts(3175, 60, positive=1648, train=2000),
        "image": Facts(2310, 18, positive=1320, train=1300),
    }
)
"""The six sets by name, in the paper's order."""


@attrs.frozen(eq=False)
class Benchmark:
    """A benchmark set in two parts, labels in {-1, +1}; ``source`` says how it was divided."""

    name: str
    X: Floats
    y: Floats
    X_test: Floats
    y_test: Floats
    source: str


def available() -> tuple[str, ...]:
    """The names that ``benchmark`` can serve here: all that have a file or a generator."""
    return tuple(name for name, facts in BENCHMARKS.items() if facts.generate or _file(name))


def where(name: str) -> str | None:
    """The file of a benchmark set, or "generated" if it can be; None if it cannot be had here."""
    found = _file(name)
    return str(found) if found else "generated" if BENCHMARKS[name].generate else None


def benchmark(name: str, partition: int = 0) -> Benchmark:
    """A benchmark set in the paper's sizes, divided in the way that ``partition`` numbers.

    The first partitions are the splits that the file holds. Raetsch trains with 400 rows of most
    sets; like the paper, this moves the first of his test rows to the training rows until these
    are as many as the paper has. Later partitions are random, the same for the same number.
    Without a file, Waveform, Twonorm and Ringnorm are generated with ``partition`` as the seed
    (the files are standardised, generated rows are not), and the others are an ``InputError``.

    >>> data = benchmark("twonorm")
    >>> data.X.shape, data.X_test.shape
    ((4000, 20), (3400, 20))
    """
    if name not in BENCHMARKS:
        raise InputError(f"no benchmark set {name!r}; {suggestion(name, BENCHMARKS)}")
    if partition < 0:
        raise InputError(f"wanted a partition of at least 0, found {partition}")
    facts, path = BENCHMARKS[name], _file(name)
    if path is not None:
        arrays = _checked(_arrays(path), facts, path)
        rows, source = _division(arrays, partition, path)
        X, y = arrays["X"].astype(np.float64)[rows], arrays["y"].astype(np.float64)[rows]
    elif facts.generate is not None:
        (X, y), source = facts.generate(facts.rows, partition), "generated"
    else:
        raise InputError(_absent(name))
    n = facts.train
    return Benchmark(name, X[:n], y[:n], X[n:], y[n:], source)


def _file(name: str) -> Path | None:
    """Where the set is, if the variable names a folder that has it."""
    folder = os.environ.get(FOLDER_VARIABLE)
    path = Path(folder, f"{name}.npz") if folder else None
    return path if path and path.is_file() else None


def _absent(name: str) -> str:
    folder = os.environ.get(FOLDER_VARIABLE)
    found = f"{folder} does not have it" if folder else f"{FOLDER_VARIABLE} is not set"
    return (
        f"wanted the benchmark set {name!r} in a file {name}.npz, but {found}, and {name} cannot "
        f"be generated; let {FOLDER_VARIABLE} name the folder with that file, or take one of "
        f"{', '.join(other for other, facts in BENCHMARKS.items() if facts.generate)}"
    )


def _arrays(path: Path) -> Arrays:
    """All arrays of the file, by name. Nothing in it is ever unpickled."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as found:
            return dict(found)
    except (BadZipFile, CorruptError, EOFError, TypeError, ValueError) as problem:
        raise InputError(
            f"{path}: wanted an npz file of plain arrays: {problem}; fetch it again"
        ) from problem


def _checked(arrays: Arrays, facts: Facts, path: Path) -> Arrays:
    """The same arrays, if size and class balance are those of the set."""
    if not {"X", "y"} <= set(arrays):
        raise InputError(
            f"{path}: wanted arrays X and y, found {', '.join(sorted(arrays)) or 'none'}"
        )
    X, y = arrays["X"], arrays["y"]
    shapes = (facts.rows, facts.features), (facts.rows,)
    if (X.shape, y.shape) != shapes:
        raise InputError(
            f"{path}: wanted X and y of shapes {shapes[0]} and {shapes[1]}, "
            f"found {X.shape} and {y.shape}; this is another set, or a part of it"
        )
    wanted = facts.positive, facts.negative
    balance = int(np.sum(y == 1)), int(np.sum(y == -1))
    if balance != wanted:
        raise InputError(
            f"{path}: wanted {wanted[0]} labels +1 and {wanted[1]} labels -1, "
            f"found {balance[0]} and {balance[1]}; labels are wrong or exchanged"
        )
    return arrays


def _division(arrays: Arrays, partition: int, path: Path) -> tuple[Rows, str]:
    """The rows in the order training, test; and what kind of division that is."""
    count = len(arrays["y"])
    for prefix, whose in (("", "Raetsch's"), ("libsvm_", "LIBSVM's")):
        train, test = (arrays.get(f"{prefix}{part}") for part in ("train", "test"))
        if train is None or test is None or partition >= min(len(train), len(test)):
            continue
        rows = np.concatenate([train[partition], test[partition]]).astype(np.intp)
        if not np.array_equal(np.sort(rows), np.arange(count)):
            raise InputError(f"{path}: wanted every row once in split {partition + 1}")
        return rows, f"{whose} split {partition + 1}"
    return np.random.default_rng(partition).permutation(count), f"random partition {partition}"
