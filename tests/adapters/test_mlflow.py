"""Models in MLflow: what ``pyfunc`` predicts is what the model predicts."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

import sgpc_framework as sgpc
from sgpc_framework.tables import TableClassifier

pytest.importorskip("mlflow", reason="needs the extra mlflow")

pytestmark = pytest.mark.filterwarnings("ignore")  # MLflow's own


@pytest.fixture(scope="module")
def mlflow():
    """The package, with the module that is tested as ``sgpc``."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import mlflow

        from sgpc_framework.adapters import mlflow as flavour
    mlflow.sgpc = flavour
    return mlflow


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"age": rng.normal(50, 9, 60), "colour": ["red", "blue"] * 30})
    table["old"] = np.where(table["age"] > 50, "yes", "no")
    return table


@pytest.fixture(scope="module")
def classifier(frame):
    design = sgpc.build("paper", max_basis=5, max_iterations=1)
    return TableClassifier.fit(frame, "old", design, costs={"yes": 20})


def check(predicted, classifier, frame):
    assert predicted["predicted"].tolist() == classifier.predict(frame).tolist()
    both = predicted[["probability_no", "probability_yes"]].to_numpy()
    np.testing.assert_allclose(both, classifier.predict_proba(frame), rtol=1e-12)


def test_a_folder(mlflow, tmp_path, classifier, frame):
    mlflow.sgpc.save_model(classifier, tmp_path / "m")
    assert not list((tmp_path / "m").rglob("*.pkl"))
    check(mlflow.pyfunc.load_model(str(tmp_path / "m")).predict(frame), classifier, frame)
    assert repr(mlflow.sgpc.load_model(tmp_path / "m")) == repr(classifier)


def test_a_run(mlflow, tmp_path, classifier, frame, monkeypatch):
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow.set_tracking_uri((tmp_path / "runs").as_uri())
    with mlflow.start_run():
        logged = mlflow.sgpc.log_model(classifier, name="old")
    check(mlflow.pyfunc.load_model(logged.model_uri).predict(frame), classifier, frame)


def test_a_model_of_arrays(mlflow, tmp_path):
    X = np.random.default_rng(0).normal(size=(60, 2))
    model = sgpc.build("paper", max_basis=5, max_iterations=1).fit(X, X[:, 0] > 0)
    mlflow.sgpc.save_model(model, tmp_path / "m")
    predicted = mlflow.pyfunc.load_model(str(tmp_path / "m")).predict(X)
    assert predicted["predicted"].tolist() == model.predict(X).tolist()
