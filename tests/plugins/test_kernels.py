"""The built-in kernels: their formulas, the laws they obey, exact gradients, clear errors."""

from __future__ import annotations

import doctest
import importlib
import math
import pkgutil
import typing
from typing import ClassVar

import attrs
import hypothesis.extra.numpy as npst
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sgpc_plugins.kernels
from sgpc_framework.errors import InputError
from sgpc_framework.parts.derivatives import linearised, linearised_diag
from sgpc_framework.parts.expressions import evaluate
from sgpc_framework.parts.hyperparameters import hyperparameter, hyperparameters, replaced, values
from sgpc_framework.protocols import (
    Kernel,
    KernelInputPullback,
    KernelPullback,
    StartsFromData,
)
from sgpc_plugins.kernels import (
    Constant,
    Linear,
    Mahalanobis,
    Matern12,
    Matern32,
    Matern52,
    Periodic,
    Polynomial,
    Product,
    RationalQuadratic,
    SquaredExponential,
    Stretched,
    Sum,
    Warped,
    sgpc_kernels,
)
from sgpc_plugins.kernels.medians import median_distance

STATIONARY = [SquaredExponential, Matern12, Matern32, Matern52, RationalQuadratic]
LEAVES = [*STATIONARY, Periodic, Linear, Polynomial, Constant]

laws = settings(max_examples=60, deadline=None, derandomize=True)
every_leaf = pytest.mark.parametrize("leaf", LEAVES)
every_stationary = pytest.mark.parametrize("leaf", STATIONARY)


# ---------------------------------------------------------------------------------------------
# A stranger's kernels, and what Hypothesis draws


@attrs.frozen
class Bare:
    """Another kernel's values and nothing more: no pullbacks, no start."""

    name: ClassVar[str] = "bare"
    inner: Kernel

    def __call__(self, X, Z, /):
        return self.inner(X, Z)

    def diag(self, X, /):
        return self.inner.diag(X)


@attrs.frozen
class Agreement:
    """A kernel on strings: how many letters agree, position by position."""

    name: ClassVar[str] = "agreement"
    variance: float = hyperparameter(1.0, bounds=(1e-4, 1e4))

    def __call__(self, X, Z, /):
        counts = [[sum(map(str.__eq__, x, z)) for z in Z] for x in X]
        return self.variance * np.array(counts, dtype=float).reshape(len(X), len(Z))

    def diag(self, X, /):
        return self.variance * np.array([len(x) for x in X], dtype=float)


# Coordinates are eighths: two inputs coincide or are well apart, so that differences of the kink
# of matern-12 mean something, and adding a million to an input rounds nothing.
eighths = st.integers(-24, 24).map(lambda k: k / 8)
widths = st.integers(1, 4)
moderate = st.floats(0.5, 5.0)


@st.composite
def rows(draw, width: int, least: int = 1) -> np.ndarray:
    """A matrix in which some rows are repeated and some features are constant."""
    distinct = draw(npst.arrays(np.float64, (draw(st.integers(1, 5)), width), elements=eighths))
    picks = draw(st.lists(st.integers(0, len(distinct) - 1), min_size=least, max_size=7))
    X = distinct[np.array(picks, dtype=int)]
    for feature in draw(st.sets(st.integers(0, width - 1), max_size=1)):
        X[:, feature] = 0.375
    return X


@st.composite
def pairs(draw, width: int) -> tuple[np.ndarray, np.ndarray]:
    """Two matrices, which may share some rows."""
    X, Z = draw(rows(width)), draw(rows(width))
    shared = draw(st.integers(0, min(len(X), len(Z))))
    Z[:shared] = X[:shared]
    return X, Z


def cotangents(shape: tuple[int, ...]) -> st.SearchStrategy[np.ndarray]:
    return npst.arrays(np.float64, shape, elements=eighths)


def drawn(leaf: type, width: int) -> st.SearchStrategy:
    """Kernels of a class, with numbers for all settings and one or several lengthscales."""
    lengthscales = moderate | st.tuples(*[moderate] * width)
    options = {
        Periodic: {"period": st.floats(3.0, 9.0), "lengthscale": lengthscales},
        Linear: {},
        Polynomial: {"lengthscale": moderate, "offset": moderate, "degree": st.integers(1, 4)},
        Constant: {},
        RationalQuadratic: {"lengthscale": lengthscales, "shape": moderate},
    }.get(leaf, {"lengthscale": lengthscales})
    return st.builds(leaf, variance=moderate, **options)


