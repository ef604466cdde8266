"""Kernels add and multiply, whoever made them."""

from __future__ import annotations

from typing import ClassVar

import attrs
import numpy as np
import pytest

import sgpc_framework as sgpc
from sgpc_framework.authors import KernelArithmetic, hyperparameter
from sgpc_framework.datasets import twonorm
from sgpc_framework.parts.calls import using
from sgpc_framework.plugin.registry import Registry
from sgpc_framework.testing import run_checks
from sgpc_plugins.kernels import Constant, Linear, Matern32, Product, Sum

A, B, C = Linear(2.0), Matern32(lengthscale=1.5), Constant(0.5)
X = np.random.default_rng(0).standard_normal((5, 3))


@attrs.frozen
class Stranger(KernelArithmetic):
    """A linear kernel of somebody else."""

    name: ClassVar[str] = "stranger"
    variance: float = hyperparameter(1.0, bounds=(0.1, 10.0))

    def __call__(self, X, Z):
        return self.variance * (X @ Z.T)

    def diag(self, X):
        return self.variance * np.sum(X**2, axis=1)


class Distant:
    """A kernel that cannot add."""

    name = "distant"
    __call__, diag = Stranger.__call__, Stranger.diag
    variance = 1


def test_sums_and_products_are_flat_whatever_the_brackets():
    assert A + B + C == A + (B + C) == Sum([A, B, C])
    assert A * B * C == A * (B * C) == Product([A, B, C])
    assert Product([A, Sum([B, C])]) == A * (B + C)
    assert sum([A, B, C]) == Sum([A, B, C])
    assert len({A + B, A + B, A * B}) == 2


@pytest.mark.parametrize("two", [2, 2.0, np.float64(2.0), np.int64(2), np.array(2.0)[()]])
def test_a_number_is_a_constant_kernel_in_front(two):
    assert two * A == A * two == Product([Constant(2.0), A])
    np.testing.assert_allclose((two * (A + B))(X, X), 2.0 * (A(X, X) + B(X, X)))


def test_a_strangers_kernel_takes_part():
    assert Stranger() + A == Sum([Stranger(), A])
    assert 3.0 * Stranger() == Product([Constant(3.0), Stranger()])
    distant = Distant()
    assert distant + A == Sum([distant, A])
    assert A * distant == Product([A, distant])
    for result in run_checks(Stranger()):
        assert result.ok, result.problem


@pytest.mark.parametrize("other", ["A", None, True, Linear])
def test_what_is_no_kernel_is_refused(other):
    with pytest.raises((TypeError, ValueError)):
        A + other
    with pytest.raises((TypeError, ValueError)):
        other * A


def test_a_factor_must_be_a_variance():
    with pytest.raises(ValueError, match=r"variance must lie in .*found -1\.0"):
        -1.0 * A


def test_the_registry_in_use_does_the_joining():
    @attrs.frozen
    class Odd(Stranger):
        name: ClassVar[str] = "sum"

    with using(Registry.of(Odd)), pytest.raises(sgpc.PluginError, match="JoinsKernels"):
        A + B


def test_a_fit_takes_them():
    model = sgpc.build(kernel=2.0 * B + C, max_basis=4, max_iterations=2).fit(*twonorm(60))
    assert isinstance(model.kernel, Sum)
