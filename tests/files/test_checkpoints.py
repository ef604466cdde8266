"""Fits with a checkpoint: killed anywhere, they end with the same file; what differs is refused."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import warnings
from typing import ClassVar

import attrs
import numpy as np
import pytest
import scipy

import sgpc_framework as sgpc
from sgpc_framework.authors import hyperparameter
from sgpc_framework.datasets import waveform
from sgpc_framework.engine.log import Note
from sgpc_framework.errors import CheckpointError, CheckpointWarning, StopFitting
from sgpc_framework.files import checkpoints, sealed_log
from sgpc_framework.files.record_pieces import text_of
from sgpc_framework.files.sealed_log import SealedLog, read_records

X, y = waveform(120, seed=4)
THREE = (X[:, 0] > 1.0).astype(int) + (X[:, 5] > 1.0)
BRIEF = {"name": "corrective", "penalty": 1.0, "batches": 5, "iterations": 5}
DESIGNS = {
    "stages and step 6": {"max_iterations": 3},
    "a selector with memory": {"selector": "pool", "max_iterations": 2},
    "a sample": {"stage_rows": 60, "max_iterations": 2, "block_rows": 50},
    "a refiner": {"refiner": BRIEF, "objective": "none", "sizes": [3]},
    "a refiner with trials": {
        "refiner": {**BRIEF, "kernels": ["matern-32"]},
        "objective": "none",
        "max_basis": 4,
    },
    "a refiner that has nothing to do": {"refiner": "none", "sizes": [3], "objective": "none"},
    "a refiner without runs": {"refiner": "prune", "objective": "none"},
    "the search for a size": {"max_basis": "auto", "max_iterations": 1},
}


def design(**options):
    return sgpc.build({"max_basis": 8, **options})


def saved(model, path) -> bytes:
    model.save(path)
    return path.read_bytes()


def cuts(written: bytes, count: int = 4) -> list[int]:
    return sorted(random.Random(1).sample(range(2000, len(written)), count))


def resumed(tmp_path, options, labels, n_jobs=None):
    """The file of an unbroken fit, and those of fits that were cut in several places."""
    made, log = design(**options), tmp_path / "fit.log"
    unbroken = saved(made.fit(X, labels), tmp_path / "unbroken")
    kept = made.fit(X, labels, checkpoint=log, n_jobs=n_jobs)
    assert saved(kept, tmp_path / "kept") == unbroken
    written = log.read_bytes()
    for cut in [*cuts(written), len(written)]:
        log.write_bytes(written[:cut])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CheckpointWarning)
            model = made.fit(X, labels, checkpoint=log, n_jobs=n_jobs)
        yield unbroken, saved(model, tmp_path / "resumed")


@pytest.mark.parametrize("options", DESIGNS.values(), ids=DESIGNS)
def test_a_fit_that_was_cut_ends_with_the_same_file(tmp_path, options):
    for unbroken, again in resumed(tmp_path, options, y):
        assert again == unbroken


@pytest.mark.parametrize("strategy", ["joint", "one-vs-rest"])
def test_many_classes(tmp_path, strategy):
    options = {"strategy": strategy, "max_iterations": 2, "max_basis": 5}
    for unbroken, again in resumed(tmp_path, options, THREE):
        assert again == unbroken


def test_classes_in_parallel(tmp_path):
    options = {"strategy": "one-vs-rest", "max_iterations": 1, "max_basis": 4}
    for unbroken, again in resumed(tmp_path, options, THREE, n_jobs=2):
        assert again == unbroken


def test_what_was_done_is_not_done_again(tmp_path, monkeypatch):
    """A finished fit recalls everything: no stage is chosen, no objective asked, no refiner run."""
    made = design(max_iterations=2, refiner=BRIEF)
    model = made.fit(X, y, checkpoint=tmp_path / "fit.log")
    for forbidden in ("algorithm1.stages", "algorithm1.reestimate", "refining._run"):
        monkeypatch.delattr(f"sgpc_framework.engine.{forbidden}")
    again = made.fit(X, y, checkpoint=tmp_path / "fit.log")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_stages_of_an_unfinished_iteration_are_not_chosen_again(tmp_path):
    log = tmp_path / "fit.log"
    made = design(max_iterations=1)
    model = made.fit(X, y, checkpoint=log)
    kept = [*_until_the_fifth_stage(read_records(log))]
    log.unlink()
    with SealedLog(log) as cut:
        cut.add(*kept)
    told = []
    again = made.fit(X, y, checkpoint=log, progress=lambda at: told.append(at.basis))
    assert told == list(range(1, 9))
    np.testing.assert_array_equal(again.basis, model.basis)
    assert read_records(log)[: len(kept)] == kept


def _until_the_fifth_stage(records):
    """Stages are in runs of several, each with as many bytes as the others."""
    left = 5
    for record in records:
        text, at = text_of(record)
        if text.get("kind") == "stages":
            size = 8 * text["tried"] + 12 + 8 * 6
            some = min(left, (len(record) - at) // size)
            left -= some
            record = record[: at + some * size]
        yield record
        if not left:
            return


# -- kills ---------------------------------------------------------------------------------------

KILLED = """
import os, signal, sys
import sgpc_framework as sgpc
from sgpc_framework.datasets import waveform
from sgpc_framework.files import checkpoints, sealed_log