def nested(width: int, *, strangers: bool) -> st.SearchStrategy:
    """Sums and products of anything, several deep."""
    leaf = st.sampled_from(LEAVES).flatmap(lambda cls: drawn(cls, width))
    if strangers:
        leaf |= leaf.map(Bare)
    return st.recursive(
        leaf,
        lambda parts: st.lists(parts, min_size=1, max_size=3).flatmap(
            lambda chosen: st.sampled_from([Sum(chosen), Product(chosen)])
        ),
        max_leaves=5,
    )


def started_example(leaf: type, X: np.ndarray) -> Kernel:
    kernel = leaf()
    return kernel.started(X) if isinstance(kernel, StartsFromData) else kernel


def scales(kernel, X, Z):
    """The most that each entry of k(X, Z) can be, by Cauchy and Schwarz."""
    return np.sqrt(np.outer(kernel.diag(X), kernel.diag(Z)))


# ---------------------------------------------------------------------------------------------
# Values


def by_definition(kernel: Kernel, x: np.ndarray, z: np.ndarray) -> float:
    """The formula of the docstring, one pair at a time."""
    if isinstance(kernel, Constant):
        return kernel.variance
    if isinstance(kernel, Linear):
        return kernel.variance * math.fsum(x * z)
    if isinstance(kernel, Polynomial):
        base = math.fsum(x * z) / kernel.lengthscale**2 + kernel.offset
        return kernel.variance * base**kernel.degree
    lengthscale = np.array(kernel.lengthscale)
    if isinstance(kernel, Periodic):
        sines = np.sin(np.pi * (x - z) / kernel.period) / lengthscale
        return kernel.variance * math.exp(-2 * math.fsum(sines**2))
    r2 = math.fsum(((x - z) / lengthscale) ** 2)
    r = math.sqrt(r2)
    return (
        kernel.variance
        * {
            SquaredExponential: lambda: math.exp(-r2 / 2),
            Matern12: lambda: math.exp(-r),
            Matern32: lambda: (1 + math.sqrt(3) * r) * math.exp(-math.sqrt(3) * r),
            Matern52: lambda: (1 + math.sqrt(5) * r + 5 * r2 / 3) * math.exp(-math.sqrt(5) * r),
            RationalQuadratic: lambda: (1 + r2 / (2 * kernel.shape)) ** -kernel.shape,
        }[type(kernel)]()
    )


@every_leaf
@laws
@given(st.data())
def test_values_follow_the_formula(leaf, data):
    width = data.draw(widths)
    kernel = data.draw(drawn(leaf, width))
    X, Z = data.draw(pairs(width))
    expected = [[by_definition(kernel, x, z) for z in Z] for x in X]
    # Scaled squared distances reach 1e3, so their rounding is near 1e-13 of the variance, and
    # matern-12 takes its square root at distances of an eighth.
    assert np.all(np.abs(kernel(X, Z) - expected) <= 1e-11 * scales(kernel, X, Z))


@laws
@given(st.data())
def test_composites_combine_their_parts(data):
    width = data.draw(widths)
    parts = data.draw(st.lists(nested(width, strangers=True), min_size=1, max_size=3))
    X, Z = data.draw(pairs(width))
    values_of_parts = np.array([part(X, Z) for part in parts])
    diagonals = np.array([part.diag(X) for part in parts])
    np.testing.assert_allclose(Sum(parts)(X, Z), values_of_parts.sum(axis=0), rtol=1e-14)
    np.testing.assert_allclose(Product(parts)(X, Z), values_of_parts.prod(axis=0), rtol=1e-14)
    np.testing.assert_allclose(Sum(parts).diag(X), diagonals.sum(axis=0), rtol=1e-14)
    np.testing.assert_allclose(Product(parts).diag(X), diagonals.prod(axis=0), rtol=1e-14)


@laws
@given(st.data())
def test_gram_matrices_are_covariances(data):
    width = data.draw(widths)
    kernel = data.draw(nested(width, strangers=True))
    X = data.draw(rows(width))
    K = kernel(X, X)
    largest = np.max(np.abs(K))
    # Each entry is right to about 1e-12 of the largest one (see the formulas' test; products add
    # up), and the least eigenvalue of 7 rows is no further off than 7 such errors.
    assert np.all(np.abs(K - K.T) <= 1e-11 * largest)
    assert np.linalg.eigvalsh(K)[0] >= -1e-10 * largest
    # Zero distances are exactly zero; what is left is the order of the sums in dot products.
    np.testing.assert_allclose(np.diagonal(K), kernel.diag(X), rtol=1e-12)


@pytest.mark.parametrize("leaf", [*STATIONARY, Periodic])
@laws
@given(st.data())
def test_a_common_shift_changes_nothing(leaf, data):
    width = data.draw(widths)
    kernel = data.draw(drawn(leaf, width))
    X, Z = data.draw(pairs(width))
    # The shift is exact; expanding |x - z|² at a million would be wrong by 1e-4.
    np.testing.assert_allclose(
        kernel(X + 1e6, Z + 1e6), kernel(X, Z), rtol=0, atol=1e-10 * kernel.variance
    )


