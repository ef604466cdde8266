"""Damaged, lying and hostile model files: one error, a clear text, and no memory to speak of."""

from __future__ import annotations

import hashlib
import io
import json
import os
import struct
import sys
import tracemalloc
import zipfile
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sgpc_framework as sgpc
from sgpc_framework import datasets
from sgpc_framework.files.archive import write_whole
from sgpc_framework.files.model_files import read, save
from sgpc_framework.plugin.registry import default_registry

X, Y = datasets.twonorm(60, seed=4)
QUICK = {"name": "corrective", "penalty": 1.0, "iterations": 5}


@pytest.fixture(scope="module")
def model():
    return sgpc.build(max_basis=5, max_iterations=2).fit(X, np.where(Y > 0, "yes", "no"))


@pytest.fixture
def path(model, tmp_path):
    model.save(tmp_path / "model.sgpc")
    return tmp_path / "model.sgpc"


@pytest.fixture(scope="module")
def whole_file(refined, tmp_path_factory):
    """A refined model of three classes, with every kind of member and section."""
    codes = np.arange(60) % 3
    design = sgpc.build(refiner=QUICK, objective="none", max_basis=3, sizes=[2])
    path = tmp_path_factory.mktemp("files") / "model.sgpc"
    save(design.fit(X + codes[:, None], codes), path)
    return path


@pytest.fixture(scope="module")
def refined():
    design = sgpc.build(refiner=QUICK, objective="none", max_basis=6, sizes=[2, 4])
    return design.fit(X, Y)


@pytest.fixture
def refined_path(refined, tmp_path):
    refined.save(tmp_path / "refined.sgpc")
    return tmp_path / "refined.sgpc"


DAMAGE = "not a model file|damaged"


def refuses(path, text=DAMAGE):
    with pytest.raises(sgpc.ModelFileError, match=text) as caught:
        sgpc.load(path)
    assert str(caught.value).startswith(f"{path}: ")


@pytest.fixture
def small_path(tmp_path):
    path = tmp_path / "small.sgpc"
    sgpc.build(max_basis=1, max_iterations=1).fit(X[:, :2], Y).save(path)
    return path


def test_a_file_cut_anywhere_is_refused(small_path):
    for length in reversed(range(small_path.stat().st_size)):
        os.truncate(small_path, length)
        refuses(small_path)


def test_a_file_with_a_bit_flipped_anywhere_is_refused(small_path):
    data = small_path.read_bytes()
    with open(small_path, "r+b", buffering=0) as file:
        for position, byte in enumerate(data):
            os.pwrite(file.fileno(), bytes([byte ^ 1 << position % 8]), position)
            refuses(small_path)
            os.pwrite(file.fileno(), bytes([byte]), position)
    sgpc.load(small_path)


@st.composite
def changes(draw):
    """A function that changes some bytes somewhere: writes over, takes out, puts in, repeats."""
    where = draw(st.floats(0.0, 1.0))
    length = draw(st.integers(1, 40))
    new = draw(st.binary(max_size=40))
    kind = draw(st.sampled_from(["write", "take", "put", "repeat"]))

    def change(data):
        at = int(where * (len(data) - 1))
        end = {"write": at + len(new), "take": at + length, "put": at, "repeat": at}[kind]
        middle = data[at : at + length] if kind == "repeat" else new if kind != "take" else b""
        return data[:at] + middle + data[end:]

    return change


@given(st.lists(changes(), min_size=1, max_size=4))
def test_no_change_goes_unnoticed(whole_file, many):
    data = original = whole_file.read_bytes()
    for change in many:
        data = change(data)
    damaged = whole_file.with_name("damaged.sgpc")
    damaged.write_bytes(data)
    if data == original:
        return
    refuses(damaged)


def sealed(data):
    """A zip without comment as an archive with the seal that it should have."""
    assert data[-2:] == b"\0\0"
    data = data[:-2] + struct.pack("<H", 71) + b"sha256:"
    return data + hashlib.sha256(data).hexdigest().encode()