whole, count = sealed_log._write_all, iter(range(1000))

def killed(descriptor, data, at):
    if next(count) == {write}:
        whole(descriptor, data[: len(data) // 2], at)
        os.kill(os.getpid(), signal.SIGKILL)
    whole(descriptor, data, at)

sealed_log._write_all = killed
checkpoints.PAUSE = checkpoints.LONGEST_PAUSE = 0.0
X, y = waveform(120, seed=4)
sgpc.build(max_basis=8, max_iterations=3).fit(X, y, checkpoint=sys.argv[1])
"""


@pytest.mark.skipif(os.name == "nt", reason="needs the signals of POSIX")
def test_a_process_that_was_killed_inside_a_write_is_resumed(tmp_path):
    log = tmp_path / "fit.log"
    made = design(max_iterations=3)
    unbroken = saved(made.fit(X, y), tmp_path / "unbroken")
    killed = subprocess.run([sys.executable, "-c", KILLED.format(write=2), log], check=False)
    assert killed.returncode == -signal.SIGKILL
    before = len(read_records(log))
    assert before >= 2
    with pytest.warns(CheckpointWarning, match="the last record was not finished, and is dropped"):
        model = made.fit(X, y, checkpoint=log)
    assert saved(model, tmp_path / "resumed") == unbroken
    assert len(read_records(log)) > before


# -- stopping ------------------------------------------------------------------------------------


def stopping_at(count):
    def progress(at):
        progress.calls += 1
        if progress.calls == count:
            raise StopFitting

    progress.calls = 0
    return progress


@pytest.mark.parametrize(
    ("labels", "calls"), [(y, 3), (y, 12), (y, 19), (THREE, 20)], ids=lambda value: ""
)
def test_a_fit_that_was_stopped_returns_the_best_so_far_and_goes_on_later(tmp_path, calls, labels):
    made = design(max_iterations=2, refiner=BRIEF, strategy="one-vs-rest")
    unbroken = saved(made.fit(X, labels), tmp_path / "unbroken")
    log = tmp_path / "fit.log"
    stopped = made.fit(X, labels, checkpoint=log, progress=stopping_at(calls))
    assert saved(stopped, tmp_path / "stopped") != unbroken
    assert stopped.predict_proba(X).shape == (len(X), len(set(labels.tolist())))
    assert saved(made.fit(X, labels, checkpoint=log), tmp_path / "resumed") == unbroken


def test_ctrl_c_in_python_leaves_a_log(tmp_path):
    def interrupt(at):
        if at.iteration == 2:
            raise KeyboardInterrupt

    made, log = design(max_iterations=2), tmp_path / "fit.log"
    with pytest.raises(KeyboardInterrupt):
        made.fit(X, y, checkpoint=log, progress=interrupt)
    unbroken = saved(made.fit(X, y), tmp_path / "unbroken")
    assert saved(made.fit(X, y, checkpoint=log), tmp_path / "resumed") == unbroken


# -- refusals ------------------------------------------------------------------------------------


@pytest.fixture
def begun(tmp_path):
    log = tmp_path / "fit.log"
    design(max_iterations=1).fit(X, y, checkpoint=log)
    return log


def other_X():
    other = X.copy()
    other[7, 3] = np.nextafter(other[7, 3], 9.0)
    return other


@pytest.mark.parametrize(
    ("options", "given", "why"),
    [
        ({"seed": 3}, {}, r"config\.seed: 0 in the log, 3 now"),
        ({"max_basis": 9}, {}, r"config\.max_basis: 8 in the log, 9 now"),
        ({"kernel": "matern-32"}, {}, r"config\.kernel\.name: 'squared-exponential' in the log"),
        ({}, {"X": other_X()}, r"data\.inputs: other values"),
        ({}, {"y": -y}, r"data\.labels: other values"),
        ({}, {"y": np.where(y > 0, "b", "a")}, r"data\.classes: \['-1\.0', '1\.0'\] in the log"),
        ({}, {"X": X[:100], "y": y[:100]}, r"data\.rows: 120 in the log, 100 now"),
        ({}, {"sample_weight": np.full(120, 2.0)}, r"data\.weights: other values"),
        ({}, {"start": "itself"}, "start: other values"),
    ],
    ids=lambda value: "",
)
def test_another_fit_is_refused_and_told_what_differs(begun, options, given, why):
    before = begun.read_bytes()
    if "start" in given:
        given = {"start": design(max_iterations=1).fit(X, y)}
    with pytest.raises(CheckpointError, match=why):
        design(max_iterations=1, **options).fit(**{"X": X, "y": y, **given}, checkpoint=begun)
    assert begun.read_bytes() == before


def test_other_versions_are_refused(begun, monkeypatch):
    monkeypatch.setattr(np, "__version__", "1.0")
    monkeypatch.setattr(scipy, "__version__", "9.9")
    with pytest.raises(
        CheckpointError, match=r"versions\.numpy: '.*' in the log, '1\.0' now"
    ) as error:
        design(max_iterations=1).fit(X, y, checkpoint=begun)
    assert "versions.scipy" in str(error.value)


def test_a_fit_that_does_not_go_as_it_went_is_refused(begun, tmp_path):
    """What is computed again must come out as before: here, someone has had other thoughts. The
    error names the log, and says what to do with it."""
    header, began, *_ = read_records(begun)
    other = tmp_path / "other.log"
    with SealedLog(other) as log:
        log.add(header, began[:-8] + b"\1" * 8)
    with pytest.raises(
        CheckpointError, match=r"other\.log: the fit does not go as it went before.*delete it"
    ):
        design(max_iterations=1).fit(X, y, checkpoint=other)


def test_a_stage_that_nobody_tried_is_refused_by_the_name_of_its_log(begun, tmp_path):
    header, began, run, *_ = read_records(begun)
    _, at = text_of(run)
    other = tmp_path / "other.log"
    with SealedLog(other) as log:
        log.add(header, began, run[:at] + (7).to_bytes(8, "little") + run[at + 8 :])
    with pytest.raises(CheckpointError, match=r"other\.log: .*the log is damaged"):
        design(max_iterations=1).fit(X, y, checkpoint=other)


@pytest.mark.parametrize("row", [120, -1])
def test_a_stage_of_a_finished_iteration_with_a_row_that_is_none_is_refused(begun, tmp_path, row):
    header, began, run, *others = read_records(begun)
    text, at = text_of(run)
    at += 8 * text["tried"]
    other = tmp_path / "other.log"
    with SealedLog(other) as log:
        changed = run[:at] + row.to_bytes(8, "little", signed=True) + run[at + 8 :]
        log.add(header, began, changed, *others)
    with pytest.raises(CheckpointError, match=r"other\.log: wanted a stage with one of 120 rows"):
        design(max_iterations=1).fit(X, y, checkpoint=other)


# -- when records are written --------------------------------------------------------------------


@pytest.mark.parametrize(("took", "pause"), [(1e-5, 0.05), (1e-3, 0.2), (1.0, 0.5)])
def test_records_wait_for_as_long_as_a_writing_is_worth(tmp_path, monkeypatch, took, pause):
    """A twentieth of a second, or 200 times as long as the last one took, but at most a half."""
    now, writings = [0.0], []

    def add(_, *records):
        now[0] += took
        writings.append((now[0], len(records)))

    monkeypatch.setattr(SealedLog, "add", add)
    monkeypatch.setattr(checkpoints, "perf_counter", lambda: now[0])
    with SealedLog(tmp_path / "fit.log") as log:
        writer = checkpoints._Writer(log)
        for number in range(4000):
            now[0] += 1e-3
            writer.keep("", Note(str(number)))
        writer.write()
    assert sum(count for _, count in writings) == 4000
    waits = np.diff([ended for ended, _ in writings[:-1]]) - took
    np.testing.assert_allclose(waits, pause, atol=1.1e-3)


@attrs.frozen
class Nameless:
    """A kernel that no plugin provides."""

    name: ClassVar[str] = "nameless"
    variance: float = hyperparameter(1.0, bounds=(1e-3, 1e3))

    def __call__(self, A, B):
        return self.variance * (A @ B.T + 1.0)

    def diag(self, A):
        return self.variance * (np.sum(A * A, axis=1) + 1.0)


def test_a_kernel_that_no_file_could_name_is_refused_at_once(tmp_path):
    with pytest.raises(CheckpointError, match="no log could name these parts"):
        sgpc.build(kernel=Nameless()).fit(X, y, checkpoint=tmp_path / "fit.log")


def test_a_full_disk_does_not_end_the_fit(tmp_path, monkeypatch):
    made, log = design(max_iterations=1), tmp_path / "fit.log"
    write, room = sealed_log._write_some, [1]

    def full(*args):
        room[0] -= 1
        if room[0] < 0:
            raise OSError(28, "No space left on device")
        return write(*args)

    monkeypatch.setattr(sealed_log, "_write_some", full)
    for pause in ("PAUSE", "LONGEST_PAUSE"):
        monkeypatch.setattr(checkpoints, pause, 0.0)
    with pytest.warns(CheckpointWarning) as warned:
        model = made.fit(X, y, checkpoint=log)
    assert "The fit goes on" in str(warned[0].message)
    assert "the log lacks the end of the fit" in str(warned[-1].message)
    monkeypatch.undo()
    np.testing.assert_array_equal(model.basis, made.fit(X, y, checkpoint=log).basis)


# -- hostile logs --------------------------------------------------------------------------------


def resealed(path, records):
    path.unlink(missing_ok=True)
    with SealedLog(path) as log:
        for record in records:
            log.add(record)


def test_a_sealed_log_is_not_trusted(begun, tmp_path):
    """Bytes flipped inside of records that are sealed anew: an error of ours, or the same fit."""
    records, made = read_records(begun), design(max_iterations=1)
    chance = random.Random(3)
    for trial in range(60):
        at = chance.randrange(1, len(records))
        data = bytearray(records[at])
        place = chance.randrange(len(data))
        data[place] ^= 1 << chance.randrange(8)
        resealed(tmp_path / f"{trial}.log", [*records[:at], bytes(data), *records[at + 1 :]])
        try:
            model = made.fit(X, y, checkpoint=tmp_path / f"{trial}.log")
        except sgpc.SgpcError:
            continue
        assert len(model) <= 8


@pytest.mark.parametrize(
    "record",
    [
        b"",
        b"\xff\xff\xff\xff",
        b"\x02\x00\x00\x00[]",
        b"\x02\x00\x00\x00{}",
        b'\x0e\x00\x00\x00{"kind":"run"}',
        b'\x1b\x00\x00\x00{"kind":"run","place":""   }',
        b'\x22\x00\x00\x00{"kind":"ended","place":"","x":1}   ',
        b"\x20\xa1\x07\x00" + b"[" * 500_000,
    ],
)
def test_records_that_are_none_are_refused(begun, tmp_path, record):
    resealed(tmp_path / "other.log", [read_records(begun)[0], record])
    with pytest.raises(CheckpointError, match=r"other\.log: |does not go as it went"):
        design(max_iterations=1).fit(X, y, checkpoint=tmp_path / "other.log")