@laws
@given(st.data())
def test_columns_and_rows_alone_are_those_of_the_matrix(data):
    width = data.draw(widths)
    kernel = data.draw(nested(width, strangers=False))
    X, Z = data.draw(pairs(width))
    K = kernel(X, Z)
    tolerance = 1e-11 * np.max(scales(kernel, X, Z))
    columns = np.hstack([kernel(X, Z[j : j + 1]) for j in range(len(Z))])
    lines = np.vstack([kernel(X[i : i + 1], Z) for i in range(len(X))])
    np.testing.assert_allclose(columns, K, rtol=0, atol=tolerance)
    np.testing.assert_allclose(lines, K, rtol=0, atol=tolerance)


@every_leaf
def test_many_rows_are_the_same_as_few(leaf):
    X = np.random.default_rng(0).normal(size=(5000, 30))  # several blocks of rows
    kernel = started_example(leaf, X)
    K = kernel(X, X[:1])
    assert K.shape == (5000, 1)
    few = np.vstack([kernel(X[part], X[:1]) for part in np.split(np.arange(5000), 50)])
    np.testing.assert_allclose(K, few, rtol=1e-12, atol=1e-12)


@every_leaf
def test_coinciding_wide_inputs_have_the_variance_between_them(leaf):
    # In 500 features, two ways of adding up |x|² differ by many roundings; a square root of that
    # difference would be seen.
    X = np.random.default_rng(1).normal(size=(40, 500))
    kernel = started_example(leaf, X)
    np.testing.assert_allclose(np.diagonal(kernel(X, X)), kernel.diag(X), rtol=1e-13)


@every_leaf
@pytest.mark.parametrize(("n", "m"), [(0, 0), (0, 1), (1, 0), (0, 3), (3, 0), (1, 1)])
def test_no_rows_and_one_row(leaf, n, m):
    X = np.random.default_rng(2).normal(size=(6, 2))
    kernel = started_example(leaf, X)
    K, pullback = kernel.linearised(X[:n], X[:m])
    diagonal, diagonal_pullback = kernel.linearised_diag(X[:n])
    assert K.shape == kernel(X[:n], X[:m]).shape == (n, m)
    assert diagonal.shape == kernel.diag(X[:n]).shape == (n,)
    assert kernel.input_pullback(X[:n], X[:m], np.ones((n, m))).shape == (n, 2)
    assert pullback(np.ones((n, m))).shape == values(kernel).shape
    assert diagonal_pullback(np.ones(n)).shape == values(kernel).shape
    if n * m == 0:
        assert np.all(pullback(np.ones((n, m))) == 0.0)


@laws
@given(st.data())
def test_arguments_and_results_are_left_alone(data):
    width = data.draw(widths)
    kernel = data.draw(nested(width, strangers=True))
    X, Z = data.draw(pairs(width))
    before = X.copy(), Z.copy()
    kernel(X, Z)
    kernel.diag(X)
    K, pullback = linearised(kernel, X, Z)
    kept, G = K.copy(), np.ones_like(K)
    gradient = pullback(G)
    assert np.array_equal(pullback(G), gradient)
    assert np.array_equal(K, kept)
    assert np.all(G == 1.0)
    assert np.array_equal(X, before[0])
    assert np.array_equal(Z, before[1])


def test_a_composite_does_not_write_into_the_array_of_a_part():
    class Remembering:
        name = "remembering"
        K = np.full((2, 2), 5.0)

        def __call__(self, X, Z):
            return self.K

        def diag(self, X):
            return np.diagonal(self.K)

    part = Remembering()
    X = np.zeros((2, 1))
    assert np.all(Sum([part, Constant()])(X, X) == 6.0)
    assert np.all(Product([part, part]).diag(X) == 25.0)
    assert np.all(part.K == 5.0)


@pytest.mark.parametrize("leaf", [*STATIONARY, Periodic])
def test_far_apart_and_tiny_scales_stay_finite(leaf):
    X = np.array([[0.0], [1e-9], [1.0], [1e6]])
    kernel = started_example(leaf, X)
    for scale in (1e-3, 1e5):
        kernel = attrs.evolve(kernel, lengthscale=scale)
        K, pullback = kernel.linearised(X, X)
        assert np.all((K >= 0.0) & (K <= 1.0 + 1e-15))
        assert np.all(np.isfinite(pullback(np.ones_like(K))))
        assert np.all(np.isfinite(kernel.input_pullback(X, X, np.ones_like(K))))