def test_the_seal_of_the_tests_is_that_of_the_files(path):
    data = path.read_bytes()
    assert sealed(data[:-73] + b"\0\0") == data


@given(st.lists(changes(), min_size=1, max_size=3))
def test_a_liar_who_knows_the_seal_gets_the_same_error_or_a_model(whole_file, many):
    """The zip is changed below its seal. Dates may be wrong; nothing else can go on."""
    data = whole_file.read_bytes()[:-93]
    tail = whole_file.read_bytes()[-93:-73] + b"\0\0"
    for change in many:
        data = change(data)
    lying = whole_file.with_name("lying.sgpc")
    lying.write_bytes(sealed(data + tail))
    try:
        found = sgpc.load(lying).predict_proba(X)
    except sgpc.ModelFileError:
        return
    np.testing.assert_array_equal(found, sgpc.load(whole_file).predict_proba(X))


ODD = st.sampled_from(
    [None, True, -1, 0, 3, 10**30, 0.5, 1e300, -1e-300, "", "x", "../x", [], {}, [[]], ["a", "b"]]
)


def places(data, here=()):
    """The paths to all entries of nested plain data."""
    entries = data.items() if isinstance(data, dict) else enumerate(data)
    for key, entry in entries:
        yield (*here, key)
        if isinstance(entry, (dict, list)):
            yield from places(entry, (*here, key))


@given(st.data())
def test_a_manifest_with_anything_anywhere_is_refused_or_makes_a_model(whole_file, data):
    lying = whole_file.with_name("manifest.sgpc")
    lying.write_bytes(whole_file.read_bytes())

    def put_something_odd(manifest, members):
        *way, last = data.draw(st.sampled_from(list(places(manifest))))
        spot = manifest
        for key in way:
            spot = spot[key]
        spot[last] = data.draw(ODD)

    rewritten(lying, put_something_odd)
    try:
        model = read(lying).model
    except sgpc.ModelFileError:
        return
    assert np.isfinite(model.predict_proba(X)).all()


