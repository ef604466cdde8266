"""Who takes part in the quality benchmark: our presets, and other people's classifiers.

A method is fitted by one or more runs, each with settings of its own, and each run is looked at
once or at several budgets. Of several runs the best counts, set by set and budget by budget, by
the mean of its *test* NLP: no user could choose so well, and rivals have the benefit of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

import sgpc_framework as sgpc
from benchmarks import rivals
from benchmarks.problems import Problem
from sgpc_framework.config.presets import PRESETS
from sgpc_framework.metrics.figures_of_merit import Merits
from sgpc_framework.metrics.merits import reliability_of_labels

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]
Settings = dict[str, Any]

RATES: Mapping[float, Sequence[int]] = {
    0.1: (50, 100, 200, 500, 1000),
    0.2: (50, 100, 200),
    0.03: (500, 1000),
}
"""Of Adam, and the numbers of steps at which each is looked at: two rates for each number.

0.1 is rarely far from the best. With 80 points and 50 steps 0.2 is better (sick: NLP 0.039 beside
0.052), but it becomes worse with more (cal_housing: 0.315 after 100, 0.330 after 1000). 0.03 is far
behind in short runs and overfits less in long ones (cal_housing after 1000: 0.296 beside 0.304).
"""

BATCH_STEPS = (500, 1000, 2000, 4000, 8000)
BATCH_RATES: Mapping[float, Sequence[int]] = {0.1: BATCH_STEPS, 0.03: BATCH_STEPS}
"""The same for batches."""


@attrs.frozen
class Scores:
    """What a fit is judged by at some moment, on the test rows, and what it took until then."""

    budget: int | None
    """Steps of a method that was looked at after several numbers of them."""

    nlp: float
    error: float
    ece: float
    seconds: float
    cpu_seconds: float
    bytes: int

    @classmethod
    def of(cls, probability: Floats, data: Problem, taken: rivals.Moment) -> Scores:
        """``probability`` has a column a class; none counts as less than 1e-12."""
        if not np.all(np.isfinite(probability)):
            raise ArithmeticError("wanted a probability for each test row, found some not finite")
        test = Merits.of(np.log(np.maximum(probability, 1e-12)), data.y_test)
        ece = expected_calibration_error(probability, data.y_test)
        took = taken.seconds, taken.cpu_seconds, taken.size
        return cls(taken.steps, test.nlp, test.error, ece, *took)


def expected_calibration_error(probability: Floats, truth: Codes, bins: int = 15) -> float:
    """How far confidence is from accuracy, on average over the rows.

        ∑_b |rows in b| / n · |accuracy in b - mean confidence in b|

    where confidence is the largest probability of a row, and the bins b divide ½ to 1 equally
    (and go on below in the same width, for many classes).
    """
    return reliability_of_labels(probability, truth, 2 * bins).expected_calibration_error


@attrs.frozen
class Ours:
    """A design of ours: what ``sgpc.build`` is given, besides ``max_basis``."""

    design: str | Mapping[str, Any]
    sized: bool = True

    def runs(
        self, size: int | None, quick: bool, steps: Sequence[int] | None = None
    ) -> Iterator[Settings]:
        yield sgpc.build(self.design, max_basis=size).config.to_mapping()

    def fit(self, data: Problem, settings: Settings) -> Iterator[Scores]:
        few = np.concatenate([np.flatnonzero(data.y == label)[:100] for label in {*data.y}])
        sgpc.build({**settings, "max_basis": 5}).fit(data.X[few], data.y[few])  # loads what is used
        began, began_cpu = perf_counter(), process_time()
        model = sgpc.build(settings).fit(data.X, data.y)
        seconds, cpu_seconds = perf_counter() - began, process_time() - began_cpu
        with TemporaryDirectory() as folder:
            path = Path(folder, "model.sgpc")
            model.save(path)
            taken = rivals.Moment(None, seconds, cpu_seconds, path.stat().st_size)
        yield Scores.of(model.predict_proba(data.X_test), data, taken)


@attrs.frozen
class Rival:
    """One of ``rivals/worker.py``, with options; ``sized`` if it has inducing points.

    A run is made for each rate that the method may learn at, and looked at after so many steps.
    With ``apart``, each number of steps is a run of its own: rates have to fall to zero with it.
    """

    name: str
    sized: bool = False
    options: Mapping[str, Any] = attrs.field(factory=dict)
    rates: Mapping[float, Sequence[int]] = attrs.field(factory=dict)
    apart: bool = False

    def runs(
        self, size: int | None, quick: bool, steps: Sequence[int] | None = None
    ) -> Iterator[Settings]:
        common = {"rival": self.name, **self.options}
        if not self.sized:
            yield common
            return
        for rate, numbers in self.rates.items():
            wanted = [one for one in numbers if steps is None or one in steps]
            wanted = [5, 10] if quick else wanted
            for some in [[one] for one in wanted] if self.apart else [wanted][: len(wanted)]:
                yield {**common, "inducing": size, "rate": rate, "steps": some}

    def fit(self, data: Problem, settings: Settings) -> Iterator[Scores]:
        options = {name: value for name, value in settings.items() if name != "rival"}
        for outcome in rivals.run(self.name, data, **options):
            yield Scores.of(outcome.probability, data, outcome.taken)


def svgp(loss: str) -> Rival:
    """All rows at once and one lengthscale for each feature."""
    return Rival("svgp", True, {"loss": loss}, RATES)


def svgp_batches(loss: str) -> Rival:
    """Batches of 1024 rows, and a rate that falls."""
    options = {"loss": loss, "batch": 1024, "decay": True}
    return Rival("svgp", True, options, BATCH_RATES, apart=True)


ELBO, PREDICTIVE = "VariationalELBO", "PredictiveLogLikelihood"
OURS: Mapping[str, Ours] = {name: Ours(name) for name in PRESETS}
RIVALS: Mapping[str, Rival] = {
    "svgp": svgp(ELBO),
    "svgp-pll": svgp(PREDICTIVE),
    "svgp-batches": svgp_batches(ELBO),
    "svgp-batches-pll": svgp_batches(PREDICTIVE),
    "catboost": Rival("catboost"),
    "lightgbm": Rival("lightgbm"),
    "lightgbm-long": Rival("lightgbm", options={"most_trees": 2000}),
    "boosting": Rival("boosting"),
    "svm": Rival("svm"),
    "logistic": Rival("logistic"),
}
METHODS: Mapping[str, Ours | Rival] = {**OURS, **RIVALS}