def test_polynomials_of_raw_features_stay_finite():
    X = np.random.default_rng(3).uniform(0.0, 1e4, size=(20, 50))
    kernel = Polynomial(degree=10).started(X)
    K, pullback = kernel.linearised(X, X)
    assert np.all(np.isfinite(K))
    assert np.all(np.isfinite(pullback(np.ones_like(K))))


# ---------------------------------------------------------------------------------------------
# Gradients


def slope_at(function, value: float):
    """The derivative of a function of one number, by a difference of the fourth order.

    With a step of 1e-4, rounding is 1e-12 of the function, and truncation 1e-16 / 30 times its
    fifth derivative: less than 1e-10 for anything that changes over a twentieth of the value.
    """
    step = 1e-4 * (value or 1.0)
    near = function(value + step) - function(value - step)
    far = function(value + 2 * step) - function(value - 2 * step)
    return (8 * near - far) / (12 * step)


def assert_close(found: float, G, slope, scale, where) -> None:
    """Compare with sum(G * slope). Sums may cancel, so what is allowed is relative to the sum of
    absolute values: 1e-6 of the slopes, 1e-9 of the values between coinciding inputs."""
    allowed = 1e-6 * np.sum(np.abs(G * slope)) + 1e-9 * np.sum(np.abs(G) * scale)
    assert abs(found - np.sum(G * slope)) <= allowed, where


def assert_gradient(kernel, scale, G, found, evaluate):
    """Compare a pullback with differences, one hyperparameter at a time."""
    natural = values(kernel)
    assert np.all(np.isfinite(found))
    assert found.shape == natural.shape
    for i, parameter in enumerate(hyperparameters(kernel)):

        def moved(value, i=i):
            return evaluate(
                replaced(kernel, np.where(np.arange(len(natural)) == i, value, natural))
            )

        assert_close(found[i], G, slope_at(moved, natural[i]), scale / natural[i], parameter.path)


@every_leaf
@laws
@given(st.data())
def test_pullback_equals_differences(leaf, data):
    width = data.draw(widths)
    kernel = data.draw(drawn(leaf, width))
    X, Z = data.draw(pairs(width))
    G = data.draw(cotangents((len(X), len(Z))))
    K, pullback = kernel.linearised(X, Z)
    assert np.array_equal(K, kernel(X, Z))
    assert_gradient(kernel, scales(kernel, X, Z), G, pullback(G), lambda moved: moved(X, Z))


@every_leaf
@laws
@given(st.data())
def test_diagonal_pullback_equals_differences(leaf, data):
    width = data.draw(widths)
    kernel = data.draw(drawn(leaf, width))
    X = data.draw(rows(width))
    g = data.draw(cotangents((len(X),)))
    diagonal, pullback = kernel.linearised_diag(X)
    assert np.array_equal(diagonal, kernel.diag(X))
    assert_gradient(kernel, diagonal, g, pullback(g), lambda moved: moved.diag(X))


@laws
@given(st.data())
def test_pullbacks_of_composites_equal_differences(data):
    width = data.draw(widths)
    kernel = data.draw(nested(width, strangers=True))
    X, Z = data.draw(pairs(width))
    G, g = data.draw(cotangents((len(X), len(Z)))), data.draw(cotangents((len(X),)))
    K, pullback = linearised(kernel, X, Z)
    assert np.array_equal(K, kernel(X, Z))
    assert_gradient(kernel, scales(kernel, X, Z), G, pullback(G), lambda moved: moved(X, Z))
    diagonal, pullback = linearised_diag(kernel, X)
    assert np.array_equal(diagonal, kernel.diag(X))
    assert_gradient(kernel, diagonal, g, pullback(g), lambda moved: moved.diag(X))


def assert_input_gradient(kernel, X, Z, C):
    """Compare an input pullback with differences, one coordinate of X at a time.

    A row alone is compared by direct differences with the rows of Z, so that the kernel is exact
    enough a step away from the kink that matern-12 has where two inputs coincide.
    """
    found = kernel.input_pullback(X, Z, C)
    assert np.all(np.isfinite(found))
    assert found.shape == X.shape
    for i, f in np.ndindex(X.shape):

        def moved(value, i=i, f=f):
            row = X[i : i + 1].copy()
            row[0, f] += value
            return kernel(row, Z)[0]

        scale = scales(kernel, X[i : i + 1], Z)[0]
        assert_close(found[i, f], C[i], slope_at(moved, 0.0), scale, (i, f))


@every_leaf
@laws
@given(st.data())
def test_input_pullback_equals_differences(leaf, data):
    width = data.draw(widths)
    kernel = data.draw(drawn(leaf, width))
    X, Z = data.draw(pairs(width))
    assert_input_gradient(kernel, X, Z, data.draw(cotangents((len(X), len(Z)))))


