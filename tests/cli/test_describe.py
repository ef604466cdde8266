"""``sgpc describe``: formula, options, abilities and origin of a part."""

from __future__ import annotations

import json

import pytest

from sgpc_framework.plugin.registry import Registry

STRANGER = '''
    from typing import ClassVar

    import numpy as np
    from attrs import Factory, field, frozen
    from attrs.validators import ge, instance_of, lt

    from sgpc_framework.parts.hyperparameters import hyperparameter
    from sgpc_framework.plugin import hookimpl


    @frozen
    class Plain:
        """k(x, z) = variance [x = z]"""

        name: ClassVar[str] = "plain"
        variance: float = hyperparameter(2.0, bounds=(0.5, 3.0))
        marks: tuple[int, ...] = field(default=Factory(lambda: (1, 2)))
        depth: int = field(kw_only=True, validator=[instance_of(int), ge(1), lt(9)])

        def __call__(self, X, Z):
            return self.variance * np.all(X[:, None] == Z[None], axis=2)

        def diag(self, X):
            return np.full(len(X), self.variance)


    @frozen
    class Fixed(Plain):
        name: ClassVar[str] = "fixed"
        variance: float = 1.0
        depth: int = 3


    @hookimpl
    def sgpc_kernels():
        return [Plain, Fixed]
'''


@pytest.fixture
def describe(sgpc):
    def run(*arguments: str) -> list[dict]:
        result = sgpc("describe", *arguments, "--json")
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)

    return run


def test_a_kernel_with_exact_gradients(describe):
    (description,) = describe("squared-exponential")
    assert (description["kind"], description["name"]) == ("kernel", "squared-exponential")
    assert "exp(-r²/2)" in description["documentation"]
    assert description["distribution"] == "sgpc-framework"
    assert description["entry_point"] == "kernels"
    assert description["implementation"].endswith(".SquaredExponential")
    variance, lengthscale = description["options"]
    assert variance["type"] == "a number"
    assert variance["default"] == 1.0
    assert variance["bounds"] == [1e-6, 1e6]
    assert variance["transform"] == "log"
    assert lengthscale["default"] == "median"
    assert description["abilities"] == {
        "gradients": "exact (pullback)",
        "input gradients": "yes",
        "starts from data": "yes",
        "exported": "yes",
    }


def test_a_strangers_kernel_with_numerical_gradients(describe, distribution):
    distribution("sgpc-stranger", STRANGER)
    (description,) = describe("plain")
    assert description["distribution"] == "sgpc-stranger"
    assert description["abilities"]["gradients"] == "numerical (central differences)"
    assert description["abilities"]["input gradients"] == "no"
    options = {option["name"]: option for option in description["options"]}
    assert options["variance"]["bounds"] == [0.5, 3.0]
    assert options["marks"]["default"] == [1, 2]
    assert options["depth"]["required"]
    (description,) = describe("fixed")
    assert description["abilities"]["gradients"] == "not needed (no hyperparameters)"


def test_ordinary_options_have_types_and_limits(describe, distribution):
    distribution("sgpc-stranger", STRANGER)
    (description,) = describe("plain")
    (option,) = (option for option in description["options"] if option["name"] == "depth")
    assert option["type"] == "an integer"
    assert option["limits"] == ">= 1, < 9"
    assert option["bounds"] is option["transform"] is None


@pytest.mark.parametrize(
    ("name", "kind", "ability", "answer"),
    [
        ("validation", "selector", "ranks candidates by", "its own score"),
        ("entropy", "selector", "ranks candidates by", "NLP over all rows (eq. 5)"),
        ("pool", "selector", "remembers", "yes"),
        ("entropy", "selector", "remembers", "no"),
        ("nlp", "objective", "judges by some rows", "yes"),
        ("marginal-likelihood", "objective", "judges by some rows", "no"),
        ("probit", "likelihood", "gradients", "exact (pullback)"),
    ],
)
def test_abilities(describe, name, kind, ability, answer):
    (description,) = describe(name, "--kind", kind)
    assert description["abilities"][ability] == answer


@pytest.mark.parametrize(
    ("name", "kinds"),
    [("predictive-loss", ["sites", "objective"]), ("none", ["objective", "refiner"])],
)
def test_a_name_of_several_kinds(describe, sgpc, name, kinds):
    assert [description["kind"] for description in describe(name)] == kinds
    text = sgpc("describe", name).stdout
    assert all(f"{kind} {name}\n" in text for kind in kinds)
    assert [description["kind"] for description in describe(name, "--kind", kinds[1])] == kinds[1:]


@pytest.mark.parametrize(
    ("kind", "name"), sorted({(part.kind, part.name) for part in Registry().parts()})
)
def test_every_part_can_be_described(sgpc, describe, kind, name):
    result = sgpc("describe", name, "--kind", kind)
    assert result.exit_code == 0, result.output
    (description,) = describe(name, "--kind", kind)
    assert description["documentation"] in result.stdout
    for option in description["options"]:
        assert f"│ {option['name']}" in result.stdout
    for ability, answer in description["abilities"].items():
        assert f"{ability}: {answer}" in result.stdout


def test_an_unknown_name_is_answered_with_the_nearest(sgpc):
    result = sgpc("describe", "enropy")
    assert result.exit_code == 2
    assert "did you mean 'entropy'?" in result.stderr
    result = sgpc("describe", "entropy", "--kind", "kernel")
    assert result.exit_code == 2
    assert "'entropy' is the name of a selector" in result.stderr


def test_an_unknown_name_may_be_that_of_a_plugin_that_failed(sgpc, distribution):
    distribution("sgpc-broken", "import no_such_module")
    result = sgpc("describe", "shiny")
    assert result.exit_code == 2
    assert "sgpc-broken 1.0" in result.stderr
    assert "no_such_module" in result.stderr
