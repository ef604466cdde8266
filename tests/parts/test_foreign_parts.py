"""Parts that are no attrs classes: tuned, written down and described, or refused with a reason."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import attrs
import numpy as np
import pytest

import sgpc_framework as sgpc
from sgpc_framework import datasets
from sgpc_framework.config.description import describe
from sgpc_framework.config.structure import plain, structured
from sgpc_framework.parts.hyperparameters import (
    FreeVector,
    Hyperparameter,
    hyperparameter,
    hyperparameters,
    parts_of,
    replaced,
    values,
)
from sgpc_framework.plugin.registry import default_registry
from sgpc_framework.protocols import Kernel
from sgpc_framework.testing import run_checks
from sgpc_plugins.kernels import Constant, Sum

X, Y = datasets.twonorm(80, seed=3)


class Foreign:
    """exp(-|x - z|² / (2 scale_f²)), whose numbers are an array, as another library has them."""

    name = "foreign"

    def __init__(self, scales=(3.0, 4.0)):
        self._scales = np.asarray(scales, dtype=float)

    def __call__(self, X, Z):
        difference = (X[:, None, :2] - Z[None, :, :2]) / self._scales
        return np.exp(-0.5 * np.sum(difference**2, axis=2))

    def diag(self, X):
        return np.ones(len(X))

    def hyperparameters(self):
        return tuple(
            Hyperparameter("scales", float(scale), bounds=(1e-2, 1e2), position=position)
            for position, scale in enumerate(self._scales)
        )

    def with_hyperparameters(self, values):
        return Foreign(values)

    def to_options(self):
        return {"scales": self._scales.tolist()}

    @classmethod
    def from_options(cls, options):
        return cls(**options)

    def __eq__(self, other):
        return type(other) is type(self) and np.array_equal(other._scales, self._scales)

    def __hash__(self):
        return hash(tuple(self._scales))


NESTED = Sum([Constant(2.0), Foreign()])
REGISTRY = default_registry().extended(Foreign)


def test_the_numbers_of_a_foreign_term_are_read_and_replaced():
    assert [h.path for h in hyperparameters(NESTED)] == [
        "terms[0].variance",
        "terms[1].scales[0]",
        "terms[1].scales[1]",
    ]
    last = hyperparameters(NESTED)[-1]
    assert (last.field, last.position, last.within) == ("scales", 1, "terms[1]")
    np.testing.assert_array_equal(values(NESTED), [2.0, 3.0, 4.0])
    moved = replaced(NESTED, np.array([1.0, 5.0, 6.0]))
    assert moved == Sum([Constant(1.0), Foreign([5.0, 6.0])])
    assert FreeVector.of(NESTED).transforms == ("log",) * 3
    assert [type(part).__name__ for part in parts_of(NESTED)] == ["Sum", "Constant", "Foreign"]


def test_a_foreign_kernel_obeys_the_laws():
    for result in run_checks(Foreign(), REGISTRY):
        assert result.ok, result.problem


class Changes(Foreign):
    """A kernel that changes itself where a copy is wanted."""

    def with_hyperparameters(self, values):
        self._scales = np.asarray(values)
        return self


def test_the_kit_catches_a_part_that_changes_itself():
    failed = {result.name: result.problem for result in run_checks(Changes()) if not result.ok}
    assert "a part that was changed" in failed["kernel: hyperparameters round trip"]


def test_the_kit_catches_a_part_that_hides_its_numbers():
    failed = {result.name: result.problem for result in run_checks(Attribute()) if not result.ok}
    assert "nobody could tune" in failed["kernel: hyperparameters round trip"]


@pytest.mark.parametrize("kernel", [Foreign(), NESTED])
def test_a_foreign_kernel_is_tuned_and_saved(kernel, tmp_path):
    design = sgpc.build(kernel=kernel, max_basis=8, max_iterations=3, registry=REGISTRY)
    model = design.fit(X, Y)
    assert not np.array_equal(values(model.kernel), values(kernel))
    model.save(tmp_path / "m", REGISTRY)
    loaded = sgpc.load(tmp_path / "m", REGISTRY)
    assert loaded.kernel == model.kernel
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))


def test_a_configuration_names_a_foreign_kernel():
    config = sgpc.Config.from_mapping({"kernel": {"name": "foreign", "scales": [1, 2]}}, REGISTRY)
    assert config.kernel == Foreign([1.0, 2.0])
    assert plain(config.kernel) == {"name": "foreign", "scales": [1.0, 2.0]}
    assert structured("foreign", Kernel, REGISTRY) == Foreign()
    assert 'name = "foreign"' in config.to_toml(REGISTRY)
    with pytest.raises(sgpc.ConfigError, match=r"foreign cannot be made of .*rates.*@ kernel"):
        sgpc.Config.from_mapping({"kernel": {"name": "foreign", "rates": 1}}, REGISTRY)


def test_a_foreign_kernel_is_described():
    description = describe(REGISTRY.part("kernel", "foreign"))
    (option,) = description.options
    assert (option.name, option.default) == ("scales", [3.0, 4.0])
    assert (option.bounds, option.transform) == ((1e-2, 1e2), "log")
    assert description.abilities["gradients"] == "numerical (central differences)"
    assert description.abilities["hyperparameters"] == "said by the part itself"


class Base:
    """A kernel and nothing besides."""

    name = "base"

    def __call__(self, X, Z):
        return np.ones((len(X), len(Z)))

    def diag(self, X):
        return np.ones(len(X))


class Attribute(Base):
    def __init__(self):
        self._lengthscale = 2.0


class Slot(Base):
    __slots__ = ("lengthscale",)

    def __init__(self):
        self.lengthscale = np.float32(2.0)


class Several(Base):
    def __init__(self):
        self.scales = np.ones(3)


class OfTheClass(Base):
    lengthscale = 2.0


class Theta(Base):
    @property
    def theta(self):
        raise AssertionError("nobody has to look at it")


class Module(Base):
    def parameters(self):
        return iter(())


@dataclass(frozen=True)
class Data(Base):
    lengthscale: float = 2.0


SILENT = [Attribute, Slot, Several, OfTheClass, Theta, Module, Data]


@pytest.mark.parametrize("cls", SILENT)
def test_a_kernel_that_hides_its_numbers_is_refused(cls):
    with pytest.raises(sgpc.ConfigError, match=rf"{cls.__name__}.*Tunable.*@ kernel"):
        sgpc.build(kernel=cls())
    with pytest.raises(sgpc.ConfigError, match=r"terms\[1\].*Tunable"):
        sgpc.build(kernel={"name": "sum", "terms": ["linear", cls()]})


def test_an_attrs_class_around_such_a_kernel_is_refused_too():
    @attrs.frozen
    class Around:
        name: ClassVar[str] = "around"
        inner: object = attrs.field(factory=lambda: type("RBF", (), {"theta": 1.0})())
        __call__ = Base.__call__
        diag = Base.diag

    with pytest.raises(sgpc.ConfigError, match="inner, which nobody could tune"):
        sgpc.build(kernel=Around())


def test_scikit_learns_kernels_are_refused():
    kernels = pytest.importorskip("sklearn.gaussian_process.kernels")
    named = type("Named", (kernels.RBF,), {"name": "rbf"})
    with pytest.raises(sgpc.ConfigError, match="theta"):
        sgpc.build(kernel=named())
    with pytest.raises(sgpc.ConfigError, match="wanted a kernel"):
        sgpc.build(kernel=kernels.RBF())


def test_a_likelihood_that_hides_its_numbers_is_refused():
    class Steep:
        name = "steep"

        def __init__(self):
            self.slope = 3.0

        def moments(self, y, mean, variance):
            raise AssertionError

    with pytest.raises(sgpc.ConfigError, match="wanted a likelihood that says"):
        sgpc.build(likelihood=Steep())


def test_what_has_no_numbers_or_says_so_is_taken():
    class Says(Attribute):
        def hyperparameters(self):
            return ()

        def with_hyperparameters(self, values):
            return self

    for kernel in (Base(), Says()):
        assert sgpc.build(kernel=kernel).config.kernel is kernel
        assert values(Sum([Constant(), kernel])).tolist() == [1.0]
        assert replaced(Sum([kernel, Constant()]), np.array([3.0])) == Sum([kernel, Constant(3.0)])


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ([], "wanted a tuple of Hyperparameter"),
        ((1.0,), "wanted a tuple of Hyperparameter"),
        ((Hyperparameter("a", 5.0, (1.0, 2.0)),), r"a must lie in \[1, 2\]"),
        ((Hyperparameter("a", 0.0, (-1.0, 2.0)),), "inside the log's"),
    ],
)
def test_a_part_that_speaks_nonsense_is_blamed(said, problem):
    kernel = Foreign()
    kernel.hyperparameters = None  # an instance's own attribute does not count
    odd = type("Odd", (Foreign,), {"hyperparameters": lambda self: said})()
    with pytest.raises(sgpc.PluginError, match=problem) as caught:
        values(odd)
    assert caught.value.call == "hyperparameters"


@attrs.frozen
class Scaled:
    """An attrs kernel that holds another in a field."""

    name: ClassVar[str] = "scaled"
    inner: Kernel = attrs.field(factory=Foreign)
    variance: float = hyperparameter(1.0, bounds=(0.1, 10.0))

    def __call__(self, X, Z):
        return self.variance * self.inner(X, Z)

    def diag(self, X):
        return self.variance * self.inner.diag(X)


def test_a_single_field_holds_a_foreign_kernel_as_well():
    assert [h.path for h in hyperparameters(Scaled())] == [
        "inner.scales[0]",
        "inner.scales[1]",
        "variance",
    ]
    assert replaced(Scaled(), np.array([1.0, 2.0, 3.0])) == Scaled(Foreign([1.0, 2.0]), 3.0)