@laws
@given(st.data())
def test_input_pullbacks_of_composites_equal_differences(data):
    width = data.draw(widths)
    kernel = data.draw(nested(width, strangers=False))
    X, Z = data.draw(pairs(width))
    Z += 1 / 16  # nothing coincides: the kink of matern-12 times a slope is not symmetric
    assert_input_gradient(kernel, X, Z, data.draw(cotangents((len(X), len(Z)))))


@pytest.mark.parametrize("leaf", [*STATIONARY, Periodic])
def test_gradients_survive_a_common_shift(leaf):
    rng = np.random.default_rng(4)
    X, Z = rng.integers(-9, 9, size=(5, 3)) / 8, rng.integers(-9, 9, size=(4, 3)) / 8
    C = rng.normal(size=(5, 4))
    options = {"period": 2.0} if leaf is Periodic else {}
    kernel = leaf(lengthscale=(0.5, 1.0, 2.0), **options)
    here, there = (kernel.linearised(X + s, Z + s)[1](C) for s in (0.0, 1e6))
    np.testing.assert_allclose(there, here, rtol=1e-9, atol=1e-9)
    moved_here, moved_there = (kernel.input_pullback(X + s, Z + s, C) for s in (0.0, 1e6))
    np.testing.assert_allclose(moved_there, moved_here, rtol=1e-9, atol=1e-9)


# ---------------------------------------------------------------------------------------------
# Kernels without a pullback


@laws
@given(st.data())
def test_differences_equal_the_exact_gradient(data):
    width = data.draw(widths)
    exact = data.draw(nested(width, strangers=False))
    X, Z = data.draw(pairs(width))
    G = data.draw(cotangents((len(X), len(Z))))
    K, pullback = linearised(Bare(exact), X, Z)
    assert np.array_equal(K, exact(X, Z))
    # Truncation is 6e-12 times a third derivative in logarithms, up to 1e4 times the value between
    # coinciding inputs where a periodic kernel is at its steepest.
    allowed = 1e-6 * np.sum(np.abs(G) * scales(exact, X, Z)) / values(exact)
    assert np.all(np.abs(pullback(G) - exact.linearised(X, Z)[1](G)) <= allowed)


@every_stationary
def test_differences_are_accurate_to_nine_digits(leaf):
    X = np.random.default_rng(10).normal(size=(30, 3))
    exact = leaf(lengthscale="median-per-feature").started(X)
    _, pullback = linearised(Bare(exact), X, X)
    K, exact_pullback = exact.linearised(X, X)
    np.testing.assert_allclose(pullback(K), exact_pullback(K), rtol=1e-9)


@attrs.frozen
class Transformed:
    """One hyperparameter of each transform, all of which may stand on a bound."""

    name: ClassVar[str] = "transformed"
    scale: float = hyperparameter(1.0, bounds=(0.5, 4.0))
    place: float = hyperparameter(0.0, bounds=(-3e4, 3e4), transform="identity")
    share: float = hyperparameter(0.5, bounds=(1e-9, 0.9), transform="logit")

    def __call__(self, X, Z, /):
        return self.scale**3 * (X - self.place) @ (Z - self.place).T + self.share**2

    def diag(self, X, /):
        return np.diagonal(self(X, X))


@pytest.mark.parametrize("scale", [0.5, 1.7, 4.0])
@pytest.mark.parametrize("place", [-3e4, -1.0, 3e4])
@pytest.mark.parametrize("share", [0.2, 0.9])
def test_differences_keep_to_the_bounds_and_stay_accurate_there(scale, place, share):
    X, Z = np.array([[1.0], [2.5]]), np.array([[-0.5]])
    G = np.array([[1.0], [0.25]])
    exact = [
        np.sum(G * 3 * scale**2 * (X - place) * (Z - place).T),
        np.sum(G * scale**3 * (2 * place - X - Z.T)),
        np.sum(G) * 2 * share,
    ]
    # A declaration's own check raises beyond a bound, so the call itself is a part of the test.
    kernel = Transformed(scale, place, share)
    K, pullback = linearised(kernel, X, Z)
    found = pullback(G)
    # ``share`` adds to a value that may be a billion times larger: its rounding shows.
    rounding = 1e-9 * np.sum(np.abs(G * K)) * np.array([0.0, 0.0, 1.0])
    assert np.all(np.abs(found - exact) <= 1e-8 * np.abs(exact) + rounding)
    diagonal, pullback = linearised_diag(kernel, X)
    assert diagonal.shape == (2,)
    assert pullback(np.ones(2))[0] == pytest.approx(
        3 * np.sum(diagonal - share**2) / scale, rel=1e-8
    )


