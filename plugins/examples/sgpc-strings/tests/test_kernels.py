"""What these kernels compute: compared with their definitions, letter by letter."""

from collections import Counter

import numpy as np
import pytest
import sgpc_framework as sgpc

from sgpc_strings import Spectrum, WeightedDegree
from sgpc_strings.letters import sample
from sgpc_strings.sequences import planted

AWKWARD = ["", "A", "AC", "ACGTACGT", "acgt", "AAAAAAAAAA", "GATTACA", "A\0C", "\0", "naïve"]


def spectrum_by_definition(x: str, z: str, length: int) -> float:
    def counts(text: str) -> Counter[str]:
        return Counter(text[i : i + length] for i in range(len(text) - length + 1))

    def product(a: Counter[str], b: Counter[str]) -> int:
        return sum(count * b[piece] for piece, count in a.items())

    a, b = counts(x), counts(z)
    return product(a, b) / np.sqrt(max(product(a, a) * product(b, b), 1))


def weighted_degree_by_definition(x: str, z: str, degree: int, growth: float) -> float:
    def agreements(a: str, b: str) -> float:
        return sum(
            growth ** (d - 1) * (a[i : i + d] == b[i : i + d])
            for d in range(1, degree + 1)
            for i in range(min(len(a), len(b)) - d + 1)
        )

    return agreements(x, z) / np.sqrt((agreements(x, x) * agreements(z, z)) or 1.0)


@pytest.mark.parametrize("length", [1, 2, 3, 8])
def test_the_spectrum_is_the_cosine_of_the_counts(length):
    kernel = Spectrum(variance=2.0, length=length)
    wanted = [[2.0 * spectrum_by_definition(x, z, length) for z in AWKWARD] for x in AWKWARD]
    np.testing.assert_allclose(kernel(AWKWARD, AWKWARD), wanted, atol=1e-14)
    np.testing.assert_allclose(kernel.diag(AWKWARD), np.diag(wanted), atol=1e-14)


@pytest.mark.parametrize(("degree", "growth"), [(1, 1.0), (2, 1.0), (4, 0.6), (12, 1.7)])
def test_the_weighted_degree_counts_agreements_in_place(degree, growth):
    kernel = WeightedDegree(variance=2.0, growth=growth, degree=degree)
    wanted = [
        [2.0 * weighted_degree_by_definition(x, z, degree, growth) for z in AWKWARD]
        for x in AWKWARD
    ]
    np.testing.assert_allclose(kernel(AWKWARD, AWKWARD), wanted, atol=1e-14)
    np.testing.assert_allclose(kernel.diag(AWKWARD), np.diag(wanted), atol=1e-14)


@pytest.mark.parametrize("kernel", [Spectrum(), WeightedDegree()])
def test_the_two_sides_may_have_any_sizes(kernel):
    X = sample(20, np.random.default_rng(0))
    K = kernel(X, X)
    np.testing.assert_allclose(kernel(X[:3], X), K[:3])
    np.testing.assert_allclose(kernel(X, X[:3]), K[:, :3])
    assert kernel(X[:0], X).shape == (0, 20)
    assert kernel(X, X[:0]).shape == (20, 0)


@pytest.mark.parametrize("kernel", [Spectrum(), WeightedDegree()])
def test_what_is_no_string_of_bytes_is_refused(kernel):
    with pytest.raises(sgpc.InputError, match="wants strings, found an object of type float"):
        kernel(np.ones(2), ["A"])
    with pytest.raises(sgpc.InputError, match="one byte each"):
        kernel(["ACG\N{GREEK SMALL LETTER ALPHA}"], ["ACG"])


def test_a_signal_at_a_fixed_place_is_found_sparsely():
    X, y = planted(1600, seed=1)
    one_hot = np.array([[letter == known for letter in x for known in "ACGT"] for x in X], float)

    def test_error(kernel: str, inputs) -> float:
        design = sgpc.build(kernel=kernel, max_basis=30, max_iterations=6)
        return np.mean(design.fit(inputs[:600], y[:600]).predict(inputs[600:]) != y[600:])

    error = test_error("weighted-degree", X)
    assert error < 0.1
    assert error < test_error("squared-exponential", one_hot) / 2


def test_a_model_of_strings_can_be_saved(tmp_path):
    X, y = planted(100)
    model = sgpc.build(kernel="spectrum", max_basis=5, max_iterations=1).fit(X, y)
    model.save(tmp_path / "strings.sgpc")
    loaded = sgpc.load(tmp_path / "strings.sgpc")
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
