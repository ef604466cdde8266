"""What is fuzzed: every reader, by name. A new reader is one more entry of ``TARGETS``.

A target takes the bytes of a file and reads it as a user would. It may return, or raise an error of
ours; whatever else comes out is a find, and so is a reader that takes too long or too much memory
(``judged``). Checksums would keep a fuzzer out of model files and checkpoints, so that it is let in
behind them.
"""

from __future__ import annotations

import atexit
import hashlib
import io
import json
import os
import resource
import tempfile
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from shutil import rmtree
from time import process_time
from unittest.mock import patch

import numpy as np

from sgpc_framework.config.config import Config
from sgpc_framework.datasets import openml
from sgpc_framework.datasets.catalogue import BENCHMARKS
from sgpc_framework.design import build
from sgpc_framework.errors import InputError, SgpcError
from sgpc_framework.files.archive import npy, read_members, write_whole
from sgpc_framework.files.checkpoints import read_request
from sgpc_framework.files.inspection import inspect
from sgpc_framework.files.model_files import MANIFEST, load
from sgpc_framework.files.sealed_log import SealedLog, read_records
from sgpc_framework.lab import suites
from sgpc_framework.lab.comparison_plan import Plan
from sgpc_framework.lab.store import Store
from sgpc_framework.tables.encoding import Encoding
from sgpc_framework.tables.labels import labels_of
from sgpc_framework.tables.table_files import read_table

MB = 2**20
SECONDS, MEMORY = 2.0, 64 * MB
"""What a file may take, besides ten times its size of memory: those of the attack's budget."""

_FOLDER = Path(tempfile.mkdtemp(prefix="sgpc-fuzz-"))
atexit.register(rmtree, _FOLDER, ignore_errors=True)


def file_of(data: bytes, suffix: str) -> Path:
    """A file with that content; the one before is gone."""
    path = _FOLDER / f"input-{os.getpid()}{suffix}"
    path.write_bytes(data)
    return path


# -- readers --------------------------------------------------------------------------------------


def config(suffix: str) -> Callable[[bytes], object]:
    def read(data: bytes) -> object:
        said = Config.from_file(file_of(data, suffix))
        again = file_of(said.to_toml().encode(), ".toml")
        assert Config.from_file(again) == said, "a configuration that is read back is the same"
        return said

    return read


def table(suffix: str) -> Callable[[bytes], object]:
    def read(data: bytes) -> object:
        found = read_table(file_of(data, suffix))
        for column in found.columns:
            assert column.values.shape == (len(found),)
            assert column.is_numeric or all(
                value is None or type(value) is str for value in column.values
            ), "a column holds numbers, or words"
        labels_of(found, found.columns[-1])
        if len(found.columns) > 100:  # to encode them takes a while, which is not the reader's
            return found
        matrix = Encoding.learn(found, impute=True).encode(found)
        assert np.isfinite(matrix).all()
        return matrix

    return read


def arff(data: bytes) -> object:
    name, _, content = data.partition(b"\n")
    recipe = openml.RECIPES.get(name.decode("ascii", "replace"), openml.RECIPES["banana"])
    return openml.arrays_of(content, "class", recipe, BENCHMARKS["banana"], "a file")


def stored_result(data: bytes) -> object:
    path = file_of(data, ".json")
    return Store(path.parent).get(path.stem)


def model(data: bytes) -> object:
    """A model file as it is: nearly always its seal is broken."""
    return _loaded(file_of(data, ".sgpc"))


def sealed_model(data: bytes) -> object:
    """A model file whose seal is made to fit."""
    digest = hashlib.sha256(data[:-64]).hexdigest().encode()
    return _loaded(file_of(data[:-64] + digest, ".sgpc"))


def manifest(data: bytes) -> object:
    """The manifest of a sound model file, whose checksums are made to fit."""
    return _loaded(_with_manifest(data, dict(_sound_members())))


def arrays(data: bytes) -> object:
    """The arrays of a sound model file, one after the other, cut where the bytes 'CUT' are."""
    members = dict(_sound_members())
    names = sorted(name for name in members if name != MANIFEST)
    members.update(zip(names, data.split(b"CUT"), strict=False))
    return _loaded(_with_manifest(members[MANIFEST], members))