def test_a_kernel_with_nothing_to_tune_has_an_empty_gradient():
    class Plain:
        name = "plain"

        def __call__(self, X, Z):
            return np.ones((len(X), len(Z)))

        def diag(self, X):
            return np.ones(len(X))

    K, pullback = linearised(Plain(), np.zeros((2, 1)), np.zeros((3, 1)))
    assert K.shape == (2, 3)
    assert pullback(K).shape == (0,)
    total, pullback = linearised(Sum([Plain(), Constant(2.0)]), np.zeros((2, 1)), np.zeros((3, 1)))
    assert np.all(total == 3.0)
    assert pullback(total).tolist() == [18.0]


def test_strings_can_be_added_to_a_constant():
    X = np.array(["abc", "abd"], dtype=object)
    kernel = Sum([Agreement(2.0), Constant(0.5)]).started(X)
    K, pullback = kernel.linearised(X, X)
    assert K.tolist() == [[6.5, 4.5], [4.5, 6.5]]
    np.testing.assert_allclose(pullback(np.ones((2, 2))), [10.0, 4.0], rtol=1e-9)


# ---------------------------------------------------------------------------------------------
# Starting from the data


@laws
@given(st.data())
def test_median_is_that_of_all_pairs(data):
    X = data.draw(rows(data.draw(widths), least=2))
    distances = [float(np.linalg.norm(x - z)) for i, x in enumerate(X) for z in X[:i]]
    apart = [distance for distance in distances if distance > 0]
    expected = np.median(distances) or (np.mean(apart) if apart else 1.0)
    assert SquaredExponential().started(X).lengthscale == pytest.approx(expected, rel=1e-12)


@every_stationary
def test_median_of_many_rows_is_near_that_of_all(leaf):
    X = np.random.default_rng(5).normal(size=(3000, 4))
    everybody = np.linalg.norm(X[:1500] - X[1500:], axis=1)
    # 500 rows give the median to a few per cent, and so do 1500 independent pairs.
    assert leaf().started(X).lengthscale == pytest.approx(np.median(everybody), rel=0.1)
    assert leaf().started(X) == leaf().started(X.copy())


@pytest.mark.parametrize("row_count", [0, 1, 2, 700])
def test_rows_that_are_all_equal_start_at_one(row_count):
    X = np.full((row_count, 3), 0.1)
    assert SquaredExponential().started(X).lengthscale == 1.0
    assert SquaredExponential(1.0, "median-per-feature").started(X).lengthscale == (1.0,) * 3
    assert Periodic().started(X).period == 2.0
    assert Polynomial().started(X).lengthscale == 1.0


def test_one_lengthscale_per_standardised_feature_is_the_median():
    X = np.random.default_rng(6).normal(size=(400, 3))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    found = SquaredExponential(lengthscale="median-per-feature").started(X).lengthscale
    np.testing.assert_allclose(found, median_distance(X), rtol=1e-12)


def test_one_lengthscale_per_feature_follows_its_deviation():
    X = np.random.default_rng(7).normal(size=(900, 3))
    X[:, 2] = 0.1  # its computed deviation is not zero
    units = np.array([1e-2, 1e3, 1.0])
    kernel = SquaredExponential(lengthscale="median-per-feature")
    plain, scaled = kernel.started(X).lengthscale, kernel.started(X * units).lengthscale
    np.testing.assert_allclose(scaled[:2], plain[:2] * units[:2], rtol=1e-12)
    assert plain[2] == median_distance(X)
    assert scaled[2] == median_distance(X * units)


def test_a_rare_feature_is_not_taken_for_a_constant():
    X = np.zeros((5000, 2))
    X[:, 0] = np.random.default_rng(8).normal(size=5000)
    X[1234, 1] = 1.0
    lengthscale = SquaredExponential(lengthscale="median-per-feature").started(X).lengthscale
    ratio = X[:, 1].std() / X[:, 0].std()
    assert lengthscale[1] == pytest.approx(lengthscale[0] * ratio, rel=1e-12)


@pytest.mark.parametrize("unit", [2.0**-150, 2.0**-40, 2.0**50, 2.0**150])
def test_starts_follow_the_unit(unit):
    X = np.random.default_rng(9).normal(size=(20, 2))
    for kernel in (SquaredExponential(1.0, "median-per-feature"), Periodic(), Polynomial()):
        wanted, found = kernel.started(X), kernel.started(unit * X)
        np.testing.assert_allclose(found(unit * X, unit * X), wanted(X, X), rtol=1e-12)


