"""Every built-in part passes the checks that strangers' parts must pass."""

from __future__ import annotations

import subprocess
import sys
from typing import ClassVar

import attrs
import numpy as np
import pytest

from sgpc_framework import testing
from sgpc_framework.parts.hyperparameters import hyperparameter
from sgpc_framework.plugin.registry import default_registry
from sgpc_framework.testing import checks_for, parametrize_with_checks
from sgpc_plugins.kernels import (
    Constant,
    Linear,
    Matern12,
    Matern32,
    Periodic,
    Polynomial,
    Product,
    RationalQuadratic,
    SquaredExponential,
    Sum,
)
from sgpc_plugins.likelihoods import Logistic, NoisyProbit, Probit
from sgpc_plugins.objectives import MarginalLikelihood
from sgpc_plugins.selectors import AdaptiveSampling, InformationGain, Validation
from sgpc_plugins.sites import PredictiveLossSites

BUILT_IN = [part.cls for part in default_registry().parts()]


@attrs.frozen
class Letters:
    """A kernel on strings, with no more than it must have: k(x, z) = variance · letters shared."""

    name: ClassVar[str] = "letters"
    variance: float = hyperparameter(2.0, bounds=(1e-3, 1e3))

    def __call__(self, X, Z):
        return self.variance * (_counts(X) @ _counts(Z).T)

    def diag(self, X):
        return self.variance * np.sum(_counts(X) ** 2, axis=1)

    def sample_inputs(self, rows, rng):
        return ["".join(rng.choice(list("abcd"), size=5)) for _ in range(rows)]


def _counts(words):
    counts = [[word.count(letter) for letter in "abcd"] for word in words]
    return np.array(counts, dtype=np.float64).reshape(len(words), 4)


@parametrize_with_checks(BUILT_IN)
def test_every_built_in_part_with_its_defaults(check):
    check()


@parametrize_with_checks(
    [
        SquaredExponential(variance=2.0, lengthscale=(0.5, 1.0, 3.0, 0.9)),
        Matern12(lengthscale=(0.5, 2.0)),
        Matern32(lengthscale="median-per-feature"),
        RationalQuadratic(lengthscale=(1.0, 2.0), shape=0.4),
        Periodic(period=3.0, lengthscale=(0.8, 1.2, 2.0)),
        Polynomial(degree=3, lengthscale=2.0),
        Sum((Linear(), Product((Constant(variance=2.0), Sum((SquaredExponential(), Matern32())))))),
        Product((Periodic(), SquaredExponential(lengthscale=(1.0, 2.0, 3.0)))),
        Letters(),
        Sum((Letters(), Constant())),
    ]
)
def test_kernels_with_many_hyperparameters_or_many_parts(check):
    check()


@parametrize_with_checks(
    [
        Probit(slope=3.0, bias=-0.7),
        Logistic(slope=0.4, bias=0.5),
        NoisyProbit(epsilon=0.2),
        AdaptiveSampling(working_set=1),
        AdaptiveSampling(working_set=100),
        Validation(working_set=5),
        InformationGain(direction="old-new"),
        PredictiveLossSites(max_steps=1),
        MarginalLikelihood(prior_width=2.0),
    ]
)
def test_other_parts_with_other_options(check):
    check()


def test_checks_have_names_that_a_reader_understands():
    names = [check.name for check in checks_for(SquaredExponential())]
    assert "kernel: symmetric" in names
    assert "kernel: input pullback agrees with differences" in names
    assert len(set(names)) == len(names)


def test_abilities_decide_which_checks_there_are():
    plain = {check.name for check in checks_for(Letters())}
    assert not any("pullback" in name for name in plain)
    assert "kernel: sample inputs are as many as asked for" in plain
    assert any("scores" in check.name for check in checks_for(Validation()))
    assert not any("scores" in check.name for check in checks_for(AdaptiveSampling()))


def test_ids_say_part_and_check():
    mark = parametrize_with_checks([AdaptiveSampling]).mark
    assert "adaptive-sampling-selector: proposes distinct rows" in mark.kwargs["ids"]


def test_global_random_state_is_left_alone():
    before = repr(np.random.get_state())  # noqa: NPY002
    for check in checks_for(AdaptiveSampling()):
        check()
    assert repr(np.random.get_state()) == before  # noqa: NPY002


def test_the_checks_need_neither_pytest_nor_hypothesis():
    code = (
        "import sys; sys.modules['pytest'] = sys.modules['hypothesis'] = None\n"
        "from sgpc_framework.testing import run_checks\n"
        "from sgpc_plugins.selectors import Entropy\n"
        "assert all(result.ok for result in run_checks(Entropy))"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("name", testing.__all__)
def test_every_public_name_resolves(name):
    assert getattr(testing, name) is not None
    assert name in dir(testing)


def test_other_names_are_errors():
    with pytest.raises(AttributeError, match="no attribute 'chekcs'"):
        testing.chekcs  # noqa: B018  the access is the test


@attrs.frozen
class Enough:
    """Has had enough after so many stages."""

    stages: int
    name: ClassVar[str] = "enough"

    def propose(self, posterior, rng):
        if posterior.size >= self.stages:
            return None
        return posterior.argmin(lambda rows: -rows.variance)


def test_a_selector_may_have_enough_but_not_before_it_began():
    def failed(selector):
        return [result.name for result in testing.run_checks(selector) if not result.ok]

    assert failed(Enough(stages=1)) == []
    assert "selector: proposes row numbers" in failed(Enough(stages=0))