def _with_manifest(data: bytes, members: dict[str, bytes]) -> Path:
    members.pop(MANIFEST)
    try:
        said = json.loads(data)
        said["sha256"] = {name: hashlib.sha256(each).hexdigest() for name, each in members.items()}
        data = json.dumps(said).encode()
    except (ValueError, TypeError, RecursionError):
        pass  # it stays as it is
    path = file_of(b"", ".sgpc")
    write_whole(path, {**members, MANIFEST: data})
    return path


def _loaded(path: Path) -> object:
    with suppress(SgpcError):
        inspect(path)
    found = load(path)
    inner = getattr(found, "model", found)
    width = getattr(inner, "inputs", inner.models[0].inputs if hasattr(inner, "models") else None)
    if width is not None and width.ndim == 2:
        proba = inner.predict_proba(np.linspace(-1.0, 1.0, 2 * width.shape[1]).reshape(2, -1))
        assert np.isfinite(proba).all(), "a model that is loaded predicts probabilities"
        assert np.allclose(proba.sum(axis=1), 1.0)
        assert (proba >= 0.0).all()
    return found


@cache
def _sound_members() -> tuple[tuple[str, bytes], ...]:
    path = file_of(b"", ".sgpc")
    sound_model().save(path)
    return tuple(read_members(path).items())