def rewritten(path, change):
    """The file with its manifest changed."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    manifest = json.loads(members["manifest.json"])
    change(manifest, members)
    members["manifest.json"] = json.dumps(manifest).encode()
    write_whole(path, members)


def smuggled(name, array):
    """A change that puts an array with its checksum into a file."""

    def smuggle(manifest, members):
        buffer = io.BytesIO()
        np.save(buffer, array, allow_pickle=True)
        members[f"{name}.npy"] = buffer.getvalue()
        manifest["sha256"][f"{name}.npy"] = hashlib.sha256(buffer.getvalue()).hexdigest()

    return smuggle


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda m, files: m.update(version=2), "newer"),
        (lambda m, files: m.update(format="other"), "not a model file"),
        (lambda m, files: m["models"][0].pop("kernel"), "not describe"),
        (lambda m, files: files.update({"0.mean.npy": b"junk"}), "checksum"),
        (lambda m, files: files.update({"../evil.npy": b""}), "members"),
        (
            lambda m, files: (
                m["models"][0].update(kernel={"name": "unheard-of"}),
                m.update(needs={"some-package": "1.2"}),
            ),
            "install some-package 1.2",
        ),
        (lambda m, files: m["classes"].update(labels=["a", "a"]), "two classes"),
        (lambda m, files: m["models"][0]["trace"].update(best=99), "no iteration"),
        (lambda m, files: m.update(version=True), "version"),
        (lambda m, files: m["models"][0].update(inputs="strings"), "model"),
        (lambda m, files: m["models"][0]["trace"].update(best="x"), "not describe"),
    ],
)
def test_a_file_that_says_something_else_is_refused(path, change, text):
    rewritten(path, change)
    with pytest.raises(sgpc.ModelFileError, match=text):
        sgpc.load(path)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda m, files: files.pop("0.2.mean.npy"), "members"),
        (lambda m, files: files.update({"0.3.mean.npy": b""}), "members"),
        (lambda m, files: files.update({"0.2.mean.npy": b"junk"}), "checksum"),
        (lambda m, files: m["sha256"].pop("0.4.inputs.npy"), "checksum"),
        (lambda m, files: m["models"][0].update(smaller=None), "members"),
        (lambda m, files: m["models"][0].update(smaller={}), "list of smaller"),
        (lambda m, files: m["models"][0].update(smaller=[2, 4]), "not describe"),
        (lambda m, files: m["models"][0]["smaller"].reverse(), "ascending"),
        (lambda m, files: m["models"][0]["smaller"][0].update(size=4), "ascending"),
        (lambda m, files: m["models"][0]["smaller"][0].update(size=-2), "ascending"),
        (lambda m, files: m["models"][0]["smaller"][0].update(size=2.0), "ascending"),
        (lambda m, files: m["models"][0]["smaller"][0].update(size="../2"), "ascending"),
        (lambda m, files: m["models"][0]["smaller"][0].pop("kernel"), "not describe"),
        (lambda m, files: m["models"][0]["smaller"][0].update(kernel="unheard-of"), "kernel"),
        (lambda m, files: m["models"][0]["trace"]["sizes"].reverse(), "ascending"),
        (lambda m, files: m["models"][0]["trace"]["sizes"][0].update(size=0), "ascending"),
        (lambda m, files: m["models"][0]["trace"]["sizes"][0].update(noise=1e999), "finite"),
        (lambda m, files: m["models"][0]["trace"]["sizes"][0].update(noise="x"), "not describe"),
    ],
)
def test_a_refined_file_that_says_something_else_is_refused(refined_path, change, text):
    rewritten(refined_path, change)
    with pytest.raises(sgpc.ModelFileError, match=text):
        sgpc.load(refined_path)


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("0.2.inputs", np.array([print], dtype=object)),
        ("0.2.inputs", np.full((2, 20), np.inf)),
        ("0.2.inputs", np.ones((2, 19))),
        ("0.2.inputs", np.ones((3, 20))),
        ("0.2.mean", np.ones(3)),
        ("0.2.mean", np.array([1.0, np.nan])),
        ("0.4.precision", -np.ones(4)),
        ("0.4.precision", np.ones((4, 1))),
    ],
)
def test_arrays_that_fit_no_smaller_size_are_refused(refined_path, name, array):
    rewritten(refined_path, smuggled(name, array))
    with pytest.raises(sgpc.ModelFileError):
        sgpc.load(refined_path)


def test_a_whole_moved_below_its_sizes_is_refused(refined_path):
    """Two basis vectors cannot have four as a smaller size."""

    def shrink(manifest, members):
        for name in ("0.mean", "0.precision", "0.inputs"):
            array = np.load(io.BytesIO(members[f"{name}.npy"]))[:3]
            smuggled(name, array)(manifest, members)
        smuggled("0.basis", np.arange(3))(manifest, members)

    rewritten(refined_path, shrink)
    with pytest.raises(sgpc.ModelFileError):
        sgpc.load(refined_path)


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("0.inputs", np.array([print], dtype=object)),
        ("0.inputs", np.array(["a"] * 5)),
        ("0.inputs", np.full((5, 20), np.nan)),
        ("0.precision", np.array(1.0)),
        ("0.precision", np.array(["1"] * 5)),
        ("0.precision", -np.ones(5)),
        ("0.mean", np.ones(5, dtype=complex)),
        ("0.mean", np.ones(4)),
        ("0.basis", np.array(3)),
        ("0.basis", np.ones(5)),
        ("0.basis", np.full(5, -2)),  # -1 is a vector that is no row
    ],
)
def test_arrays_that_fit_their_checksum_but_no_model_are_refused(path, name, array):
    """Object arrays above all: they are never unpickled."""
    rewritten(path, smuggled(name, array))
    with pytest.raises(sgpc.ModelFileError):
        sgpc.load(path)


# ---------------------------------------------------------------------------------------------
# Malice: files with the right seal that want to take the memory, or a place outside


def raw_zip(path, *entries, compression=zipfile.ZIP_STORED, tamper=lambda data: data):
    """A sealed archive of (name, data) pairs, whatever they are."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, data in entries:
            archive.writestr(zipfile.ZipInfo(name), data, compression)
    path.write_bytes(sealed(tamper(buffer.getvalue())))


