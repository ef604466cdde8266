"""Raetsch's ``benchmarks.mat``, in files that the tests write in its structure."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.io import savemat

from sgpc_framework import datasets
from sgpc_framework.datasets import BENCHMARKS, benchmark
from sgpc_framework.errors import InputError

TRAIN = {"banana": 400, "image": 1300, "splice": 1000}
DISTINCT = {"banana": 5300, "image": 2086, "splice": 2991}


def structure(name: str, splits: int = 3, sign: int = 1) -> dict[str, np.ndarray]:
    """Distinct patterns whose first feature is their number; the first of them occur twice."""
    facts, distinct = BENCHMARKS[name], DISTINCT[name]
    twice = facts.rows - distinct
    x = np.zeros((distinct, facts.features))
    x[:, 0] = np.arange(1, distinct + 1)
    positive = np.arange(distinct) < facts.positive - twice  # all that occur twice are +1
    every = np.concatenate([np.arange(1, distinct + 1), np.arange(1, twice + 1)])
    rng = np.random.default_rng(3)
    orders = np.array([rng.permutation(every) for _ in range(splits)], dtype=np.uint16)
    return {
        "x": x,
        "t": np.where(positive, sign, -sign)[:, None].astype(np.int8),
        "train": orders[:, : TRAIN[name]],
        "test": orders[:, TRAIN[name] :],
    }


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("SGPC_DATA_DIR", str(tmp_path))
    return tmp_path


def write(folder, **sets) -> None:
    # The collection also has a cell array with the names of its sets.
    names = np.array([*sets, "titanic"], dtype=object)
    savemat(folder / "benchmarks.mat", {"benchmarks": names, **sets})


@pytest.mark.parametrize("name", DISTINCT)
def test_splits_are_raetschs_with_the_papers_sizes(name, folder):
    entry = structure(name)
    write(folder, **{name: entry})
    for partition in range(3):
        data = benchmark(name, partition)
        order = np.concatenate([entry["train"][partition], entry["test"][partition]])
        train = BENCHMARKS[name].train
        assert data.source == f"Raetsch's split {partition + 1}"
        np.testing.assert_array_equal(data.X[:, 0], order[:train])
        np.testing.assert_array_equal(data.X_test[:, 0], order[train:])
        np.testing.assert_array_equal(data.y, entry["t"][order[:train] - 1, 0])


def test_beyond_the_splits_partitions_are_random_and_have_every_row(folder):
    write(folder, image=structure("image"))
    first, again, other = (benchmark("image", partition) for partition in (3, 3, 4))
    assert first.source == "random partition 3"
    np.testing.assert_array_equal(first.X, again.X)
    assert not np.array_equal(first.X, other.X)
    numbers = np.concatenate([first.X[:, 0], first.X_test[:, 0]])
    assert np.sum(numbers == 1.0) == 2  # the first pattern occurs twice
    assert len(np.unique(numbers)) == 2086


def test_exchanged_signs_are_put_right(folder):
    write(folder, splice=structure("splice", sign=-1))
    data = benchmark("splice")
    assert np.sum(data.y > 0) + np.sum(data.y_test > 0) == BENCHMARKS["splice"].positive


def test_the_collection_goes_before_single_files_and_they_fill_its_gaps(folder):
    facts = BENCHMARKS["banana"]
    y = np.where(np.arange(facts.rows) < facts.positive, 1, -1)
    np.savez(folder / "banana.npz", X=np.ones((facts.rows, 2)), y=y)
    write(folder, image=structure("image"))
    assert datasets.where("banana") == str(folder / "banana.npz")
    assert datasets.where("image") == str(folder / "benchmarks.mat")
    assert benchmark("banana").source == "random partition 0"
    assert datasets.available() == ("banana", "waveform", "twonorm", "ringnorm", "image")
    write(folder, banana=structure("banana"))
    assert benchmark("banana").source == "Raetsch's split 1"


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda e: e.pop("test"), "structure with the fields x, t, train, test, found x, t, train"),
        (lambda e: e.update(x=e["x"][:, :1]), r"shapes \(5300, 2\).*found \(5300, 1\)"),
        (lambda e: e.update(t=np.ones((5300, 1))), "wanted 2376 labels .1.*found 5300 and 0"),
        (lambda e: e.update(t=e["t"][:-1]), r"wanted matrices of numbers in banana, found x"),
        (lambda e: e.update(train=e["train"] - 1), "numbers of 1 to 5300 in split 1.*found 0 to"),
        (lambda e: e.update(test=e["test"] + 1), "found 1 to 5301"),
        (lambda e: e.update(train=e["train"] * 0 + 7), "every pattern in split 1 of banana"),
        (lambda e: e.update(train=np.zeros((0, 400))), "at least one split of banana, found none"),
    ],
)
def test_what_is_wrong_with_a_structure_is_said(change, text, folder):
    entry = structure("banana")
    change(entry)
    write(folder, banana=entry)
    with pytest.raises(InputError, match=rf"benchmarks\.mat.*{text}"):
        benchmark("banana")


def test_a_plain_matrix_is_no_structure(folder):
    write(folder, banana=np.ones((3, 3)))
    with pytest.raises(InputError, match=r"found float64 in shape \(3, 3\)"):
        benchmark("banana")


@pytest.mark.parametrize("content", [b"", b"not a MATLAB file" * 20, b"\x89HDF\r\n\x1a\n" * 40])
def test_what_is_no_matlab_file_is_refused(content, folder):
    (folder / "benchmarks.mat").write_bytes(content)
    with pytest.raises(InputError, match=r"benchmarks\.mat: wanted a MATLAB file"):
        benchmark("banana")


def test_a_damaged_file_is_refused(folder):
    write(folder, banana=structure("banana"))
    path = folder / "benchmarks.mat"
    path.write_bytes(path.read_bytes()[:20_000])
    with pytest.raises(InputError, match=r"benchmarks\.mat: wanted a MATLAB file"):
        benchmark("banana")