@pytest.mark.parametrize(("unit", "bound"), [(1e80, 1e75), (1e-80, 1e-75)])
def test_starts_keep_to_the_bounds(unit, bound):
    X = unit * np.random.default_rng(9).normal(size=(20, 2))
    assert SquaredExponential().started(X).lengthscale == bound
    assert SquaredExponential(1.0, "median-per-feature").started(X).lengthscale == (bound, bound)
    assert Periodic().started(X).period == bound
    assert Polynomial().started(X).lengthscale == bound


def test_numbers_stay_and_parts_start():
    X = np.array([[0.0], [1.0], [3.0]])
    given_number = SquaredExponential(lengthscale=7.0)
    kernel = Sum([Product([Matern32(), given_number]), Periodic(), Bare(given_number)])
    assert kernel.started(X) == Sum(
        [
            Product([Matern32(lengthscale=2.0), given_number]),
            Periodic(period=4.0),
            Bare(given_number),
        ]
    )
    assert Polynomial().started(X).lengthscale == 2.0
    assert Polynomial(lengthscale=3.0).started(X).lengthscale == 3.0
    assert Periodic(period=3.0).started(X).period == 3.0


# ---------------------------------------------------------------------------------------------
# Errors


@pytest.mark.parametrize(
    ("kernel", "word"),
    [
        *((leaf(), "median") for leaf in STATIONARY),
        (SquaredExponential(lengthscale="median-per-feature"), "median-per-feature"),
        (Periodic(), "median"),
        (Polynomial(), "median"),
    ],
)
def test_a_word_must_be_replaced_before_use(kernel, word):
    X = np.zeros((2, 1))
    says = rf"{kernel.name}.*'{word}'.*a fit.*kernel\.started\(X\).*give a number"
    for use in (
        lambda: kernel(X, X),
        lambda: kernel.linearised(X, X),
        lambda: kernel.input_pullback(X, X, np.ones((2, 2))),
    ):
        with pytest.raises(InputError, match=says):
            use()


@pytest.mark.parametrize("leaf", [*STATIONARY, Periodic])
def test_lengthscales_must_be_as_many_as_features(leaf):
    kernel = attrs.evolve(started_example(leaf, np.zeros((2, 2))), lengthscale=(1.0, 2.0, 3.0))
    with pytest.raises(InputError, match=rf"{leaf.name}.* 3 numbers.*lengthscale.* 2 features"):
        kernel(np.zeros((4, 2)), np.zeros((1, 2)))


@pytest.mark.parametrize("leaf", [leaf for leaf in LEAVES if leaf is not Constant])
def test_inputs_must_be_matrices_of_numbers(leaf):
    kernel = started_example(leaf, np.zeros((2, 1)))
    strings = np.array(["ab", "c"], dtype=object)
    for use in (lambda: kernel(strings, strings), lambda: kernel.diag(strings)):
        with pytest.raises(InputError, match=rf"{leaf.name}.*matrix.*ndarray of shape \(2,\).*obj"):
            use()
    with pytest.raises(InputError, match=r"X\[:, None\]"):
        kernel(np.zeros(3), np.zeros(3))
    with pytest.raises(InputError, match="2 and 3 features"):
        kernel(np.zeros((1, 2)), np.zeros((1, 3)))
    if isinstance(kernel, StartsFromData):
        with pytest.raises(InputError, match=leaf.name):
            leaf().started(strings)


def test_whole_numbers_are_numbers():
    X = np.array([[0, 1], [2, 3]])
    assert np.array_equal(Linear()(X, X), [[1.0, 3.0], [3.0, 13.0]])
    assert Linear()(X, X).dtype == np.float64


@pytest.mark.parametrize("composite", [Sum, Product])
def test_composites_need_kernels(composite):
    with pytest.raises(ValueError, match="at least one kernel"):
        composite([])
    with pytest.raises(ValueError, match=r"\[1\] must be a kernel, found 'linear'"):
        composite([Linear(), "linear"])
    with pytest.raises(ValueError, match=r"\[0\] must be a kernel"):
        composite([Linear])


@pytest.mark.parametrize("composite", [Sum, Product])
def test_a_part_that_cannot_move_is_named(composite):
    kernel = composite([Linear(), Bare(Linear())])
    with pytest.raises(InputError, match=rf"{composite.name}.*part 1 \('bare'\)"):
        kernel.input_pullback(np.zeros((1, 1)), np.zeros((1, 1)), np.ones((1, 1)))


@pytest.mark.parametrize("degree", [0, -1, 2.5, "2"])
def test_degrees_are_whole_and_positive(degree):
    with pytest.raises((ValueError, TypeError), match="degree"):
        Polynomial(degree=degree)


# ---------------------------------------------------------------------------------------------
# How they enter


