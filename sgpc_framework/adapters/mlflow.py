"""Models in MLflow, with the extra ``mlflow``: one model file, which ``pyfunc`` predicts with.

    from sgpc_framework.adapters.mlflow import log_model

    with mlflow.start_run():
        logged = log_model(sgpc_framework.load("loans.sgpc"), name="loans")
    mlflow.pyfunc.load_model(logged.model_uri).predict(frame)

What is kept is a model file, no pickle: it is checked when it is read, and later versions read it.
"""

from __future__ import annotations

from importlib.metadata import version
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import attrs

from sgpc_framework.files.model_files import load
from sgpc_framework.metrics.merits import probabilities
from sgpc_framework.model.classes import Classifier
from sgpc_framework.tables.table_classifier import TableClassifier

FILE = "model.sgpc"


def save_model(
    classifier: Classifier | TableClassifier, path: str | PathLike[str], **settings: Any
) -> None:
    """Write an MLflow model to a new folder; ``settings`` are those of ``pyfunc.save_model``."""
    with TemporaryDirectory() as folder:
        _pyfunc().save_model(path=str(path), **_settings(classifier, folder), **settings)


def log_model(
    classifier: Classifier | TableClassifier, name: str = "model", **settings: Any
) -> Any:
    """Log an MLflow model to the current run; ``settings`` are those of ``pyfunc.log_model``."""
    with TemporaryDirectory() as folder:
        return _pyfunc().log_model(name=name, **_settings(classifier, folder), **settings)


def load_model(path: str | PathLike[str]) -> Classifier | TableClassifier:
    """The classifier itself, from the folder of an MLflow model."""
    classifier: Classifier | TableClassifier = load(Path(path) / "data" / FILE)
    return classifier


def _pyfunc() -> Any:
    try:
        import mlflow.pyfunc
    except ImportError as error:
        raise ImportError(
            "this needs MLflow, which is not installed: pip install 'sgpc-framework[mlflow]'"
        ) from error
    return mlflow.pyfunc


def _settings(classifier: Classifier | TableClassifier, folder: str) -> dict[str, Any]:
    file = Path(folder) / FILE
    classifier.save(file)
    return {
        "loader_module": __name__,
        "data_path": str(file),
        "pip_requirements": [f"sgpc-framework=={version('sgpc-framework')}"],
    }


def _load_pyfunc(data_path: str) -> Predictor:
    """Called by MLflow."""
    return Predictor(load(data_path))


@attrs.frozen
class Predictor:
    """What ``pyfunc`` predicts with."""

    classifier: Classifier | TableClassifier

    def predict(self, model_input: Any, params: Any = None) -> Any:
        """A frame with ``predicted`` and ``probability_LABEL``, as ``sgpc predict`` writes it."""
        import pandas as pd

        log_proba = self.classifier.predict_log_proba(model_input)
        heading = [f"probability_{label}" for label in self.classifier.classes.tolist()]
        columns = dict(zip(heading, probabilities(log_proba).T, strict=True))
        return pd.DataFrame({"predicted": self.classifier.decide(log_proba), **columns})
