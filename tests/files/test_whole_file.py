"""Files that are written whole or not at all, to what their name means."""

from __future__ import annotations

import os
import stat
import threading
import time

import pytest

from sgpc_framework.files import whole_file as module
from sgpc_framework.files.whole_file import check_writable, whole_file

pytestmark = pytest.mark.skipif(os.name == "nt", reason="needs modes and links of POSIX")


@pytest.fixture(autouse=True)
def fresh():
    module._sweep.cache_clear()


def write(path, data=b"new"):
    with whole_file(path) as file:
        file.write(data)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_failure_leaves_what_was_there_and_nothing_else(tmp_path):
    path = tmp_path / "m"
    path.write_bytes(b"old")
    with pytest.raises(ZeroDivisionError), whole_file(path) as file:
        file.write(bytes([file.write(b"half") // 0]))
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["m"]


def test_a_link_stays_and_its_target_is_written(tmp_path):
    target, link, other = tmp_path / "target", tmp_path / "link", tmp_path / "other"
    target.write_bytes(b"old")
    link.symlink_to("target")
    other.symlink_to("link")
    write(other)
    assert link.is_symlink()
    assert other.is_symlink()
    assert target.read_bytes() == b"new"


def test_a_link_to_nothing_yet_makes_its_target(tmp_path):
    (tmp_path / "link").symlink_to("target")
    write(tmp_path / "link")
    assert (tmp_path / "target").read_bytes() == b"new"
    assert (tmp_path / "link").is_symlink()


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o666])
def test_a_file_keeps_its_mode(tmp_path, mode):
    path = tmp_path / "m"
    path.write_bytes(b"old")
    path.chmod(mode)
    write(path)
    assert stat.S_IMODE(path.stat().st_mode) == mode
    assert path.read_bytes() == b"new"


def test_a_new_file_has_the_mode_of_any_other(tmp_path):
    write(tmp_path / "ours")
    (tmp_path / "theirs").write_bytes(b"")
    assert (tmp_path / "ours").stat().st_mode == (tmp_path / "theirs").stat().st_mode


def test_a_device_stays_a_device():
    write(module.Path("/dev/null"))
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_a_full_device_is_an_error():
    if not os.path.exists("/dev/full"):
        pytest.skip("there is no /dev/full")
    with pytest.raises(OSError, match="No space left"):
        write(module.Path("/dev/full"))


def test_a_pipe_gets_all_bytes_when_they_are_complete(tmp_path):
    pipe, seen = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: seen.append(pipe.read_bytes()))
    reader.start()
    with whole_file(pipe) as file:
        file.write(b"0123")
        file.seek(0)
        file.write(b"9")
    reader.join(10.0)
    assert seen == [b"9123"]
    assert names(tmp_path) == ["pipe"]


def test_an_open_descriptor_is_written_into(tmp_path):
    with open(tmp_path / "log", "ab") as log:
        log.write(b"before ")
        log.flush()
        name = module.Path(f"/dev/fd/{log.fileno()}")
        if not name.exists():
            pytest.skip("descriptors have no names here")
        write(name)
        log.write(b" after")
    assert names(tmp_path) == ["log"]
    assert (tmp_path / "log").read_bytes() == b"before new after"


def test_the_longest_name_that_a_folder_can_hold(tmp_path):
    longest = os.pathconf(tmp_path, "PC_NAME_MAX")
    write(tmp_path / ("x" * longest))
    check_writable(tmp_path / ("x" * longest))
    with pytest.raises(OSError, match="too long"):
        check_writable(tmp_path / ("x" * (longest + 1)))


def test_a_folder_is_no_file(tmp_path):
    for attempt in (check_writable, write):
        with pytest.raises(IsADirectoryError):
            attempt(tmp_path)


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write anything")
def test_what_is_read_only_is_not_replaced(tmp_path):
    path = tmp_path / "m"
    path.write_bytes(b"old")
    path.chmod(0o400)
    for attempt in (check_writable, write):
        with pytest.raises(PermissionError, match="read-only"):
            attempt(path)
    assert path.read_bytes() == b"old"


def test_trying_leaves_nothing(tmp_path):
    check_writable(tmp_path / "m")
    assert names(tmp_path) == []


def test_old_orphans_of_ours_are_swept_and_nothing_else(tmp_path):
    long_ago = time.time() - 2 * module.OLD
    orphan, young = tmp_path / f".sgpc-{16 * 'a'}.part", tmp_path / f".sgpc-{16 * 'b'}.part"
    stranger, folder = tmp_path / "movie.part", tmp_path / f".sgpc-{16 * 'c'}.part"
    for path in (orphan, young, stranger):
        path.write_bytes(b"x")
    folder.mkdir()
    for path in (orphan, stranger, folder):
        os.utime(path, (long_ago, long_ago))
    write(tmp_path / "m")
    assert names(tmp_path) == sorted(["m", young.name, stranger.name, folder.name])


def test_readers_see_the_old_or_the_new(tmp_path):
    path, done, seen = tmp_path / "m", threading.Event(), set()
    write(path, bytes(1000))

    def read():
        while not done.is_set():
            seen.add(path.read_bytes())

    reader = threading.Thread(target=read)
    reader.start()
    for value in range(1, 30):
        write(path, bytes([value]) * 1000)
    done.set()
    reader.join(10.0)
    assert all(len(data) == 1000 and len(set(data)) == 1 for data in seen)
