"""Models of objects: graphs go into a file and come back, and nothing in it is believed."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import ClassVar

import attrs
import numpy as np
import pytest

import sgpc_framework as sgpc
from sgpc_framework.authors import KernelArithmetic, hyperparameter
from sgpc_framework.files.archive import npy, read_members, write_whole
from sgpc_framework.files.model_files import MANIFEST
from sgpc_framework.plugin.registry import default_registry
from sgpc_framework.testing import run_checks
from sgpc_plugins.kernels import Constant


@attrs.frozen
class Graph:
    """The edges of a graph; the numbers of its vertices go from zero up."""

    edges: tuple[tuple[int, int], ...]

    def degrees(self):
        counts = np.zeros(8)
        for edge in self.edges:
            for vertex in edge:
                counts[vertex] += 1.0
        return np.bincount(counts.astype(int), minlength=9)[1:9].astype(float)


@attrs.frozen
class Degrees(KernelArithmetic):
    """Graphs are alike if their vertices have as many neighbours."""

    name: ClassVar[str] = "degrees"
    variance: float = hyperparameter(1.0, bounds=(1e-3, 1e3))

    def __call__(self, X, Z):
        left, right = (np.array([g.degrees() for g in side]).reshape(-1, 8) for side in (X, Z))
        return self.variance * (left @ right.T)

    def diag(self, X):
        return self.variance * np.array([g.degrees() @ g.degrees() for g in X], dtype=float)

    def encode_inputs(self, X):
        return [[list(edge) for edge in graph.edges] for graph in X]

    def decode_inputs(self, data):
        graphs = [Graph(tuple((_vertex(a), _vertex(b)) for a, b in edges)) for edges in data]
        return np.fromiter(graphs, dtype=object, count=len(graphs))

    def sample_inputs(self, rows, rng):
        return graphs_of(rows, rng)


def _vertex(number):
    if type(number) is not int or not 0 <= number < 8:
        raise ValueError(f"wanted a vertex from 0 to 7, found {number!r}")
    return number


@attrs.frozen
class Matrices(Degrees):
    """The same, stored as an array of adjacency matrices."""

    name: ClassVar[str] = "matrices"

    def encode_inputs(self, X):
        adjacency = np.zeros((len(X), 8, 8))
        for number, graph in enumerate(X):
            for a, b in graph.edges:
                adjacency[number, a, b] += 1.0
        return adjacency

    def decode_inputs(self, data):
        if data.ndim != 3 or data.shape[1:] != (8, 8):
            raise ValueError(f"wanted matrices of 8 x 8, found {data.shape}")
        edges = (tuple(zip(*map(np.ndarray.tolist, np.nonzero(one)), strict=True)) for one in data)
        return np.fromiter(map(Graph, edges), dtype=object, count=len(data))


def graphs_of(rows, rng):
    """Stars and paths."""
    graphs = np.empty(rows, dtype=object)
    for row in range(rows):
        size = int(rng.integers(4, 8))
        star = tuple((0, vertex) for vertex in range(1, size))
        path = tuple((vertex, vertex + 1) for vertex in range(size - 1))
        graphs[row] = Graph(star if row % 2 else path)
    return graphs


X = graphs_of(40, np.random.default_rng(0))
Y = np.arange(40) % 2
REGISTRY = default_registry().extended(Degrees, Matrices)
KERNELS = [Degrees(), Matrices(), Constant() + 2.0 * Degrees()]


def fitted(kernel):
    return sgpc.build(kernel=kernel, max_basis=5, max_iterations=2, registry=REGISTRY).fit(X, Y)


@pytest.mark.parametrize("kernel", KERNELS, ids=["plain data", "array", "nested"])
def test_a_model_of_graphs_comes_back_to_the_bit(kernel, tmp_path):
    model = fitted(kernel)
    model.save(tmp_path / "m")
    loaded = sgpc.load(tmp_path / "m", REGISTRY)
    assert isinstance(loaded.inputs[0], Graph)
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(model.predict(X), Y)
    loaded.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "m").read_bytes()


@pytest.mark.parametrize("kernel", KERNELS, ids=["plain data", "array", "nested"])
def test_a_model_without_basis_vectors_comes_back_too(kernel, tmp_path):
    design = sgpc.build(kernel=kernel, refiner={"name": "prune", "price": 1e6}, registry=REGISTRY)
    model = design.fit(X, Y)
    assert len(model) == 0
    model.save(tmp_path / "m")
    loaded = sgpc.load(tmp_path / "m", REGISTRY)
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize("kernel", [Degrees(), Matrices()])
def test_such_kernels_obey_the_laws(kernel):
    names = []
    for result in run_checks(kernel, REGISTRY):
        assert result.ok, result.problem
        names.append(result.name)
    assert "kernel: stored inputs come back" in names


def test_the_kit_catches_inputs_that_come_back_as_others():
    @attrs.frozen
    class Forgetful(Degrees):
        name: ClassVar[str] = "forgetful"

        def encode_inputs(self, X):
            return super().encode_inputs(X[::-1])

    failed = [result.name for result in run_checks(Forgetful()) if not result.ok]
    assert failed == ["kernel: stored inputs come back"]


def test_objects_without_an_encoding_are_refused(tmp_path):
    @attrs.frozen
    class Silent:
        name: ClassVar[str] = "silent"
        __call__, diag, variance = Degrees.__call__, Degrees.diag, 1.0

    model = sgpc.build(kernel=Silent(), max_basis=3, max_iterations=1).fit(X, Y)
    with pytest.raises(sgpc.ModelFileError, match=r"numbers or strings.*Graph.*StorableInputs"):
        model.save(tmp_path / "m", default_registry().extended(Silent))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        (lambda self, X: {1, 2}, "plain data"),
        (lambda self, X: [[[0, np.nan]]] * len(X), "plain data"),
        (lambda self, X: np.array(["a"] * len(X)), "array of <U1"),
        (lambda self, X: [[[0, 1]]], "wanted 5 objects"),
        (lambda self, X: [[[0, 9]] for _ in X], "cannot decode"),
        (lambda self, X: [[[0, len(g.edges) + 1]] for g in X], "come back"),
    ],
)
def test_an_encoding_that_would_not_come_back_is_refused(code, problem, tmp_path):
    odd = attrs.frozen(type("Odd", (Degrees,), {"name": "odd", "encode_inputs": code}))
    model = sgpc.build(kernel=odd(), max_basis=5, max_iterations=1, selector="random-sampling")
    with pytest.raises(sgpc.ModelFileError, match=problem):
        model.fit(X, Y).save(tmp_path / "m", default_registry().extended(odd))


def forged(path: Path, kind: object, inputs: np.ndarray) -> Path:
    """The file of a model with other inputs in it, sealed as if it were honest."""
    members = read_members(path)
    manifest = json.loads(members[MANIFEST])
    members["0.inputs.npy"] = npy(inputs)
    manifest["models"][0]["inputs"] = kind
    manifest["sha256"]["0.inputs.npy"] = hashlib.sha256(members["0.inputs.npy"]).hexdigest()
    members[MANIFEST] = json.dumps(manifest).encode()
    write_whole(path, members)
    return path


def text(data: str) -> np.ndarray:
    return np.frombuffer(data.encode(), dtype=np.uint8)


@pytest.mark.parametrize(
    ("kind", "inputs", "problem"),
    [
        ("encoded", text("[[[0, 1]]]"), "objects from decode_inputs"),
        ("encoded", text("[[[0, 99]],[],[],[],[]]"), "wanted a vertex from 0 to 7, found 99"),
        ("encoded", text('{"a": 1}'), "cannot decode"),
        ("encoded", text("[NaN]"), "not JSON"),
        ("encoded", text("[" * 100_000), "not JSON"),
        ("encoded", np.ones((5, 2)), "bytes of JSON"),
        ("arrays", np.ones((5, 2)), "cannot decode"),
        ("arrays", np.zeros((0, 8, 8)), "cannot decode|objects"),
        ("numbers", np.ones((5, 2)), "."),
        ("strings", text('["a","b","c","d","e"]'), "."),
        ("pickles", text("[]"), "wanted inputs that are numbers or strings or encoded"),
        (None, text("[]"), "wanted inputs that are"),
    ],
)
def test_a_forged_file_is_refused(kind, inputs, problem, tmp_path):
    fitted(Degrees()).save(tmp_path / "m")
    with pytest.raises(sgpc.ModelFileError, match=problem):
        sgpc.load(forged(tmp_path / "m", kind, inputs), REGISTRY)


def test_a_kernel_without_the_words_cannot_read_them(tmp_path):
    data = np.random.default_rng(1).normal(size=(20, 2))
    model = sgpc.build(max_basis=3, max_iterations=1).fit(data, np.arange(20) % 2)
    model.save(tmp_path / "m")
    with pytest.raises(sgpc.ModelFileError, match="cannot read them"):
        sgpc.load(forged(tmp_path / "m", "encoded", text("[1, 2, 3]")))


def test_a_list_of_arrays_of_one_shape_is_told_how_to_become_objects():
    images = [np.full((2, 2), float(number)) for number in range(6)]
    with pytest.raises(sgpc.InputError, match=r"1-D object array.*np\.fromiter\(items") as caught:
        sgpc.build().fit(images, [0, 1] * 3)
    assert "(6, 2, 2)" in str(caught.value)
    objects = np.fromiter(images, dtype=object, count=len(images))
    assert objects.shape == (6,)
    assert objects[3] is images[3]


def test_a_list_of_arrays_of_different_shapes_is_a_list_of_objects():
    from sgpc_framework.rows.checking import checked_inputs

    shapes = [(2, 2), (2, 3), (2, 2)]
    checked = checked_inputs([np.ones(shape) for shape in shapes])
    assert checked.dtype == object
    assert [one.shape for one in checked] == shapes
