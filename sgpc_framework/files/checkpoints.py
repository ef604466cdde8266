"""Checkpoints: a fit kept in a log on disk while it runs, and resumed from there if it died.

The first record says what is being fitted: the data, by their fingerprint, the configuration, and
which versions of us and of the parts do it. Whoever comes back with anything else is refused, and
told what differs. After it come the records of the fit, each as soon as it has happened. No file of
ours holds a pickle, and this one neither.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from importlib import metadata
from os import PathLike
from pathlib import Path
from time import perf_counter
from typing import Any

import attrs
import numpy as np
import scipy

from sgpc_framework.config.structure import plain, unregistered
from sgpc_framework.engine.journal import Kept, below, joined
from sgpc_framework.engine.log import Record, Stopped, Tried
from sgpc_framework.engine.progress import Progress
from sgpc_framework.engine.task import Task
from sgpc_framework.errors import CheckpointError, CheckpointWarning, ConfigError, StopFitting
from sgpc_framework.files.allowance import Allowance
from sgpc_framework.files.record_pieces import Piece, piece_bytes, piece_of
from sgpc_framework.files.sealed_log import SealedLog, read_records
from sgpc_framework.files.stored_models import every_size
from sgpc_framework.files.stored_records import StoredRecord, bytes_of_records
from sgpc_framework.files.stored_states import StateReader, arrays_of_state, parts_of_state
from sgpc_framework.model.classes import Classifier, models_of
from sgpc_framework.parts.calls import registry_in_use
from sgpc_framework.parts.compilation import compiled
from sgpc_framework.parts.hyperparameters import parts_of
from sgpc_framework.plugin.kinds import KINDS
from sgpc_framework.protocols import Kernel, Likelihood
from sgpc_framework.rows.fingerprint import WHAT, fingerprint

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
def kept(task: Task, where: Checkpoint | str | PathLike[str]) -> Iterator[Task]:
    """The task with a journal on disk, which knows of an earlier life if there was one."""
    checkpoint = Checkpoint.at(where)
    identity = _identity(task)
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


def asked_of(path: str | PathLike[str]) -> tuple[dict[str, Any], dict[str, Any]]:
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
        return attrs.evolve(self, place=joined(self._place, place))

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


# -- what is being fitted ------------------------------------------------------------------------


def _identity(task: Task) -> dict[str, Any]:
    """All that the bits of a fit depend on."""
    _refuse_nameless(task)
    return {
        "versions": dict(_versions(task)),
        "config": {
            field.name: _plain(getattr(task.config, field.name))
            for field in attrs.fields(type(task.config))
        },
        "data": {
            **fingerprint(task.rows, task.config.kernel),
            "classes": [str(label) for label in task.classes.tolist()],
        },
        "start": None if task.start is None else _digest_of(task.start),
    }


def _versions(task: Task) -> Iterator[tuple[str, str]]:
    yield "sgpc-framework", _own_version()
    yield "numpy", np.__version__
    yield "scipy", scipy.__version__
    twin = compiled("sgpc_framework.rows.loops_compiled")
    yield "numba", twin.numba.__version__ if twin else "not used"
    for source in task.provenance.parts:
        yield source.distribution, source.version


@cache
def _own_version() -> str:
    return metadata.version("sgpc-framework")  # a millisecond


def _plain(value: Any) -> Any:
    try:
        return plain(value)
    except (ConfigError, TypeError, ValueError):  # a notebook's own selector, say
        return repr(value)


def _refuse_nameless(task: Task) -> None:
    """States are stored, so that their parts must have names."""
    registry = registry_in_use()
    problems = [
        problem
        for slot in KINDS
        for part in parts_of(getattr(task.config, slot))
        if isinstance(part, (Kernel, Likelihood))
        for problem in unregistered(part, registry, slot)
    ]
    if problems:
        raise CheckpointError(
            "no log could name these parts: "
            + "; ".join(dict.fromkeys(problems))
            + ". Register them through an entry point of group 'sgpc_framework', or fit without a "
            "checkpoint"
        )


def _digest_of(model: Classifier) -> str:
    digest = hashlib.sha256()
    for one in models_of(model).values():
        for state in (size.state for size in every_size(one)):
            digest.update(piece_bytes(Piece(parts_of_state(state), arrays_of_state(state))))
    return digest.hexdigest()[:32]


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
    differences = list(_differences(header["identity"], there))
    if differences:
        raise CheckpointError(
            f"{path} is the log of another fit, which cannot be resumed with this one:\n"
            + "\n".join(f"  - {each}" for each in differences)
            + "\nFit as you did then, or choose another name (or delete the log) to start anew"
        )


def _differences(there: Any, here: Any, at: str = "") -> Iterator[str]:
    if isinstance(there, dict) and isinstance(here, dict):
        for key in dict.fromkeys([*there, *here]):
            yield from _differences(there.get(key), here.get(key), f"{at}.{key}" if at else key)
    elif there != here:
        if at.removeprefix("data.") in WHAT or at == "start":
            yield f"{at}: other values than those that the log was begun with"
        else:
            yield f"{at}: {_short(there)} in the log, {_short(here)} now"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 120 else f"{text[:117]}..."


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
