"""Kernels from functions of JAX, beside the same kernel by hand.

JAX takes 600 MB, so it is no part of the extra ``dev``: without it these tests are skipped.
``pip install -e '.[jax]'`` has them run.
"""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import sgpc_framework as sgpc
from sgpc_framework import datasets
from sgpc_framework.adapters.jax_passes import padded_length, passes_of
from sgpc_framework.adapters.kernels import kernel_from_jax
from sgpc_framework.authors import hyperparameter, hyperparameters, values
from sgpc_framework.plugin.registry import default_registry
from sgpc_framework.testing import run_checks
from sgpc_plugins.kernels import SquaredExponential

NEEDS_JAX = "JAX is not installed: pip install 'sgpc-framework[jax]'"
RNG = np.random.default_rng(5)
X, Z = RNG.normal(size=(37, 3)), RNG.normal(size=(5, 3))


def gaussian_of_jax(x, z, variance, lengthscale):
    """k(x, z) = variance · exp(-|x - z|² / (2 lengthscale²))"""
    import jax.numpy as jnp

    return variance * jnp.exp(-0.5 * jnp.sum(((x - z) / lengthscale) ** 2))


Gaussian = kernel_from_jax(gaussian_of_jax, variance=1.5, lengthscale=[1.0, 2.0, 3.0])
REGISTRY = default_registry().extended(Gaussian)


@pytest.fixture
def jax():
    return pytest.importorskip("jax", reason=NEEDS_JAX)


class TestTheClass:
    """What needs no JAX."""

    def test_its_hyperparameters_are_fields(self):
        assert Gaussian.name == "gaussian-of-jax"
        assert [each.path for each in hyperparameters(Gaussian())] == [
            "variance",
            "lengthscale[0]",
            "lengthscale[1]",
            "lengthscale[2]",
        ]
        assert values(Gaussian(2.0, (4.0, 5.0, 6.0))).tolist() == [2.0, 4.0, 5.0, 6.0]
        assert Gaussian.__doc__ == gaussian_of_jax.__doc__

    def test_a_hyperparameter_says_its_own_bounds(self):
        shifted = kernel_from_jax(
            gaussian_of_jax,
            variance=hyperparameter(0.5, bounds=(0.1, 0.9), transform="logit"),
            lengthscale=1.0,
        )
        first, second = hyperparameters(shifted())
        assert (first.bounds, first.transform) == ((0.1, 0.9), "logit")
        assert (second.bounds, second.transform) == ((1e-6, 1e6), "log")

    def test_it_travels_by_its_function(self):
        kernel = Gaussian(2.0)
        assert pickle.loads(pickle.dumps(kernel)) == kernel

    def test_what_does_not_fit_is_refused(self):
        with pytest.raises(TypeError, match=r"gaussian_of_jax\(x, z, variance\).*lengthscale"):
            kernel_from_jax(gaussian_of_jax, variance=1.0)
        with pytest.raises(TypeError, match="defined with a name"):
            kernel_from_jax(lambda x, z: 1.0)
        with pytest.raises(ValueError, match=r"wanted variance .* found -1\.0"):
            kernel_from_jax(gaussian_of_jax, variance=-1.0, lengthscale=1.0)
        with pytest.raises(ValueError, match=r"wanted variance .* found 'median'"):
            kernel_from_jax(gaussian_of_jax, variance="median", lengthscale=1.0)

    def test_lengths_are_few_and_little_longer(self):
        lengths = range(1, 20_000)
        padded = [padded_length(length) for length in lengths]
        assert len(set(padded)) < 40
        assert all(a <= b for a, b in zip(lengths, padded, strict=True))
        assert all(b <= 1.25 * a for a, b in zip(lengths, padded, strict=True) if a > 256)


def test_without_jax_the_error_names_the_extra(monkeypatch):
    from sgpc_framework.adapters import jax_passes

    def other(x, z):
        return 1.0

    jax_passes._jax.cache_clear()
    monkeypatch.setitem(__import__("sys").modules, "jax", None)
    with pytest.raises(ImportError, match=r"sgpc-framework\[jax\]"):
        kernel_from_jax(other)()(X, Z)
    jax_passes._jax.cache_clear()


class TestTheNumbers:
    def test_they_are_those_of_the_kernel_by_hand(self, jax):
        kernel, by_hand = Gaussian(), SquaredExponential(1.5, (1.0, 2.0, 3.0))
        np.testing.assert_allclose(kernel(X, Z), by_hand(X, Z), rtol=1e-14)
        np.testing.assert_allclose(kernel.diag(X), by_hand.diag(X), rtol=1e-14)
        G = RNG.normal(size=(37, 5))
        np.testing.assert_allclose(
            kernel.linearised(X, Z)[1](G), by_hand.linearised(X, Z)[1](G), rtol=1e-12
        )
        for ours, theirs in zip(
            kernel.linearised_in_inputs(X, Z)[1](G),
            by_hand.linearised_in_inputs(X, Z)[1](G),
            strict=True,
        ):
            np.testing.assert_allclose(ours, theirs, rtol=1e-11, atol=1e-13)

    def test_it_obeys_the_laws(self, jax):
        for result in run_checks(Gaussian(), REGISTRY):
            assert result.ok, result.problem

    def test_blocks_of_any_length_compile_few_programs(self, jax):
        def counted(x, z, scale):
            traced.append(1)
            return scale * (x @ z + 1.0)

        traced: list[int] = []
        kernel = kernel_from_jax(counted, scale=1.0)()
        for length in range(33, 65):
            kernel(np.ones((length, 2)), Z[:, :2])
        assert len(traced) == 1

    def test_other_hyperparameters_are_the_same_program(self, jax):
        Gaussian()(X, Z)
        program = passes_of(gaussian_of_jax)._gram
        before = program._cache_size()
        Gaussian(3.0, (2.0, 2.0, 2.0))(X, Z)
        assert program._cache_size() == before

    def test_the_users_setting_of_jax_is_left_alone(self, jax):
        Gaussian()(X, Z)
        assert jax.numpy.ones(1).dtype == "float32"

    def test_a_function_of_the_wrong_shape_is_told(self, jax):
        def product(x, z):
            return x * z

        with pytest.raises(TypeError, match=r"product to return one number.*\(3,\)"):
            kernel_from_jax(product)()(X, Z)

    def test_a_fit_tunes_it_and_a_file_keeps_it(self, jax, tmp_path):
        X, y = datasets.twonorm(80, seed=1)
        kernel = kernel_from_jax(gaussian_of_jax, variance=1.0, lengthscale=4.0)
        registry = default_registry().extended(kernel)
        settings = {"max_basis": 6, "max_iterations": 2, "registry": registry}
        model = sgpc.build(kernel=2.0 * kernel(), **settings).fit(X, y)
        by_hand = sgpc.build(kernel=2.0 * SquaredExponential(1.0, 4.0), **settings).fit(X, y)
        np.testing.assert_allclose(model.predict_proba(X), by_hand.predict_proba(X), atol=1e-6)
        model.save(tmp_path / "m", registry)
        loaded = sgpc.load(tmp_path / "m", registry)
        np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
