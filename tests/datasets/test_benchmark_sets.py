"""The benchmark sets: found, divided as in the paper, and refused when they are not what they say.

Everything but the last part runs on made-up files, so it needs no data.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from sgpc_framework import datasets
from sgpc_framework.datasets import BENCHMARKS, benchmark
from sgpc_framework.errors import InputError

GENERATED = ["waveform", "twonorm", "ringnorm"]
FILES_ONLY = ["banana", "splice", "image"]


def made_up(name: str) -> dict[str, np.ndarray]:
    """X whose first column is the row's number, and labels in the right balance."""
    facts = BENCHMARKS[name]
    X = np.zeros((facts.rows, facts.features))
    X[:, 0] = np.arange(facts.rows)
    y = np.where(np.arange(facts.rows) < facts.positive, 1, -1).astype(np.int8)
    return {"X": X, "y": y}


def splits(rows: int, train: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(7)
    orders = np.array([rng.permutation(rows) for _ in range(count)], dtype=np.int32)
    return orders[:, :train], orders[:, train:]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SGPC_DATA_DIR", str(tmp_path))
    return tmp_path


@pytest.fixture
def nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SGPC_DATA_DIR", raising=False)


def numbers(data: datasets.Benchmark) -> tuple[list[float], list[float]]:
    return data.X[:, 0].tolist(), data.X_test[:, 0].tolist()


# ---------------------------------------------------------------------------------------------
# Divided as in the paper


def test_the_sizes_are_those_of_the_paper():
    sizes = {name: (facts.train, facts.test) for name, facts in BENCHMARKS.items()}
    assert sizes == {
        "banana": (4000, 1300),
        "waveform": (4000, 1000),
        "twonorm": (4000, 3400),
        "ringnorm": (4000, 3400),
        "splice": (2000, 1175),
        "image": (1300, 1010),
    }


def test_the_top_test_rows_of_a_split_join_its_training_rows(folder):
    train, test = splits(5300, 400, count=3)
    np.savez(folder / "banana.npz", **made_up("banana"), train=train, test=test)
    data = benchmark("banana", partition=2)
    assert data.source == "Raetsch's split 3"
    assert numbers(data) == ([*train[2], *test[2][:3600]], [*test[2][3600:]])
    assert data.y.tolist() == np.where(data.X[:, 0] < 2376, 1.0, -1.0).tolist()
    assert data.X.dtype == data.y.dtype == np.float64


def test_a_split_of_the_right_size_stays_as_it_is(folder):
    train, test = splits(2310, 1300, count=1)
    np.savez(folder / "image.npz", **made_up("image"), train=train, test=test)
    assert numbers(benchmark("image")) == (train[0].tolist(), test[0].tolist())


def test_splice_has_one_split_of_libsvm(folder):
    train, test = splits(3175, 1000, count=1)
    np.savez(folder / "splice.npz", **made_up("splice"), libsvm_train=train, libsvm_test=test)
    data = benchmark("splice")
    assert data.source == "LIBSVM's split 1"
    assert numbers(data) == ([*train[0], *test[0][:1000]], [*test[0][1000:]])
    assert benchmark("splice", partition=1).source == "random partition 1"


def test_partitions_beyond_the_splits_are_random_and_reproducible(folder):
    train, test = splits(5300, 400, count=1)
    np.savez(folder / "banana.npz", **made_up("banana"), train=train, test=test)
    once, again, other = (benchmark("banana", partition) for partition in (12, 12, 13))
    assert once.source == "random partition 12"
    assert numbers(once) == numbers(again) != numbers(other)
    train_rows, test_rows = numbers(once)
    assert sorted(train_rows + test_rows) == list(range(5300))
    assert (len(once.y), len(once.y_test)) == (4000, 1300)


# ---------------------------------------------------------------------------------------------
# Without a file


@pytest.mark.parametrize("name", GENERATED)
def test_three_are_generated_without_the_variable(name, nowhere):
    facts, data = BENCHMARKS[name], benchmark(name, partition=5)
    X, y = getattr(datasets, name)(facts.rows, seed=5)
    assert (data.name, data.source) == (name, "generated")
    assert np.array_equal(np.vstack([data.X, data.X_test]), X)
    assert np.array_equal(np.concatenate([data.y, data.y_test]), y)
    assert data.X.shape == (facts.train, facts.features)


@pytest.mark.parametrize("name", GENERATED)
def test_three_are_generated_without_the_file(name, folder):
    assert benchmark(name).source == "generated"


@pytest.mark.parametrize("name", FILES_ONLY)
def test_the_others_say_what_is_missing(name, nowhere):
    with pytest.raises(InputError, match=rf"{name}\.npz, but SGPC_DATA_DIR is not set.*let SGPC"):
        benchmark(name)


@pytest.mark.parametrize("name", FILES_ONLY)
def test_the_others_say_where_they_looked(name, folder):
    with pytest.raises(InputError) as caught:
        benchmark(name)
    assert f"{folder} does not have it" in str(caught.value)


def test_available_lists_files_and_generators(folder):
    assert datasets.available() == ("waveform", "twonorm", "ringnorm")
    np.savez(folder / "splice.npz", **made_up("splice"))
    assert datasets.available() == ("waveform", "twonorm", "ringnorm", "splice")


# ---------------------------------------------------------------------------------------------
# Refused


def test_close_names_are_suggested():
    with pytest.raises(InputError, match="no benchmark set 'bananna'; did you mean 'banana'"):
        benchmark("bananna")


def test_a_negative_partition_is_refused():
    with pytest.raises(InputError, match="at least 0, found -1"):
        benchmark("twonorm", partition=-1)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda a: a.pop("y"), "wanted arrays X and y, found X"),
        (lambda a: a.update(X=a["X"][:-1]), r"\(5300, 2\).*found \(5299, 2\)"),
        (lambda a: a.update(y=a["y"][:, None]), r"found \(5300, 2\) and \(5300, 1\)"),
        (lambda a: a.update(y=-a["y"]), "wanted 2376 labels .1 and 2924 .* found 2924 and 2376"),
        (lambda a: a.update(y=a["y"] * 2), "found 0 and 0"),
        (lambda a: a.update(train=a["train"] * 0), "every row once in split 1"),
        (lambda a: a.update(X=a["X"].astype(object)), "plain arrays.*fetch it again"),
    ],
)
def test_a_wrong_file_is_refused(change, text, folder):
    train, test = splits(5300, 400, count=1)
    arrays = {**made_up("banana"), "train": train, "test": test}
    change(arrays)
    np.savez(folder / "banana.npz", **arrays)
    with pytest.raises(InputError, match=rf"banana\.npz: .*{text}"):
        benchmark("banana")