def contents(path):
    with zipfile.ZipFile(path) as archive:
        return [(name, archive.read(name)) for name in archive.namelist()]


def with_manifest(path, text):
    others = [(name, data) for name, data in contents(path) if name != "manifest.json"]
    raw_zip(path, *others, ("manifest.json", text))


def with_array(path, header, data=b""):
    """The file with a mean whose header claims something, and the checksum that fits."""
    text = header.encode().ljust(117) + b"\n"
    claimed = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + data

    def claim(manifest, members):
        members["0.mean.npy"] = claimed
        manifest["sha256"]["0.mean.npy"] = hashlib.sha256(claimed).hexdigest()

    rewritten(path, claim)


def lying_about_sizes(data):
    """The first member claims two gigabytes, in its own header and in the directory."""
    directory = data.rindex(b"PK\1\2", 0, data.index(b"PK\1\2") + 4)
    huge = struct.pack("<LL", 2**31, 2**31)
    data = data[:18] + huge + data[26:]
    return data[: directory + 20] + huge + data[directory + 28 :]


def overlapping(data):
    """Every entry of the directory points to the first member."""
    start = struct.unpack("<L", data[-6:-2])[0]
    parts = data[start:].split(b"PK\1\2")
    first = parts[1][38:42]
    return data[:start] + b"PK\1\2".join([parts[0], *(p[:38] + first + p[42:] for p in parts[1:])])


MEGABYTE = 2**20
HEADER = "{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}"

