"""Data sets: three that can be generated anywhere, and the six benchmark sets of the paper.

``waveform``, ``twonorm`` and ``ringnorm`` return ``X`` (rows x features) and ``y`` in {-1, +1},
the same for the same seed (``generated`` has the definitions).

``benchmark`` returns one of the sets of G. Raetsch, T. Onoda and K.-R. Mueller, "Soft margins for
AdaBoost" (2001), divided into training and test rows as in the paper. It reads Raetsch's
``benchmarks.mat`` or a file ``NAME.npz`` in the folder that the environment variable
``SGPC_DATA_DIR`` names. ``fetch`` gets a set from OpenML and writes such a file; nothing else here
uses the network.
"""

from __future__ import annotations

import attrs

from sgpc_framework.datasets.catalogue import BENCHMARKS, Facts
from sgpc_framework.datasets.generated import Floats, ringnorm, twonorm, waveform
from sgpc_framework.datasets.openml import fetch
from sgpc_framework.datasets.set_files import FOLDER_VARIABLE, file_of, folder, read_divided
from sgpc_framework.errors import InputError, suggestion

__all__ = [
    "BENCHMARKS",
    "FOLDER_VARIABLE",
    "Benchmark",
    "Facts",
    "available",
    "benchmark",
    "fetch",
    "ringnorm",
    "twonorm",
    "waveform",
    "where",
]


@attrs.frozen(eq=False)
class Benchmark:
    """A benchmark set in two parts, labels in {-1, +1}; ``source`` says how it was divided."""

    name: str
    X: Floats
    y: Floats
    X_test: Floats
    y_test: Floats
    source: str

    def first_rows(self, rows: int | None) -> Benchmark:
        """The same set with the first of its training rows alone, if a number is given."""
        return attrs.evolve(self, X=self.X[:rows], y=self.y[:rows])


def available() -> tuple[str, ...]:
    """The names that ``benchmark`` can serve here: all that have a file or a generator."""
    return tuple(name for name in BENCHMARKS if where(name))


def where(name: str) -> str | None:
    """The file of a benchmark set, or "generated" if it can be; None if it cannot be had here."""
    path = file_of(name)
    return str(path) if path else "generated" if BENCHMARKS[name].generate else None


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
    facts, path = BENCHMARKS[name], file_of(name)
    if path is not None:
        rows = read_divided(name, facts, path, partition)
        X, y, source = rows.X, rows.y, rows.source
    elif facts.generate is not None:
        (X, y), source = facts.generate(facts.rows, partition), "generated"
    else:
        raise InputError(_absent(name))
    n = facts.train
    return Benchmark(name, X[:n], y[:n], X[n:], y[n:], source)


def _absent(name: str) -> str:
    looked = folder()
    reason = f"{looked} does not have it" if looked else f"{FOLDER_VARIABLE} is not set"
    return (
        f"wanted the benchmark set {name!r} in a file {name}.npz, but {reason}, and {name} cannot "
        f"be generated; let {FOLDER_VARIABLE} name the folder with that file, have "
        f"sgpc_framework.datasets.fetch({name!r}) get it from OpenML, or take one of "
        f"{', '.join(other for other, facts in BENCHMARKS.items() if facts.generate)}"
    )
