"""Checkpoints: a fit kept in a log on disk while it runs, and resumed from there if it died.

The first record says what is being fitted (``fit_identity``). Whoever comes back with anything else
is refused, and told what differs. After it come the records of the fit, soon after each has
happened. No file of ours holds a pickle, and this one neither.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from time import perf_counter
from typing import Any

import attrs

from sgpc_framework.engine.journal import Kept, below, join_places
from sgpc_framework.engine.log_records import Record, Stopped, Tried
from sgpc_framework.engine.progress import Progress
from sgpc_framework.engine.task import Task
from sgpc_framework.errors import CheckpointError, CheckpointWarning, StopFitting
from sgpc_framework.files.allowance import Allowance
from sgpc_framework.files.fit_identity import differences, identity_of
from sgpc_framework.files.record_pieces import Piece, piece_bytes, piece_of
from sgpc_framework.files.sealed_log import SealedLog, read_records
from sgpc_framework.files.stored_records import StoredRecord, bytes_of_records
from sgpc_framework.files.stored_states import StateReader
from sgpc_framework.parts.calls import registry_in_use

FORMAT = "sgpc-fit"
FORMAT_VERSION = 2

PAUSE = 0.05
"""So many seconds pass at least between one writing and the next ..."""

SHARE = 200
"""... and so many times as long as a writing took, on a slow disk or with many records, ..."""

LONGEST_PAUSE = 0.5
"""... but no more than this."""


@attrs.frozen
class Checkpoint:
    """Where a fit is kept; ``asked`` is plain data for whoever resumes it, as a command does."""

    path: Path = attrs.field(converter=Path)
    asked: Mapping[str, Any] | None = None

    @classmethod
    def at(cls, where: Checkpoint | str | PathLike[str]) -> Checkpoint:
        """The checkpoint that is meant."""
        return where if isinstance(where, Checkpoint) else cls(where)


@contextmanager
def open_checkpoint(task: Task, where: Checkpoint | str | PathLike[str]) -> Iterator[Task]:
    """The task with a journal on disk, which knows of an earlier life if there was one."""
    checkpoint = Checkpoint.at(where)
    identity = identity_of(task)
    with SealedLog(checkpoint.path) as log:
        reader = StateReader(
            identity["versions"],
            registry_in_use(),
            Allowance.of(sum(map(len, log.records)), CheckpointError),
        )
        if log.records:
            _compare(_header(log.records[0], log.path), identity, log.path)
        else:
            _begin(log, identity, checkpoint.asked)
        if log.dropped and log.records:
            _warn(f"{log.path}: the last record was not finished, and is dropped")
        writer = _Writer(log)
        journal = _OnDisk(writer, _by_place(log.records[1:], reader, log.path))
        try:
            yield attrs.evolve(task, journal=journal, watch=journal.until_stopped(task.watch))
        except CheckpointError as error:  # who recalls a record does not know where it came from
            raise CheckpointError(f"{log.path}: {error}") from error
        finally:
            writer.write()
        journal.end()


def read_request(path: str | PathLike[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """What whoever began the fit of a log has asked for, and the configuration of it."""
    records = read_records(Path(path))
    if not records:
        raise CheckpointError(f"{path}: the log is empty: the fit had not begun")
    header = _header(records[0], Path(path))
    asked, config = header.get("asked"), header["identity"].get("config")
    if not isinstance(asked, dict) or not isinstance(config, dict):
        raise CheckpointError(
            f"{path}: the log was not written by a command: fit again in Python as you did, with "
            f"checkpoint={str(path)!r}, and it is resumed"
        )
    return asked, config


@attrs.define
class _Writer:
    """The log of all places, and what waits to be written to it.

    Records that come soon after a writing wait for the next. Nobody loses more than that time's
    work by it, and many records become bytes in half of the time that each of them takes alone.
    """

    log: SealedLog
    open: bool = True
    _waiting: list[tuple[str, Record]] = attrs.field(factory=list)
    _due: float = 0.0
    _warned: bool = False

    def keep(self, place: str, record: Record) -> None:
        """A record waits, or is written with all that wait."""
        self._waiting.append((place, record))
        if not isinstance(record, Tried) and perf_counter() > self._due:  # its stage comes at once
            self.write()

    def write(self) -> None:
        """Write what waits."""
        began = perf_counter()
        waiting, self._waiting = self._waiting, []
        self.log.add(*bytes_of_records(waiting))
        ended = perf_counter()
        self._due = ended + min(LONGEST_PAUSE, max(PAUSE, SHARE * (ended - began)))
        if self.log.failure is not None and not self._warned:
            self._warned = True
            _warn(
                f"{self.log.path}: cannot be written: {self.log.failure.strerror}. The fit "
                "goes on, and what happened is written as soon as that is possible"
            )


@attrs.frozen(eq=False)
class _OnDisk:
    """The journal of a fit, or of one inside it."""

    _writer: _Writer
    _records: Mapping[str, Sequence[Kept]]
    _place: str = ""

    def within(self, place: str, /) -> _OnDisk:
        return attrs.evolve(self, place=join_places(self._place, place))

    def earlier(self) -> Mapping[str, Sequence[Kept]]:
        return below(self._records, self._place)

    def keep(self, record: Record, /) -> None:
        if isinstance(record, Stopped):
            self._writer.open = False
        if self._writer.open:  # what a fit that was stopped makes do with is not what it was to do
            self._writer.keep(self._place, record)

    def until_stopped(self, watch: Callable[[Progress], object]) -> Callable[[Progress], None]:
        """The watcher; when it has had enough, the log ends: it is for whoever goes on."""

        def watched(progress: Progress) -> None:
            try:
                watch(progress)
            except StopFitting:
                self._writer.open = False
                raise

        return watched

    def end(self) -> None:
        """The fit has ended: say so if its log does not have all of it."""
        log = self._writer.log
        log.flush()
        if log.failure is not None:
            _warn(
                f"{log.path}: the log lacks the end of the fit, because it could not be written: "
                f"{log.failure.strerror}"
            )


# -- the first record ----------------------------------------------------------------------------


def _begin(log: SealedLog, identity: Mapping[str, Any], asked: Mapping[str, Any] | None) -> None:
    text = {"format": FORMAT, "version": FORMAT_VERSION, "identity": identity, "asked": asked}
    log.add(piece_bytes(Piece(text, {})))
    if log.failure is not None:
        reason = log.failure.strerror
        raise CheckpointError(f"{log.path}: cannot be written: {reason}") from log.failure


def _header(data: bytes, path: Path) -> dict[str, Any]:
    text, _ = piece_of(data)
    identity = text.get("identity")
    if text.get("format") != FORMAT or not isinstance(identity, dict):
        raise CheckpointError(f"{path}: this is not the log of a fit; choose another name")
    if text.get("version") != FORMAT_VERSION:
        raise CheckpointError(
            f"{path}: a log of version {FORMAT_VERSION} is wanted, found {text.get('version')!r}: "
            "resume it with the sgpc-framework that wrote it, or start anew with another name"
        )
    return text


def _compare(header: Mapping[str, Any], identity: Mapping[str, Any], path: Path) -> None:
    """Refuse a log of another fit, and say what differs."""
    there = piece_of(piece_bytes(Piece(dict(identity), {}))).text  # as it would come back
    found = list(differences(header["identity"], there))
    if found:
        raise CheckpointError(
            f"{path} is the log of another fit, which cannot be resumed with this one:\n"
            + "\n".join(f"  - {each}" for each in found)
            + "\nFit as you did then, or choose another name (or delete the log) to start anew"
        )


def _by_place(
    records: Sequence[bytes], reader: StateReader, path: Path
) -> dict[str, Sequence[Kept]]:
    places: dict[str, list[StoredRecord]] = {}
    for data in records:
        try:
            for record in StoredRecord.all_of(data, reader):
                places.setdefault(record.place, []).append(record)
        except CheckpointError as error:
            raise CheckpointError(f"{path}: {error}") from error
    return dict(places)


def _warn(text: str) -> None:
    warnings.warn(text, CheckpointWarning, stacklevel=4)
