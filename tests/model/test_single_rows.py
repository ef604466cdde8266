"""One row at a time: the numbers of many rows, without what many rows need."""

from __future__ import annotations

import pickle
import subprocess
import sys
from copy import deepcopy

import numpy as np
import pytest

import sgpc_framework as sgpc
from sgpc_framework import datasets
from sgpc_framework.errors import InputError
from sgpc_framework.model.single_rows import SMALL

X, Y = datasets.twonorm(90, seed=4)
THREE = np.digitize(X[:, 0], [-0.5, 0.5])
KERNELS = [
    "squared-exponential",
    "matern-12",
    "linear",
    {"name": "sum", "terms": ["matern-52", "linear"]},
    {"name": "warped", "inner": "matern-32"},
    {"name": "mahalanobis", "inner": "matern-32"},
    {"name": "stretched", "inner": "mahalanobis"},
]


@pytest.mark.parametrize("labels", [Y, THREE], ids=["two", "three"])
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_a_row_by_itself_has_the_probabilities_it_has_among_others(kernel, labels):
    model = sgpc.build(kernel=kernel, max_basis=6, max_iterations=1).fit(X, labels)
    assert model._single_row.takes(X[:1])
    for method in (model.predict_proba, model.predict_log_proba):
        alone = np.concatenate([method(row[None]) for row in X])
        np.testing.assert_allclose(alone, method(X), rtol=1e-9, atol=1e-12)
    alone = np.concatenate([model.predict(row[None]) for row in X])
    np.testing.assert_array_equal(alone, model.predict(X))


@pytest.mark.parametrize("likelihood", ["logistic", "noisy-probit"])
def test_every_likelihood_takes_single_rows(likelihood):
    model = sgpc.build(likelihood=likelihood, max_basis=6, max_iterations=1).fit(X, Y)
    alone = np.concatenate([model.predict_proba(row[None]) for row in X])
    np.testing.assert_allclose(alone, model.predict_proba(X), rtol=1e-9, atol=1e-12)


def test_one_model_a_class_takes_single_rows():
    model = sgpc.build(strategy="one-vs-rest", max_basis=4, max_iterations=1).fit(X, THREE)
    alone = np.concatenate([model.predict_proba(row[None]) for row in X[:20]])
    np.testing.assert_allclose(alone, model.predict_proba(X[:20]), rtol=1e-9)


MODEL = sgpc.build(max_basis=6, max_iterations=1).fit(X, Y)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e60, 1e300])
def test_a_number_that_is_none_is_refused_with_its_place(value):
    row = X[:1].copy()
    row[0, 3] = value
    with pytest.raises(InputError, match=r"row 0, column 3|must not exceed"):
        MODEL.predict_proba(row)


@pytest.mark.parametrize("row", [X[:1, :-1], X[0], X[:0], X[:1].astype(str)])
def test_a_row_of_another_shape_is_refused(row):
    with pytest.raises(InputError):
        MODEL.predict_proba(row)


@pytest.mark.parametrize("row", [X[:1].tolist(), X[:1].astype(np.float32), X[::2][:1]])
def test_a_row_of_another_kind_is_taken(row):
    np.testing.assert_allclose(MODEL.predict_proba(row), MODEL.predict_proba(X[:1]), rtol=1e-6)


def test_a_large_model_goes_the_ordinary_way():
    wide = np.random.default_rng(0).normal(size=(40, SMALL))
    model = sgpc.build(max_basis=3, max_iterations=1).fit(wide, np.arange(40) % 2)
    assert model._single_row is None
    assert model.predict_proba(wide[:1]).shape == (1, 2)


def test_what_is_prepared_is_neither_pickled_nor_in_the_way():
    MODEL.predict_proba(X[:1])
    for copy in (pickle.loads(pickle.dumps(MODEL)), deepcopy(MODEL), MODEL.truncated(3)):
        assert copy.predict_proba(X[:1]).shape == (1, 2)
    few = MODEL.truncated(3)
    np.testing.assert_allclose(few.predict_proba(X[:1]), few.predict_proba(X)[:1], rtol=1e-9)


def test_a_prediction_loads_no_compiler(tmp_path):
    sgpc.build(max_basis=4, max_iterations=1).fit(X, THREE).save(tmp_path / "three.sgpc")
    MODEL.save(tmp_path / "two.sgpc")
    code = (
        "import sys, numpy as np, sgpc_framework as sgpc\n"
        "for name in ('two', 'three'):\n"
        f"    model = sgpc.load({str(tmp_path)!r} + f'/{{name}}.sgpc')\n"
        "    for rows in (1, 3000):\n"
        "        model.predict_proba(np.ones((rows, 20)))\n"
        "print('numba' in sys.modules)\n"
    )
    output = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
    assert output.stdout.decode().strip() == "False"
