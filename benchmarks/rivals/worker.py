"""Fits one rival and writes down how long it took: ``python worker.py TASK.json``.

It runs in the rivals' own virtual environment and imports nothing of ours. The task names the
rival, its options and three files: ``data`` (npz with X, y from 0, and X_test), and the two that
are written: ``report`` (JSON: for each moment at which the fit was looked at, the steps that were
done, the seconds that they took by the clock and of the processor, and how many bytes the model
takes, pickled) and ``probability`` (npz: the probabilities at these moments, moments x test rows x
classes). A small fit that is not timed goes first, so that neither imports nor first calls are in
the seconds; predictions are not, either.
"""

from __future__ import annotations

import json
import pickle
import sys
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from time import perf_counter, process_time

import estimators
import numpy as np
from fitted import Fitted


def svgp(*arguments: object, **options: object) -> Iterator[Fitted]:
    """As ``variational.svgp``. PyTorch is imported by those who need it."""
    import variational

    return variational.svgp(*arguments, **options)


RIVALS: dict[str, Callable[..., Iterator[Fitted]]] = {
    "svgp": svgp,
    "gp": estimators.gp,
    "svm": estimators.svm,
    "boosting": estimators.boosting,
    "catboost": estimators.catboost,
    "lightgbm": estimators.lightgbm,
    "logistic": estimators.logistic,
}


def warm_up(fit: Callable[..., Iterator[Fitted]], X: np.ndarray, y: np.ndarray) -> None:
    """A fit of a few rows of each class, so that the next one finds everything loaded."""
    few = np.concatenate([np.flatnonzero(y == label)[:40] for label in np.unique(y)])
    for fitted in fit(X[few], y[few]):
        fitted.predict(X[few])


def main(path: str) -> None:
    task = json.loads(Path(path).read_text())
    name, options = task["rival"], task["options"]
    if name not in RIVALS:
        sys.exit(f"no rival {name!r}; choose from {', '.join(RIVALS)}")
    with np.load(task["data"], allow_pickle=False) as data:
        X, y, X_test = data["X"], data["y"].astype(np.int64), data["X_test"]
    short = {**options, "steps": [2]} if "steps" in options else options
    warm_up(partial(RIVALS[name], **short), X, y)
    moments, probabilities, seconds, cpu_seconds = [], [], 0.0, 0.0
    began, began_cpu = perf_counter(), process_time()
    for fitted in RIVALS[name](X, y, **options):
        seconds += perf_counter() - began
        cpu_seconds += process_time() - began_cpu
        moments.append(
            {
                "steps": fitted.steps,
                "seconds": seconds,
                "cpu_seconds": cpu_seconds,
                "size": len(pickle.dumps(fitted.state)),
            }
        )
        probabilities.append(fitted.predict(X_test))
        began, began_cpu = perf_counter(), process_time()
    np.savez(task["probability"], probability=np.stack(probabilities))
    Path(task["report"]).write_text(json.dumps(moments))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(sys.argv[1])
