"""Logs on disk: what a kill, a full disk, a second writer and a flipped bit do to them."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import threading
from itertools import pairwise
from pathlib import Path
from time import perf_counter, process_time, sleep

import pytest

from sgpc_framework.errors import CheckpointError
from sgpc_framework.files import sealed_log
from sgpc_framework.files.sealed_batches import MAGIC, batch_bytes
from sgpc_framework.files.sealed_log import SealedLog, read_records

FRAME = 28
"""What stands around a record that was written alone."""

RECORDS = [b"first", b"", b"third" * 1000, b"\0" * 40]


@pytest.fixture
def path(tmp_path) -> Path:
    return tmp_path / "fit.log"


@pytest.fixture
def written(path) -> bytes:
    with SealedLog(path) as log:
        for record in RECORDS:
            log.add(record)
            log.flush()
    return path.read_bytes()


def test_what_was_added_is_there(path, written):
    assert written.startswith(MAGIC)
    assert read_records(path) == RECORDS
    with SealedLog(path) as log:
        assert log.records == RECORDS
        assert not log.dropped
        log.add(b"more")
    assert read_records(path) == [*RECORDS, b"more"]


def test_every_beginning_is_a_log_that_can_be_added_to(path, written):
    for length in range(0, len(written), 97):
        path.write_bytes(written[:length])
        with SealedLog(path) as log:
            count = len(log.records)
            assert log.records == RECORDS[:count]
            log.add(b"more")
        assert read_records(path) == [*RECORDS[:count], b"more"]


def test_zeros_where_nothing_was_written_are_no_records(path, written):
    path.write_bytes(written + bytes(5000))
    with SealedLog(path) as log:
        assert log.records == RECORDS
        assert log.dropped == 5000
        log.add(b"more")
    assert read_records(path) == [*RECORDS, b"more"]


def test_a_last_record_whose_pages_were_lost_is_not_finished(path, written):
    path.write_bytes(written[:-30] + bytes(30))
    with SealedLog(path) as log:
        assert log.records == RECORDS[:-1]


def test_a_byte_that_was_flipped_is_found(path, written):
    """Where, and what to do about it; the last record counts as one that was not finished."""
    last = len(written) - len(RECORDS[-1]) - FRAME
    for at in range(0, last, 11):
        path.write_bytes(written[:at] + bytes([written[at] ^ 4]) + written[at + 1 :])
        with pytest.raises(CheckpointError, match=r"this is not the log|is damaged at byte"):
            SealedLog(path)
        with pytest.raises(CheckpointError):
            read_records(path)


def test_records_in_another_order_are_found(path, written):
    ends = [len(MAGIC)]
    for record in RECORDS:
        ends.append(ends[-1] + len(record) + FRAME)
    frames = [written[a:b] for a, b in pairwise(ends)]
    for frames_now in ([frames[1], frames[0], *frames[2:]], [frames[0], *frames]):
        path.write_bytes(MAGIC + b"".join(frames_now))
        with pytest.raises(CheckpointError, match="damaged at byte"):
            SealedLog(path)


def test_what_to_do_about_damage_is_said_and_helps(path, written):
    at = written.index(b"third")
    path.write_bytes(written[:at] + b"X" + written[at + 1 :])
    with pytest.raises(CheckpointError, match="truncate -s") as error:
        SealedLog(path)
    size = int(str(error.value).partition("truncate -s ")[2].split()[0])
    os.truncate(path, size)
    assert read_records(path) == RECORDS[:2]


def test_another_file_is_not_touched(path):
    path.write_bytes(b"a,b,c\n1,2,3\n")
    with pytest.raises(CheckpointError, match="this is not the log of a fit"):
        SealedLog(path)
    assert path.read_bytes() == b"a,b,c\n1,2,3\n"


@pytest.mark.parametrize("name", [".", "no such folder/fit.log", "/dev/null"])
def test_what_is_no_file_is_refused(tmp_path, name):
    with pytest.raises(CheckpointError):
        SealedLog(tmp_path / name)


def test_a_claim_takes_no_memory(path, written, monkeypatch):
    monkeypatch.setattr(sealed_log, "MOST_BYTES", 100)
    with pytest.raises(CheckpointError, match="larger than any log"):
        SealedLog(path)


@pytest.mark.skipif(os.name == "nt", reason="needs the locks of POSIX")
def test_a_second_writer_is_refused_and_a_kill_leaves_no_lock(path, written):
    script = (
        "import sys, time; from pathlib import Path\n"
        "from sgpc_framework.files.sealed_log import SealedLog\n"
        "log = SealedLog(Path(sys.argv[1])); print('locked', flush=True); time.sleep(60)"
    )
    process = subprocess.Popen([sys.executable, "-c", script, path], stdout=subprocess.PIPE)
    try:
        assert process.stdout.readline() == b"locked\n"
        with pytest.raises(CheckpointError, match="another process is fitting with this log"):
            SealedLog(path)
    finally:
        process.kill()
        process.communicate()
    with SealedLog(path) as log:
        assert log.records == RECORDS
        with pytest.raises(CheckpointError, match="another process"):
            SealedLog(path)  # not even this one may have it twice


class FullDisk:
    """Takes so many bytes, and no more."""

    def __init__(self, monkeypatch, room: int) -> None:
        self.room = room
        self._write = sealed_log._write_some
        monkeypatch.setattr(sealed_log, "_write_some", self)

    def __call__(self, descriptor, data, at):
        if not self.room:
            raise OSError(errno.ENOSPC, "No space left on device")
        written = self._write(descriptor, data[: self.room], at)
        self.room -= written
        return written


def test_on_a_full_disk_the_log_stays_readable_and_catches_up(path, written, monkeypatch):
    with SealedLog(path) as log:
        disk = FullDisk(monkeypatch, 50)
        log.add(b"does not fit" * 10)
        log.flush()
        assert log.failure.errno == errno.ENOSPC
        assert read_records(path) == RECORDS
        log.add(b"another")
        log.flush()
        assert read_records(path) == RECORDS
        disk.room = 10**6
        log.add(b"more")
        log.flush()
        assert log.failure is None
    assert read_records(path) == [*RECORDS, b"does not fit" * 10, b"another", b"more"]


def test_the_disk_is_told_after_the_last_write_and_not_without_one(tmp_path, monkeypatch):
    events = []
    write, sync = sealed_log._write_all, os.fsync
    monkeypatch.setattr(
        sealed_log, "_write_all", lambda *args: (events.append("write"), write(*args))
    )
    monkeypatch.setattr(os, "fsync", lambda descriptor: (events.append("sync"), sync(descriptor)))
    path = tmp_path / "fit.log"
    with SealedLog(path) as log:
        for number in range(20):
            log.add(bytes([number]))
    end = perf_counter() + 20.0
    while events[-2:] != ["sync", "sync"] and perf_counter() < end:  # the file, and its folder
        sleep(0.01)
    assert "sync" in events[len(events) - events[::-1].index("write") :]
    events.clear()
    with SealedLog(path):
        pass
    assert not events


def test_a_slow_disk_is_not_waited_for_long_and_others_may_have_the_log(tmp_path, monkeypatch):
    disk = threading.Event()
    monkeypatch.setattr(os, "fsync", lambda _: disk.wait(20.0))
    path = tmp_path / "fit.log"
    began = perf_counter()
    for number in range(3):
        with SealedLog(path) as log:
            assert len(log.records) == number
            log.add(b"more")
    assert perf_counter() - began < 10.0
    disk.set()


def test_a_log_of_many_batches_is_read_in_one_pass(path):
    """It was copied once for each batch: a hundred megabytes never ended."""
    seal, parts = b"", [MAGIC]
    for _ in range(40_000):
        batch, seal = batch_bytes([b"x" * 96], seal)
        parts.append(batch)
    path.write_bytes(b"".join(parts))
    began = process_time()
    assert len(read_records(path)) == 40_000
    assert process_time() - began < 2.0 + path.stat().st_size / 1e7
