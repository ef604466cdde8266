"""Files and data that are not what they seem: read rightly, or refused by one clear error."""

from __future__ import annotations

import gzip
import io
import warnings
import zipfile
from datetime import timedelta
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import sgpc_framework as sgpc
from sgpc_framework.adapters.sklearn import SGPClassifier
from sgpc_framework.tables import TableClassifier, read_table
from sgpc_framework.tables.data_frames import as_table

X = np.random.default_rng(0).normal(size=(40, 2))
WORDS = np.where(X[:, 0] > 0.0, "a", "b")
TEXT = b"x,y\n" + b"".join(b"%d,%s\n" % (i, w.encode()) for i, w in enumerate(WORDS))
PACKED = gzip.compress(TEXT)


def npy(array):
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, array, allow_pickle=True)
    return buffer.getvalue()


def npz(**members):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in members.items():
            data = content if isinstance(content, bytes) else npy(content)
            archive.writestr(f"{name}.npy", data)
    return buffer.getvalue()


NO_CHARACTER = npy(np.array(["abc"] * 40)).replace(
    "abc".encode("utf-32-le"), b"\xff\xff\xff\x7f" * 3
)

FILES = {
    "gz cut": ("a.csv.gz", PACKED[: len(PACKED) // 2], "cannot be read"),
    "gz with a flipped byte": ("a.csv.gz", PACKED[:60] + b"\xff" + PACKED[61:], "cannot be read"),
    "gz of another checksum": ("a.csv.gz", PACKED[:-8] + bytes(8), "cannot be read"),
    "gz that is none": ("a.csv.gz", TEXT, "Not a gzipped file"),
    "gz with more after it": ("a.csv.gz", PACKED + b"more", "Not a gzipped file"),
    "gz of nothing": ("a.csv.gz", b"", "an empty file"),
    "npz that is none": ("a.npz", b"hello", "not a zip file"),
    "npz without members": ("a.npz", npz(), "found none"),
    "a member that is no array": ("a.npz", npz(X=b"hello", y=WORDS), "npz file of plain arrays"),
    "an array of objects": ("a.npz", npz(X=X.astype(object), y=WORDS), "claims"),
    "texts that are not UTF-8": ("a.npz", npz(X=X, y=np.array([b"\xff"] * 40)), "wanted UTF-8"),
    "characters that are none": ("a.npz", npz(X=X, y=NO_CHARACTER), "wanted UTF-8"),
    "a label for all": ("a.npz", npz(X=X, y=np.array(1.0)), "in one or two dimensions"),
    "one name for all": ("a.npz", npz(X=X, columns=np.array("a")), "wanted 2 names"),
    "names in a matrix": ("a.npz", npz(X=X, columns=X[:2]), "wanted 2 names"),
    "complex numbers": ("a.npz", npz(X=X * 1j), "wanted numbers or words"),
    "records": ("a.npz", npz(X=np.zeros(3, [("a", "f8")])), "wanted numbers or words"),
    "columns of two lengths": ("a.npz", npz(X=X, y=WORDS[:5]), "of one length"),
    "a text that is not UTF-8": ("a.csv", b"x,y\n1,\xe4\n", "wanted UTF-8 text"),
    "a quote without end": ("a.csv", b'x,y\n"1,2\n' * 3, "cannot be read|fields"),
    "a parquet file that is none": ("a.parquet", b"PAR1 hello PAR1", "wanted a Parquet file"),
    "an index of a thousand digits": ("a.libsvm", b"1 " + b"9" * 1000 + b":1", "index:value"),
}


@pytest.mark.parametrize("attack", FILES)
def test_files(tmp_path, attack):
    name, content, told = FILES[attack]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(sgpc.InputError, match=told) as refused:
        read_table(tmp_path / name)
    assert str(refused.value).startswith(str(tmp_path / name))
    assert "\n" not in str(refused.value)


HUGE = 10**5000


def table(x, y=None):
    return {"x": x, "y": list(WORDS) if y is None else y}


def fitted(data, target="y", **options):
    return lambda: TableClassifier.fit(data, target, sgpc.build("fast", max_basis=3), **options)


def frame_with_a_name_twice():
    pandas = pytest.importorskip("pandas")
    fitted(pandas.DataFrame(np.c_[X, WORDS], columns=["x", "x", "y"]))()


def fits(y, **options):
    return lambda: sgpc.build("fast", max_basis=3).fit(X, y, **options)


def weighted(weight):
    return fits(WORDS, sample_weight=weight)


def inputs(matrix, entry):
    matrix[3, 1] = entry
    return lambda: sgpc.build("fast", max_basis=3).fit(matrix, WORDS)


def costing(costs):
    return lambda: sgpc.build("fast", max_basis=3).fit(X, WORDS).with_costs(costs)


def labels(*first):
    given = np.array(WORDS, dtype=object)
    given[: len(first)] = first
    return given


def pandas_labels(kind):
    pandas = pytest.importorskip("pandas")
    series = pandas.Series(WORDS, dtype=kind)
    series[3] = pandas.NA
    return series


DATA = {
    "labels with NA": (lambda: fits(pandas_labels("string"))(), "missing labels.*row 3"),
    "labels with NA for scikit-learn": (
        lambda: SGPClassifier(max_basis=3).fit(X, pandas_labels("string")),
        "missing labels.*row 3",
    ),
    "labels with None": (fits(labels(None)), "missing labels.*row 0"),
    "labels with NaT": (fits(labels(np.datetime64("NaT", "s"))), "missing labels.*row 0"),
    "labels that floats merge": (
        fitted(table(X[:, 0], [2**60, 2**60 + 1, 3, 4] * 10)),
        "row 1, column 'y'.*too many digits.*as text",
    ),
    "words that floats merge": (
        fitted(table(np.resize([2**60, 2**60 + 1], 40)), words=["x"]),
        "row 1, column 'x'.*too many digits",
    ),
    "a column that is masked": (
        fitted(table(np.ma.masked_greater(X[:, 0], 1.0))),
        r"row 4, column 'x': the value is missing \(8 of 40",
    ),
    "rows that are masked": (
        fitted(np.ma.masked_greater(np.c_[X, X[:, 0] > 0.0], 2.0), target=3),
        "column '.': the value is missing",
    ),
    "a number with an underline": (
        lambda: fitted(table(X[:, 0]))().predict({"x": ["1_0"]}),
        "row 1, column 'x': wanted a number, as in training, found '1_0'",
    ),
    "complex cells": (fitted(table(X[:, 0] * 1j)), "column 'x': wanted real numbers or words"),
    "a table without rows": (fitted({"x": [], "y": []}), "found no row"),
    "a frame with a name twice": (frame_with_a_name_twice, "'x' more than once"),
    "labels of two types": (fits(labels(1)), "of one type"),
    "labels of a bool and an int": (fits(np.array([True, 0] * 20, dtype=object)), "'bool', 'int'"),
    "labels without end": (fits(np.where(X[:, 0] > 0.0, np.inf, 0.0)), "must be finite"),
    "an object that is no number": (inputs(X.astype(object), "a"), "row 3, column 1"),
    "an integer beyond floats": (inputs(X.astype(object), HUGE), "row 3, column 1"),
    "weights that are texts": (weighted(np.full(40, "1")), "must hold numbers: found <U1"),
    "complex weights": (weighted(np.ones(40) + 0j), "must hold numbers: found complex128"),
    "weights of almost nothing": (weighted(np.full(40, 1e-300)), "between 1e-50 and 1e.50, found"),
    "weights of almost everything": (weighted(np.full(40, 1e300)), "found 4e.301"),
    "weights at their limit": (weighted(np.where(X[:, 0] > 0.0, 1e48, 1e-51)), None),
    "a number to go on from": (fits(WORDS, start=3), "wanted a Model or a OneVsRest"),
    "a folder to go on from": (fits(WORDS, start="model.sgpc"), "wanted a Model or a OneVsRest"),
    "costs beyond floats": (costing({"a": HUGE}), "costs of 'a': wanted a number that fits"),
    "costs in a matrix beyond floats": (costing([[0, HUGE], [1, 0]]), "wanted costs as a square"),
    "weights with NaN": (weighted([*[1.0] * 39, np.nan]), "found nan at row 39"),
    "weights that are masked": (weighted(np.ma.masked_equal([1] * 39 + [2], 2)), "masked"),
    "n_jobs = 0": (fits(WORDS, n_jobs=0), "n_jobs must be"),
    "n_jobs = 1.5": (fits(WORDS, n_jobs=1.5), "n_jobs must be"),
    "huge numbers": (fitted(table([HUGE] * 40)), "row 1, column 'x': wanted a finite number"),
    "huge numbers below zero": (fitted(table([-HUGE] * 40)), "found -inf"),
    "huge labels": (fitted(table(X[:, 0], [HUGE, 1] * 20)), "row 1, column 'y'.*too many digits"),
    "a huge number among words": (fitted(table([HUGE, "a"] * 20), words=["x"]), None),
    "a column that is a number": (fitted(table(3.0)), "column 'x': .*found a float"),
    "a column of lists": (fitted(table([[1, 2], [3]] * 20)), "row 1, column 'x': .*found a list"),
    "a column of pairs": (fitted(table([[1, 2]] * 40)), "column 'x'.*found an array of"),
    "a series for a frame": (
        lambda: fitted(pytest.importorskip("pandas").Series(X[:, 0]))(),
        "found a Series; a frame of one column",
    ),
    "nothing for a table": (fitted(None), "wanted a table"),
    "a target of 5000 digits": (
        lambda: TableClassifier.fit(table(X[:, 0]), "9" * 5000),
        "there is no column",
    ),
}


@pytest.mark.parametrize("attack", DATA)
def test_data(attack):
    attempt, told = DATA[attack]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sgpc.ChanceLevelWarning)
        if told is None:
            attempt()
            return
        with pytest.raises(sgpc.InputError, match=told):
            attempt()


SECONDS = np.resize([0, 90, 1800, 86400], 40)
LENGTHS = {
    "floats": SECONDS.astype(float),
    "decimals": [Decimal(int(each)) for each in SECONDS],
    "fractions": [Fraction(int(each)) for each in SECONDS],
    "lengths of time": [timedelta(seconds=int(each)) for each in SECONDS],
    "seconds of NumPy's": SECONDS.astype("m8[s]"),
    "nanoseconds of NumPy's": SECONDS.astype("m8[s]").astype("m8[ns]"),
    "objects of NumPy's": list(SECONDS.astype("m8[s]").astype("m8[ms]")),
}


@pytest.mark.parametrize("kind", LENGTHS)
def test_numbers_of_every_type_and_unit_are_the_same_column(kind):
    (column,) = as_table({"x": LENGTHS[kind]}).columns
    assert column.is_numeric
    np.testing.assert_array_equal(column.values, SECONDS)


@pytest.mark.parametrize("kind", [np.str_, np.int64, np.float32, np.bool_])
def test_objects_of_numpy_as_labels_are_kept_as_those_of_python(tmp_path, kind):
    """A list of an array's entries, in a column of objects: they are fitted, and can be saved."""
    y = np.array([kind(i % 2) for i in range(40)], dtype=object)
    model = fits(y)()
    model.save(tmp_path / "m.sgpc")
    assert sgpc.load(tmp_path / "m.sgpc").classes.tolist() == model.classes.tolist()
    assert set(model.predict(X)) <= set(y)


DIGITS = "0x" + "f" * 5000
CONFIGS = {
    "a seed of 5000 digits": f"seed = {DIGITS}",
    "a part that is a number": f"kernel = {DIGITS}",
    "an option of 5000 digits": f"[kernel]\nname = 'matern-52'\nvariance = {DIGITS}",
    "a name that is a number": f"[kernel]\nname = {DIGITS}",
    "a list of 5000 digits": f"sizes = [{DIGITS}]",
    "a preset that is a number": f"preset = {DIGITS}",
    "a word of 5000 digits": f"optimizer = {DIGITS}",
}


@pytest.mark.parametrize("attack", CONFIGS)
def test_configurations(tmp_path, attack):
    path = tmp_path / "a.toml"
    path.write_text(CONFIGS[attack])
    with pytest.raises(sgpc.ConfigError) as refused:
        sgpc.build(path)
    assert len(str(refused.value)) < 500
