"""Runs scikit-learn's estimator checks on ``SGPClassifier`` in several configurations.

Every built-in part is in at least one of them. Most checks fit three classes, some two, whatever
the estimator. One check is skipped unless SCIPY_ARRAY_API is set before scipy is imported, which is
why this is a program of its own: ``SCIPY_ARRAY_API=1 python tests/adapters/run_checks.py``.
"""

from __future__ import annotations

import json
import warnings
from itertools import cycle
from typing import Any

from sklearn.utils.estimator_checks import check_estimator

from sgpc_framework import SGPClassifier
from sgpc_framework.plugin.registry import default_registry

# A check asks for 83 % of right labels, which one constant for all rows cannot give: it is a term.
# Another asks that a class of large weight is what nearly all rows are taken for, which a linear
# function without a constant cannot say.
KERNELS: dict[str, Any] = {
    "linear": {"name": "sum", "terms": ["constant", "linear"]},
    "sum": {"name": "sum", "terms": ["constant", "squared-exponential"]},
    "product": {"name": "product", "factors": ["constant", "squared-exponential"]},
    "polynomial": {"name": "polynomial", "degree": 2},
    "periodic": {"name": "periodic", "period": 10.0},  # wider than the rows of the checks
}
SELECTORS: dict[str, Any] = {
    name: {"name": name, "working_set": 2} for name in ("random-sampling", "validation")
}
QUICK = {"preset": "paper", "max_iterations": 2, "max_basis": 30}
SMALL = {"preset": "paper", "max_iterations": 1, "max_basis": 6}
EXPECTED_TO_FAIL = {
    "check_sample_weight_equivalence_on_dense_data": (
        "a row that stands there twice can become two basis vectors, one of weight two only one, "
        "and rows are drawn by chance: losses are the same, the basis need not be"
    )
}
"""Every other check must pass. Where this one does hold, ``test_sklearn`` has it."""
REFINER = {"name": "corrective", "penalty": 1.0, "iterations": 5}
OTHERS: list[dict[str, Any]] = [
    {**SMALL, "sites": "predictive-loss", "objective": "none"},
    {**SMALL, "objective": "nlp", "likelihood": "multinomial-probit"},
    {**SMALL, "objective": "nlp", "likelihood": "noisy-multinomial-probit"},
    {**SMALL, "objective": "nlp", "strategy": "one-vs-rest"},
    {**SMALL, "objective": "predictive-loss", "likelihood": "noisy-probit"},
    {**SMALL, "objective": "marginal-likelihood", "likelihood": "logistic"},
    {**QUICK, "refiner": "ep"},
    {**QUICK, "refiner": "prune"},
    {"preset": "accurate", "refiner": REFINER, "max_basis": 4, "sizes": [2]},
]


def configurations() -> list[dict[str, Any]]:
    """One for each kernel, with every selector in turn; and others, with all other parts."""
    names = default_registry().names
    kernels = [KERNELS.get(name, name) for name in names("kernel") if name != "constant"]
    selectors = cycle(SELECTORS.get(name, name) for name in names("selector"))
    each = [{"kernel": k, "selector": s, **QUICK} for k, s in zip(kernels, selectors, strict=False)]
    return [*each, *OTHERS]


def outcome(estimator: SGPClassifier) -> list[dict[str, str]]:
    """The checks of one estimator with their status, and the exception if there was one."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the checks themselves say what must not warn
        results = check_estimator(
            estimator, on_fail=None, on_skip=None, expected_failed_checks=EXPECTED_TO_FAIL
        )
    return [
        {"check": one["check_name"], "status": one["status"], "why": repr(one["exception"])}
        for one in results
    ]


if __name__ == "__main__":
    print(json.dumps([[str(c), outcome(SGPClassifier(**c))] for c in configurations()]))