def test_the_hook_names_every_kernel_once():
    assert [kernel.name for kernel in sgpc_kernels()] == [
        "squared-exponential",
        "matern-12",
        "matern-32",
        "matern-52",
        "rational-quadratic",
        "periodic",
        "linear",
        "polynomial",
        "constant",
        "sum",
        "product",
        "warped",
        "mahalanobis",
        "stretched",
    ]


@pytest.mark.parametrize("cls", sgpc_kernels())
def test_abilities_and_annotations(cls):
    kernel = cls([Linear()]) if cls in (Sum, Product) else cls()
    assert isinstance(kernel, Kernel)
    assert isinstance(kernel, KernelPullback)
    assert isinstance(kernel, KernelInputPullback) == (cls is not Warped)
    assert isinstance(kernel, StartsFromData) == (cls not in (Linear, Constant))
    assert hash(kernel) == hash(attrs.evolve(kernel))
    hints = typing.get_type_hints(cls)
    assert {field.name for field in attrs.fields(cls)} <= hints.keys()


def test_lists_and_arrays_of_lengthscales_become_tuples():
    for given_as in ([1.0, 2.0], np.array([1.0, 2.0]), (1, 2)):
        assert SquaredExponential(lengthscale=given_as) == SquaredExponential(
            lengthscale=(1.0, 2.0)
        )


@pytest.mark.parametrize(
    "module",
    [module.name for module in pkgutil.iter_modules(sgpc_plugins.kernels.__path__)],
)
def test_examples_run(module):
    failed, _ = doctest.testmod(importlib.import_module(f"sgpc_plugins.kernels.{module}"))
    assert failed == 0


@every_stationary
@pytest.mark.parametrize("offset", [1e4, 1e6, 1e8])
def test_clusters_far_from_each_other_keep_their_digits(leaf, offset):
    """|x|² - 2 x·z + |z|² would have lost them, and the kernel its positive definiteness."""
    base = np.random.default_rng(3).standard_normal((30, 3)).astype(np.float32).astype(float)
    X = np.vstack([base, base + np.array([offset, 0.0, 0.0]), base - offset])
    kernel = leaf(lengthscale=1.0)
    direct = np.hstack([kernel(X, X[j : j + 1]) for j in range(len(X))])
    np.testing.assert_allclose(kernel(X, X), direct, atol=1e-11)
    assert np.linalg.eigvalsh(kernel(X, X)).min() > -1e-9


@pytest.mark.parametrize(
    ("bounds", "transform"),
    [((0.0, 1.0), "log"), ((2.0, 1.0), "log"), ((1e-3, math.inf), "log"), ((0.1, 1.0), "logit")],
)
def test_bounds_must_be_finite_where_the_optimiser_works(bounds, transform):
    with pytest.raises(ValueError, match="bounds"):
        hyperparameter(0.5, bounds=bounds, transform=transform)


def test_a_hyperparameter_is_a_number():
    with pytest.raises(TypeError, match="number"):
        SquaredExponential(variance=True)


def test_kernels_say_how_much_each_feature_matters():
    for cls in (SquaredExponential, Matern32, RationalQuadratic):
        np.testing.assert_allclose(cls(lengthscale=(0.5, 10.0)).relevances(), [2.0, 0.1])
        assert cls(lengthscale=2.0).relevances() is None
        assert cls().relevances() is None


@pytest.mark.parametrize(
    "kernel",
    [
        *(leaf() for leaf in LEAVES if leaf is not Polynomial),
        Polynomial(degree=3),
        RationalQuadratic(shape=0.4),
        Sum((Matern12(), Linear())),
        Product((Matern32(lengthscale=(0.7, 2.0)), Periodic(period=1.7))),
        Warped(Matern52(), ((-1.0, 0.5, 2.0), ()), ((-2.0, 0.0, 0.3), ())),
        Mahalanobis(Matern52(), scale=(1.0, 2.0), mixing=(0.5, 2.0, -1.0, 0.1)),
        Stretched(Matern52(), ((-1.0, 0.5, 2.0), ()), (3.0, 0.2)),
    ],
    ids=lambda kernel: kernel.name,
)
def test_an_expression_is_the_kernel(kernel):
    """What other languages are told has the numbers of what is fitted, whatever its values."""
    rng = np.random.default_rng(6)
    X, Z = rng.normal(size=(6, 2)), rng.normal(size=(4, 2))
    if isinstance(kernel, StartsFromData):
        kernel = kernel.started(X)
    for factor in (1.0, 1.3):
        other = replaced(kernel, factor * values(kernel))
        np.testing.assert_allclose(evaluate(other.expression(), X, Z), other(X, Z), rtol=1e-9)
