"""A registry that was given once is used everywhere after: errors, provenance, files."""

from __future__ import annotations

import pickle
from typing import ClassVar

import attrs
import numpy as np
import pytest

import sgpc_framework as sgpc
from sgpc_framework import datasets
from sgpc_framework.parts.calls import registry_in_use, using
from sgpc_framework.parts.hyperparameters import hyperparameter
from sgpc_framework.plugin.registry import Registry, default_registry
from sgpc_framework.rows import threads

X, Y = datasets.twonorm(60, seed=2)


@attrs.frozen
class Bumpy:
    """A linear kernel that cannot bear some inputs."""

    name: ClassVar[str] = "bumpy"
    variance: float = hyperparameter(1.0, bounds=(0.1, 10.0))

    def __call__(self, X, Z):
        if np.any(X > 1e6) or np.any(Z > 1e6):
            raise OverflowError("too far")
        return self.variance * (X @ Z.T)

    def diag(self, X):
        return self.variance * np.sum(X**2, axis=1)


REGISTRY = default_registry().extended(Bumpy)
FAR = np.vstack([X, np.full((1, X.shape[1]), 1e7)])


def design():
    return sgpc.build(kernel="bumpy", max_basis=3, max_iterations=1, registry=REGISTRY)


def blamed_on(call) -> str:
    with pytest.raises(sgpc.PluginError, match="too far") as caught:
        call()
    return caught.value.distribution


def test_a_fit_blames_and_remembers_with_its_registry():
    assert blamed_on(lambda: design().fit(FAR, [*Y, 1.0])) == "(not installed)"
    model = design().fit(X, Y)
    assert {"kernel": "(not installed)"}.items() <= {
        part.slot: part.distribution for part in model.provenance.parts
    }.items()
    assert model.provenance.config["kernel"]["variance"] == 1.0
    assert blamed_on(lambda: model.predict(FAR)) == "(not installed)"
    assert registry_in_use() is default_registry()


def test_without_it_a_model_asks_for_it(tmp_path):
    design().fit(X, Y).save(tmp_path / "m")
    with pytest.raises(sgpc.ModelFileError, match="load it with a registry that has its class"):
        sgpc.load(tmp_path / "m")


def test_a_model_is_saved_and_loaded_and_saved_again_without_another_word(tmp_path):
    design().fit(X, Y).save(tmp_path / "m")
    with pytest.raises(sgpc.ModelFileError, match="bumpy"):
        sgpc.load(tmp_path / "m")
    loaded = sgpc.load(tmp_path / "m", REGISTRY)
    loaded.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "m").read_bytes()
    assert blamed_on(lambda: loaded.predict(FAR)) == "(not installed)"


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_many_classes_too(tmp_path, n_jobs):
    pytest.importorskip("joblib")
    labels = np.arange(len(X)) % 3
    model = design().fit(X, labels, n_jobs=n_jobs)
    model.save(tmp_path / "m")
    sgpc.load(tmp_path / "m", REGISTRY).save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "m").read_bytes()


def test_threads_know_the_registry(monkeypatch):
    monkeypatch.setattr(threads, "MANY_ROWS", 1)
    token = threads._allowed.set(2)
    try:
        with using(REGISTRY):
            seen = list(
                threads.over_blocks(
                    lambda _: (registry_in_use() is REGISTRY, threads._allowed.get()), range(9), 9
                )
            )
    finally:
        threads._allowed.reset(token)
    assert set(seen) == {(True, 1)}


def test_registries_can_be_pickled():
    assert pickle.loads(pickle.dumps(default_registry())) is default_registry()
    again = pickle.loads(pickle.dumps(REGISTRY))
    assert again.parts() == REGISTRY.parts()
    assert again.get("kernel", "bumpy") is Bumpy
    assert pickle.loads(pickle.dumps(Registry.of(Bumpy))).names("kernel") == ("bumpy",)
    model = pickle.loads(pickle.dumps(design().fit(X, Y)))
    assert model.provenance.registry.provider(Bumpy) is not None
