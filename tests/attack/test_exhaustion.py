"""Files that would exhaust whoever reads them: within the budget, or a clear error."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

import sgpc_framework as sgpc
from sgpc_framework.files.archive import npy, read_members, write_whole
from sgpc_framework.files.model_files import MANIFEST

sys.path.insert(0, str(Path(__file__).parent))
from budget import MB, Reading

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs resource")

X = np.random.default_rng(0).normal(size=(30, 1))
Y = X[:, 0] > 0.0


# -- forged model files ---------------------------------------------------------------------------


def forged(path: Path, change, arrays=None) -> Path:
    """A model file whose manifest was changed, and sealed again; ``arrays`` replace members."""
    sgpc.build(max_basis=2, max_iterations=1).fit(X, Y).save(path)
    members = read_members(path)
    for name, array in (arrays or {}).items():
        members[name] = npy(array)
    manifest = json.loads(members.pop(MANIFEST))
    change(manifest)
    manifest["sha256"] = {name: hashlib.sha256(data).hexdigest() for name, data in members.items()}
    write_whole(path, {**members, MANIFEST: json.dumps(manifest).encode()})
    return path


def many_basis_vectors(path: Path) -> Path:
    count = 10_000
    arrays = {
        "0.basis.npy": np.arange(count, dtype=np.int64),
        "0.inputs.npy": np.linspace(0.0, 1.0, count)[:, None],
        "0.mean.npy": np.ones(count),
        "0.precision.npy": np.ones(count),
    }
    return forged(path, lambda _: None, arrays)


def some_basis_vectors_and_terms(path: Path) -> Path:
    count = 1300
    arrays = {
        "0.basis.npy": np.arange(count, dtype=np.int64),
        "0.inputs.npy": np.linspace(0.0, 1.0, count)[:, None],
        "0.mean.npy": np.ones(count),
        "0.precision.npy": np.ones(count),
    }
    term = {"name": "squared-exponential", "variance": 1.0, "lengthscale": 1.0}
    return forged(path, lambda m: m["models"][0].update(kernel=summed(term, 900)), arrays)


def summed(term, count):
    return {"name": "sum", "terms": [term] * count}


def many_models(path: Path) -> Path:
    count = 10_000

    def change(manifest):
        manifest["models"] *= count
        manifest["classes"] = {"dtype": "<i8", "labels": list(range(count))}

    sgpc.build(max_basis=1, max_iterations=1).fit(X, Y).save(path)
    members = read_members(path)
    one = {name: data for name, data in members.items() if name != MANIFEST}
    many = {f"{model}{name[1:]}": data for model in range(count) for name, data in one.items()}
    manifest = json.loads(members[MANIFEST])
    manifest["models"][0]["trace"]["iterations"][0]["stages"] = []
    change(manifest)
    manifest["sha256"] = {name: hashlib.sha256(data).hexdigest() for name, data in many.items()}
    write_whole(path, {**many, MANIFEST: json.dumps(manifest, separators=(",", ":")).encode()})
    return path


def strings(path: Path) -> Path:
    text = json.dumps([f"{i % 676:03d}" for i in range(3_000_000)]).encode()
    return forged(
        path,
        lambda m: m["models"][0].update(inputs="strings"),
        {"0.inputs.npy": np.frombuffer(text, np.uint8)},
    )


def nested_lists(path: Path) -> Path:
    return forged(path, lambda m: m.update(extra=[[]] * 5_000_000))


def kernel(data):
    return lambda path: forged(path, lambda m: m["models"][0].update(kernel=data))


def stages(path: Path) -> Path:
    def change(manifest):
        iteration = manifest["models"][0]["trace"]["iterations"][0]
        iteration["stages"] = iteration["stages"][:1] * 60_000

    return forged(path, change)


MODELS = {
    "a degree without end": kernel({"name": "polynomial", "lengthscale": 1.0, "degree": 10**30}),
    "10,000 basis vectors": many_basis_vectors,
    "many terms among many basis vectors": some_basis_vectors_and_terms,
    "10,000 models": many_models,
    "3,000,000 short strings": strings,
    "a million constants": kernel(summed({"name": "constant"}, 1_000_000)),
    "a million words": kernel(summed("constant", 1_000_000)),
    "5,000,000 empty lists": nested_lists,
    "60,000 stages": stages,
}


@pytest.mark.parametrize("attack", MODELS)
@pytest.mark.parametrize("reader", ["model", "inspect"])
def test_model_files(tmp_path, attack, reader):
    path = MODELS[attack](tmp_path / "forged.sgpc")
    reading = Reading.of(reader, path)
    reading.check(path.stat().st_size)
    if reader == "model" and attack != "60,000 stages":
        assert reading.error is not None
        assert reading.error.startswith(f"ModelFileError: {path}: ")
        assert len(reading.error) < 1000


# -- configurations -------------------------------------------------------------------------------


CONFIGS = {
    "a degree without end": "[kernel]\nname = 'polynomial'\ndegree = 1" + 30 * "0",
    "a number of 5000 digits": "seed = " + 5000 * "9",
    "a million constants": "[kernel]\nname = 'sum'\nterms = [" + 100_000 * "'constant'," + "]",
    "many tables": "[[kernel.terms]]\n" * 60_000,
    "a hundred megabytes": "seed = 1\n" + "#" * 100 * MB,
    "deep nesting": "seed = " + 100_000 * "[",
}


@pytest.mark.parametrize("attack", CONFIGS)
def test_configurations(tmp_path, attack):
    path = tmp_path / "forged.toml"
    path.write_text(CONFIGS[attack])
    reading = Reading.of("config", path)
    reading.check(path.stat().st_size)
    assert reading.error is not None
    assert reading.error.startswith("ConfigError: ")


# -- tables ---------------------------------------------------------------------------------------


def zeros(rows, columns):
    buffer = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        buffer, {"descr": "<f8", "fortran_order": False, "shape": (rows, columns)}
    )
    return buffer.getvalue() + bytes(8 * rows * columns)


def npz_of(members, compression=zipfile.ZIP_DEFLATED):
    def write(path):
        with zipfile.ZipFile(path, "w", compression) as archive:
            for name, data in members().items():
                archive.writestr(name, data)

    return write


def claim(shape, descr="<f8"):
    buffer = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        buffer, {"descr": descr, "fortran_order": False, "shape": shape}
    )
    return buffer.getvalue()


def text(content):
    return lambda path: path.write_bytes(content())


def packed(content):
    return lambda path: path.write_bytes(gzip.compress(content(), 9))


def parquet(path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    parquet.write_table(pyarrow.table({"x": np.zeros(40_000_000)}), path, use_dictionary=True)


def parquet_of(columns, **options):
    def write(path):
        pyarrow = pytest.importorskip("pyarrow")
        from pyarrow import parquet

        parquet.write_table(pyarrow.table(columns(pyarrow)), path, **options)

    return write


def long_words(pyarrow):
    """A word of 300,000 letters, ten thousand times."""
    word = pyarrow.array(["a" * 300_000])
    return {"x": pyarrow.DictionaryArray.from_arrays(np.zeros(10_000, dtype=np.int32), word)}


def empty_lists(pyarrow):
    return {"x": pyarrow.array([[None] * 5_000_000], pyarrow.list_(pyarrow.int8()))}


def beginnings(pyarrow):
    """Words that differ from the one before in their last letter."""
    return {"x": ["a" * 50_000 + "bc"[i % 2] for i in range(3000)]}


TABLES = {
    "one huge index": ("a.libsvm", text(lambda: b"1 200000000:1\n")),
    "8,000,000 columns": ("a.libsvm", text(lambda: b"1 8000000:1\n")),
    "many rows, one huge index": ("a.libsvm", text(lambda: b"1 9:1\n" * 50_000 + b"0 9000:1\n")),
    "an index of 5000 digits": ("a.libsvm", text(lambda: b"1 " + b"9" * 5000 + b":1\n")),
    "packed zeros": ("a.csv.gz", packed(lambda: b"x,y\n" + b"0,0\n" * 30_000_000)),
    "one packed line": ("a.csv.gz", packed(lambda: b"0" * 400_000_000)),
    "packed libsvm": ("a.libsvm.gz", packed(lambda: b"1 1:0\n" * 20_000_000)),
    "npz of zeros": ("a.npz", npz_of(lambda: {"X.npy": zeros(1000, 60_000)})),
    "a claim of 8 TB": ("a.npz", npz_of(lambda: {"X.npy": claim((10**6, 10**6))})),
    "no rows, 100,000,000 columns": ("a.npz", npz_of(lambda: {"X.npy": claim((0, 10**8))})),
    "a claim of negative rows": ("a.npz", npz_of(lambda: {"X.npy": claim((-1, 5))})),
    "empty strings without end": ("a.npz", npz_of(lambda: {"y.npy": claim((10**9,), "<U0")})),
    "commas": ("a.csv", text(lambda: b"," * 20_000_000)),
    "lines of commas": ("a.csv", text(lambda: (b"," * 50_000 + b"\n") * 100)),
    "empty cells": ("a.csv", text(lambda: b"x,y\n" + b",\n" * 1_500_000)),
    "different words": (
        "a.csv",
        text(lambda: b"x,y\n" + b"".join(b"a%x,b%x\n" % (i, i) for i in range(500_000))),
    ),
    "numbers, and a word at the end": (
        "a.csv",
        text(lambda: b"x,y\n" + b"1,2\n" * 700_000 + b"a,2\n"),
    ),
    "one quote": ("a.csv", text(lambda: b'x,y\n"' + b"1,2\n" * 5_000_000)),
    "a parquet file of zeros": ("a.parquet", parquet),
    "a parquet file of one long word": ("a.parquet", parquet_of(long_words)),
    "a parquet file of lists of nothing": ("a.parquet", parquet_of(empty_lists)),
    "a parquet file of words with long beginnings": (
        "a.parquet",
        parquet_of(beginnings, use_dictionary=False, column_encoding={"x": "DELTA_BYTE_ARRAY"}),
    ),
}


@pytest.mark.parametrize("attack", TABLES)
def test_tables(tmp_path, attack):
    name, write = TABLES[attack]
    write(tmp_path / name)
    path = tmp_path / name
    reading = Reading.of("table", path)
    reading.check(path.stat().st_size)
    assert reading.error is None or reading.error.startswith("InputError: ")


def test_trust_lets_more_in(tmp_path):
    from sgpc_framework.tables import read_table

    path = tmp_path / "a.csv.gz"
    packed(lambda: b"x,y\n" + b"0,1\n" * 3_000_000)(path)
    with pytest.raises(sgpc.InputError, match=r"if you trust the file.*--trust"):
        read_table(path)
    assert len(read_table(path, trust=True)) == 3_000_000