def sound_model():
    """A small model, which a table was fitted by."""
    from sgpc_framework.tables import TableClassifier

    x = [-1.0, -0.5, -0.2, 0.1, 0.4, 1.0]
    columns = {"x": x, "word": ["a", "b", "a", "b", "a", "b"], "y": ["p", "p", "q", "p", "q", "q"]}
    design = build(max_basis=2, max_iterations=1, optimizer_steps=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return TableClassifier.fit(columns, "y", design)


def plan(suffix: str) -> Callable[[bytes], object]:
    """A plan of the lab, where nothing is downloaded and no other file lies near."""

    def read(data: bytes) -> object:
        path, before = file_of(data, suffix), os.getcwd()
        os.chdir(_FOLDER)
        try:
            with patch.object(suites, "fetch_table", side_effect=InputError("no network")):
                found = Plan.from_file(path)
        finally:
            os.chdir(before)
        assert {cell.size for cell in found.cells} <= {*found.sizes}
        return found

    return read


def checkpoint(data: bytes) -> object:
    """The log of a fit as it is: nearly always its seals are broken."""
    return _resumed(file_of(data, ".log"))


def sealed_checkpoint(data: bytes) -> object:
    """Records behind seals that fit, cut where the bytes 'CUT' are. The first says which fit it is:
    if there is none, the one that is resumed."""
    header, *others = data.split(b"CUT")
    return _resumed(_log_of([header or _sound_records()[0], *others]))


def _log_of(records: list[bytes]) -> Path:
    path = file_of(b"", ".log")
    with SealedLog(path) as log:
        for record in records:
            log.add(record)
    return path


def _resumed(path: Path) -> object:
    with suppress(SgpcError):
        read_request(path)
    x = np.array([-1.0, -0.5, -0.2, 0.1, 0.4, 1.0])
    design = build(max_basis=2, max_iterations=2, optimizer_steps=2, refiner="ep")
    model = design.fit(x[:, None], np.array([0, 0, 1, 0, 1, 1]), checkpoint=path)
    assert np.isfinite(model.predict_proba(x[:, None])).all(), "a fit that is resumed is a fit"
    return model


@cache
def _sound_records() -> tuple[bytes, ...]:
    path = _FOLDER / "sound.log"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _resumed(path)
    return tuple(read_records(path))


TARGETS: dict[str, Callable[[bytes], object]] = {
    "config-toml": config(".toml"),
    "config-json": config(".json"),
    "csv": table(".csv"),
    "csv-gz": table(".csv.gz"),
    "parquet": table(".parquet"),
    "npz": table(".npz"),
    "libsvm": table(".libsvm"),
    "arff": arff,
    "stored-result": stored_result,
    "model": model,
    "model-sealed": sealed_model,
    "model-manifest": manifest,
    "model-arrays": arrays,
    "checkpoint": checkpoint,
    "checkpoint-sealed": sealed_checkpoint,
    "plan-toml": plan(".toml"),
    "plan-json": plan(".json"),
}


# -- verdict --------------------------------------------------------------------------------------


def judged(name: str, data: bytes) -> str:
    """Read some bytes: "read", or the error of ours that was raised. Anything else is a find."""
    began, before = process_time(), _peak()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            TARGETS[name](data)
            verdict = "read"
        except SgpcError as error:
            verdict = f"{type(error).__name__}: {error}"
    seconds, memory = process_time() - began, _peak() - before
    assert seconds <= SECONDS + len(data) / (10 * MB), f"{seconds:.1f} s for {len(data)} bytes"
    allowed = 10 * len(data) + MEMORY
    assert memory <= allowed, f"{memory / MB:.0f} MB for {len(data)} bytes"
    return verdict


def warm_up(name: str, data: bytes) -> None:
    """Read some bytes without a budget: what is imported the first time is no file's doing."""
    with warnings.catch_warnings(), suppress(SgpcError):
        warnings.simplefilter("ignore")
        TARGETS[name](data)


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


# -- the corpus -----------------------------------------------------------------------------------


def _npz(**members: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, **members)
    return buffer.getvalue()


PLAN = b"""methods = ["pool:keep=40,fresh=[1]", "adaptive 2", "fast + seed=3", "refiner=none"]
suite = ["generated", "banana"]
sizes = [20, 40]
partitions = 2
control = "adaptive 2"
"""


def seeds() -> dict[str, dict[str, bytes]]:
    """The files that fuzzing starts from; ``python tests/fuzz/run.py --seeds`` writes them."""
    import gzip

    import pyarrow
    from pyarrow import parquet

    text = b"x,word,y\n1,a,p\n2,b,q\n-3.5e2,,p\n"
    number, word = np.array([1.0, 2.0, np.nan]), np.array(["a", "b", ""])
    buffer = io.BytesIO()
    parquet.write_table(pyarrow.table({"x": number, "y": word}), buffer)
    path = file_of(b"", ".sgpc")
    sound_model().save(path)
    members = dict(read_members(path))
    plain = b"CUT".join(members[name] for name in sorted(members) if name != MANIFEST)
    toml = Config.from_mapping({"preset": "accurate"}).to_toml().encode()
    nested = {"kernel": {"name": "sum", "terms": ["constant", {"name": "matern-32"}]}}
    attributes = b"@relation r\n@attribute a real\n@attribute 'b c' {x,y}\n@attribute class {1,2}\n"
    rows = b"@data\n1,x,1\n% no\n2,'y',2\n"
    return {
        "config-toml": {"accurate": toml, "short": b"preset = 'fast'\nseed = 0x1f\n"},
        "config-json": {"nested": json.dumps(nested).encode()},
        "csv": {"plain": text, "semicolons": b'"a;b";1,5;01\r\n\r\nc;?;1e400\r\n'},
        "csv-gz": {"plain": gzip.compress(text, mtime=0)},
        "parquet": {"plain": buffer.getvalue()},
        "npz": {
            "matrix": _npz(X=number[:, None], y=word, columns=np.array(["x"])),
            "columns": _npz(x=number, y=word.astype("S")),
        },
        "libsvm": {"plain": b"1 1:0.5 3:2 # no\n-1 2:1e3\n"},
        "arff": {
            "banana": b"banana\n" + attributes + rows,
            "splice": b"splice\n" + attributes + rows,
            "image": b"image\n" + attributes + rows,
        },
        "stored-result": {"plain": b'{"format": 1, "identity": {}, "result": {"error": 0.5}}'},
        "model": {"plain": path.read_bytes()},
        "model-sealed": {"plain": path.read_bytes()},
        "model-manifest": {"plain": members[MANIFEST]},
        "model-arrays": {"plain": plain, "none": npy(np.zeros((0, 1)))},
        "checkpoint": {"plain": (_log_of([*_sound_records()])).read_bytes()},
        "checkpoint-sealed": {"plain": b"CUT".join([b"", *_sound_records()[1:]])},
        "plan-toml": {"short": PLAN, "paper": b'methods = ["adaptive 2"]\nagainst = "paper"\n'},
        "plan-json": {"named": b'{"methods": {"a": "fast", "b": {"selector": "random"}}}'},
    }