ATTACKS = {
    "a huge shape": lambda p: with_array(p, HEADER.format("<f8", (10**14,))),
    "a product of shapes that overflows": lambda p: with_array(
        p, HEADER.format("<f8", (2**32, 2**32)), b""
    ),
    "a negative shape": lambda p: with_array(p, HEADER.format("<f8", (-1, -5)), b"\0" * 40),
    "an item as large as memory": lambda p: with_array(p, HEADER.format("<U999999999", (1,))),
    "an object array": lambda p: with_array(p, HEADER.format("|O", (1,)), b"cos\nsystem\n."),
    "a header that nests": lambda p: with_array(p, "(" * 100 + ")" * 17),
    "labels as wide as memory": lambda p: rewritten(
        p, lambda m, files: m["classes"].update(dtype="<U9999999")
    ),
    "labels of objects": lambda p: rewritten(
        p, lambda m, files: m["classes"].update(dtype="|O", labels=[{}, {}])
    ),
    "a type that is code": lambda p: rewritten(
        p, lambda m, files: m["classes"].update(dtype="f8,(99999,99999)f8")
    ),
    "too many basis vectors": lambda p: rewritten(
        p,
        lambda m, files: [
            smuggled(f"0.{name}", array)(m, files)
            for name, array in {
                "basis": np.arange(20_000),
                "mean": np.ones(20_000),
                "precision": np.ones(20_000),
                "inputs": np.ones((20_000, 1)),
            }.items()
        ],
    ),
    "a deep manifest": lambda p: with_manifest(p, b"[" * 100_000 + b"]" * 100_000),
    "deep kernels": lambda p: rewritten(
        p,
        lambda m, files: m["models"][0].update(
            kernel=json.loads('{"name": "sum", "terms": [' * 150 + '"linear"' + "]}" * 150)
        ),
    ),
    "a number of many digits": lambda p: with_manifest(p, b'{"version": ' + b"9" * 10**5 + b"}"),
    "a manifest that is no text": lambda p: with_manifest(p, b"\xff" * 1000),
    "a manifest without end": lambda p: with_manifest(p, b"[" + b"0," * (2**24) + b"0]"),
    "numbers that are not finite": lambda p: with_manifest(p, b'{"version": Infinity}'),
    "a compressed bomb": lambda p: raw_zip(
        p, ("manifest.json", b"0" * 50 * MEGABYTE), compression=zipfile.ZIP_DEFLATED
    ),
    "members out of the folder": lambda p: raw_zip(p, *contents(p), ("../evil.npy", b"")),
    "members from the root": lambda p: raw_zip(p, *contents(p), ("/etc/evil.npy", b"")),
    "sizes that lie": lambda p: raw_zip(p, *contents(p), tamper=lying_about_sizes),
    "members that overlap": lambda p: raw_zip(
        p, ("a", b"0" * MEGABYTE), *((f"b{i}", b"") for i in range(500)), tamper=overlapping
    ),
    "no members": lambda p: raw_zip(p),
    "no manifest": lambda p: raw_zip(p, *contents(p)[:-1]),
    "a directory that lies": lambda p: raw_zip(
        p, *contents(p), tamper=lambda data: data[:-12] + b"\xff\xff" + data[-10:]
    ),
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_malice_is_refused_in_little_memory(path, attack):
    refuses_with_little(path, ATTACKS[attack])


def refuses_with_little(path, attack):
    default_registry().names("kernel")  # plugins are not what is measured
    attack(path)
    tracemalloc.start()
    try:
        with pytest.raises(sgpc.ModelFileError):
            sgpc.load(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 3 * path.stat().st_size + 4 * MEGABYTE


def test_members_of_one_name_are_refused(path):
    with pytest.warns(UserWarning, match="Duplicate name"):
        raw_zip(path, *contents(path), contents(path)[0])
    refuses(path, "one name")


def test_a_file_of_many_gigabytes_is_refused_unread(tmp_path):
    path = tmp_path / "large"
    refuses_with_little(path, lambda p: (p.touch(), os.truncate(p, 2**36)))
    refuses(path, "larger than any model")


def test_a_device_and_a_folder_are_refused(tmp_path):
    refuses(tmp_path, "folder or a device")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    refuses(pipe, "folder or a device")


def test_nothing_larger_than_can_be_read_is_written(model, tmp_path, monkeypatch):
    monkeypatch.setattr("sgpc_framework.files.archive.MOST_BYTES", 1000)
    with pytest.raises(sgpc.ModelFileError, match="too large"):
        model.save(tmp_path / "m")
    monkeypatch.undo()
    monkeypatch.setattr("sgpc_framework.files.manifest.MOST_BYTES", 1000)
    with pytest.raises(sgpc.ModelFileError, match="manifest"):
        model.save(tmp_path / "m")
    monkeypatch.undo()
    monkeypatch.setattr("sgpc_framework.files.stored_models.MOST_BASIS", 4)
    with pytest.raises(sgpc.ModelFileError, match="4 basis vectors"):
        model.save(tmp_path / "m")
    assert not list(tmp_path.iterdir())


def test_a_table_that_nobody_understands_is_refused(model, tmp_path, monkeypatch):
    class TableClassifier:
        @staticmethod
        def from_section(model, table):
            return table["columns"]

    tables = ModuleType("sgpc_framework.tables")
    tables.TableClassifier = TableClassifier
    monkeypatch.setitem(sys.modules, tables.__name__, tables)
    save(model, tmp_path / "m", table={"columns": ["age"]})
    assert sgpc.load(tmp_path / "m") == ["age"]
    save(model, tmp_path / "m", table={"rows": 3})
    refuses(tmp_path / "m", "columns")