@pytest.mark.parametrize("content", [b"", b"not an archive", b"PK\x03\x04 cut off"])
def test_what_is_no_archive_is_refused(content, folder):
    (folder / "banana.npz").write_bytes(content)
    with pytest.raises(InputError, match="npz file of plain arrays"):
        benchmark("banana")


def test_a_single_array_is_refused(folder):
    with (folder / "banana.npz").open("wb") as file:
        np.save(file, np.zeros(3))
    with pytest.raises(InputError, match="npz file of plain arrays"):
        benchmark("banana")


def test_importing_is_light():
    script = "import sgpc_framework.datasets, sys; print('sklearn' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "False"


# ---------------------------------------------------------------------------------------------
# The files themselves


@pytest.mark.skipif(not os.environ.get("SGPC_DATA_DIR"), reason="SGPC_DATA_DIR is not set")
@pytest.mark.parametrize("partition", [0, 99])
@pytest.mark.parametrize("name", BENCHMARKS)
def test_the_files_are_what_they_should_be(name, partition):
    if name not in datasets.available():
        pytest.skip(f"SGPC_DATA_DIR does not have {name}")
    facts, data = BENCHMARKS[name], benchmark(name, partition)
    assert data.X.shape == (facts.train, facts.features)
    assert data.X_test.shape == (facts.test, facts.features)
    assert np.all(np.isfinite(data.X))
    assert {*data.y} == {*data.y_test} == {-1.0, 1.0}
    if data.source != "generated":
        assert np.sum(data.y > 0) + np.sum(data.y_test > 0) == facts.positive
        assert data.source == f"random partition {partition}" or partition == 0
