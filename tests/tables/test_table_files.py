"""Reading tables: CSV in its many forms, Parquet, npz, libsvm."""

from __future__ import annotations

import csv
import gzip
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sgpc_framework import InputError
from sgpc_framework.tables import read_table
from sgpc_framework.tables.csv_files import PIECE


@pytest.fixture
def table(tmp_path):
    """``table("a,b\\n1,2\\n")``: what is read from a file with that text."""

    def read(text, name="data.csv", **options):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return read_table(path, **options)

    return read


def values(table, name):
    return table.column(name).values.tolist()


def test_numbers_and_words_are_told_apart(table):
    content = table("age,colour\n31,red\n45.5,blue\n")
    assert content.names == ("age", "colour")
    assert values(content, "age") == [31.0, 45.5]
    assert values(content, "colour") == ["red", "blue"]
    assert [c.is_numeric for c in content.columns] == [True, False]
    assert len(content) == 2


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_the_delimiter_is_found(table, delimiter):
    text = "a,b,c\n1,x,2\n3,y,4\n".replace(",", delimiter)
    assert values(table(text), "c") == [2.0, 4.0]


def test_a_comma_inside_a_semicolon_file_is_decimal(table):
    assert values(table("a;b\n1,5;x\n2;y\n"), "a") == [1.5, 2.0]
    assert values(table('a,b\n"1,5",x\n2,y\n'), "a") == ["1,5", "2"]


def test_quotes_marks_and_blank_lines(table):
    content = table(
        b'\xef\xbb\xbf"name","note"\r\n"Ann, B.","two\nlines"\r\n\r\nC,"say ""hi"""\r\n'
    )
    assert values(content, "name") == ["Ann, B.", "C"]
    assert values(content, "note") == ["two\nlines", 'say "hi"']
    assert content.first_line is None  # rows and lines no longer go together


@pytest.mark.parametrize(
    ("text", "header"),
    [
        ("a,b\n1,2\n", True),
        ("1,2\n3,4\n", False),
        ("a,b\nx,1\ny,2\n", True),
        ("x,1\ny,2\n", False),
        ("site,letter\nE,A\nI,C\n", True),
        ("E,A\nI,C\nE,G\n", False),  # E comes again in its column
        ("A,A\nC,G\n", False),
        (",x\n0,1.5\n1,2.5\n", True),  # how pandas writes an index
        ("a,b\nNA,x\n1,y\n", True),
    ],
)
def test_a_header_is_recognised(table, text, header):
    content = table(text)
    lines = text.strip().count("\n") + 1
    assert len(content) == lines - header
    assert content.first_line == 1 + header
    assert len(table(text, header=False)) == lines


def test_columns_without_a_name_are_called_by_their_position(table):
    assert table("1,2,3\n4,5,6\n").names == ("1", "2", "3")
    assert table(",x\n0,1.5\n1,2.5\n").names == ("1", "x")


@pytest.mark.parametrize("marker", ["", "NA", "n/a", "NaN", "?", "null", "#N/A", " "])
def test_missing_values_are_nan_or_none(table, marker):
    content = table(f"a,b\n1,x\n{marker},{marker}\n3,y\n")
    assert np.isnan(content.column("a").values).tolist() == [False, True, False]
    assert values(content, "b") == ["x", None, "y"]
    assert content.column("b").missing.tolist() == [False, True, False]


def test_a_text_can_be_declared_missing(table):
    assert not table("a\n1\n-\n3\n").column("a").is_numeric
    assert table("a\n1\n-\n3\n", missing=["-"]).column("a").is_numeric


def test_columns_can_be_declared_words_and_keep_their_spelling(table):
    content = table("zip,a\n01234,1\n99,2\n", words=["zip", "not there"])
    assert values(content, "zip") == ["01234", "99"]


def test_underscores_do_not_make_numbers(table):
    assert values(table("a\n1_2\n3\n", header=True), "a") == ["1_2", "3"]


def test_a_word_that_comes_late_makes_the_whole_column_words(table):
    rows = ["1.50,2"] * (PIECE + 10)
    content = table("\n".join(["a,b", *rows, "x,3", "x,3"]))
    assert values(content, "a")[:2] == ["1.50", "1.50"]
    assert values(content, "a")[-1] == "x"
    assert content.column("b").values[-1] == 3.0
    assert len(content) == PIECE + 12


def test_a_compressed_file(table):
    assert values(table(gzip.compress(b"a,b\n1,2\n"), "data.csv.gz"), "b") == [2.0]
    with pytest.raises(InputError, match=r"bad\.csv\.gz: cannot be read"):
        table(b"a,b\n1,2\n", "bad.csv.gz")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,2\n3\n", "wanted 2 fields, as in the first row, found 1 in line 3"),
        ("", "empty file"),
        ("a,b\n", "rows below the header"),
        ("a,a\n1,2\n", "'a' more than once"),
        (b"a,b\ncaf\xe9,1\n", "wanted UTF-8 text, found byte 0xe9"),
        ('a,b\n"x,1\n' + "y,2\n" * 50_000, "a quote never closed"),
    ],
)
def test_what_is_wrong_with_a_text_is_said_with_its_place(table, text, message):
    with pytest.raises(InputError, match=message):
        table(text, header=True if text == "a,b\n" else None)


def test_what_is_no_table_at_all(table, tmp_path):
    table("a\n1\n", "train.csv")
    with pytest.raises(InputError, match=r"there is no file .*; did you mean 'train\.csv'"):
        read_table(tmp_path / "trian.csv")
    with pytest.raises(InputError, match="there is no folder"):
        read_table(tmp_path / "nowhere" / "x.csv")
    with pytest.raises(InputError, match="does not say what kind of table"):
        table("a\n1\n", "data.xlsx")
    with pytest.raises(InputError, match="no table format 'cvs'; did you mean 'csv'"):
        table("a\n1\n", format="cvs")
    with pytest.raises(InputError, match="cannot be read"):
        read_table(tmp_path, format="csv")


def test_columns_by_name_or_position(table):
    content = table("a,b,2\n1,2,3\n", header=True)
    assert content.column("a").name == content.column(1).name == content.column("-3").name == "a"
    assert content.column("2").name == "2"  # a name goes before a position
    with pytest.raises(InputError, match="there is no column 'lable'; did you mean 'label'"):
        table("label,x\ny,1\n").column("lable")
    with pytest.raises(InputError, match="there is no column '4'; choose from a, b, 2"):
        content.column(4)
    with pytest.raises(InputError, match=r"no column 'a'; the columns have no names.*--header"):
        table("1,2\n3,4\n").column("a")


def test_some_rows_know_where_they_came_from(table):
    some = table("x\n0\n1\n2\n3\n").rows(np.array([3, 1, 2])).rows(np.array([1, 2]))
    assert values(some, "x") == [1.0, 2.0]
    assert some.where(0, "x").endswith("data.csv: row 2 (line 3), column 'x'")


# -- the other formats -------------------------------------------------------------------------


def test_npz_with_a_matrix_and_labels(tmp_path):
    path = tmp_path / "data.npz"
    np.savez(path, X=np.arange(6.0).reshape(3, 2), y=np.array(["a", "b", "a"]), other=np.ones(9))
    content = read_table(path)
    assert content.names == ("X1", "X2", "y")
    assert values(content, "X2") == [1.0, 3.0, 5.0]
    assert values(content, "y") == ["a", "b", "a"]
    np.savez(path, X=np.ones((3, 2), dtype=int), columns=["u", "v"])
    assert read_table(path).names == ("u", "v")


def test_npz_with_named_columns(tmp_path):
    path = tmp_path / "data.npz"
    np.savez(path, age=np.array([1, 2]), colour=np.array([b"red", b"blue"]), ok=[True, False])
    content = read_table(path)
    assert values(content, "age") == [1.0, 2.0]
    assert values(content, "colour") == ["red", "blue"]
    assert values(content, "ok") == ["True", "False"]


def test_npz_never_unpickles(tmp_path):
    path = tmp_path / "data.npz"
    np.savez(path, X=np.array([[print, 1]], dtype=object))
    with pytest.raises(InputError, match="wanted an npz file of plain arrays"):
        read_table(path)
    path.write_bytes(b"nothing of the kind")
    with pytest.raises(InputError, match="wanted an npz file of plain arrays"):
        read_table(path)
    np.savez(path, a=np.ones(2), b=np.ones(3))
    with pytest.raises(InputError, match="columns of one length"):
        read_table(path)


def test_libsvm(table):
    content = table("+1 1:0.5 3:2 # a comment\n\n-1 2:1e-3\n", "data.libsvm")
    assert content.names == ("label", "1", "2", "3")
    assert values(content, "label") == [1.0, -1.0]
    assert values(content, "3") == [2.0, 0.0]
    assert content.sparse
    assert table("a 0:1\nb 1:2\n", "data.svm").names == ("label", "0", "1")
    assert values(table("1_0 1:1\n1_1 1:2\n", "data.svm"), "label") == ["1_0", "1_1"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 2\n", "wanted index:value after the label in line 1, found '2'"),
        ("1 1:1\n1 x:2\n", "in line 2, found 'x:2'"),
        ("1 1:1_0\n", "in line 1, found '1:1_0'"),
        ("1\n", "found none with a value"),
        ("1 999999999:1\n2 1:1\n", "too many cells"),
    ],
)
def test_what_is_wrong_with_libsvm_text(table, text, message):
    with pytest.raises(InputError, match=message):
        table(text, "data.libsvm")


def test_parquet(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "data.parquet"
    columns = {"n": [1, None, 3], "x": [0.5, 1.5, None], "w": ["a", None, "b"], "b": [True] * 3}
    parquet.write_table(pyarrow.table(columns), path)
    content = read_table(path)
    assert content.names == ("n", "x", "w", "b")
    assert np.isnan(content.column("n").values).tolist() == [False, True, False]
    assert values(content, "w") == ["a", None, "b"]
    assert values(content, "b") == ["True"] * 3
    path.write_bytes(b"nothing of the kind")
    with pytest.raises(InputError, match="wanted a Parquet file"):
        read_table(path)


@pytest.mark.parametrize("encoding", ["PLAIN", "DELTA_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY", None])
@pytest.mark.parametrize("rows", [100, 4])
def test_parquet_of_any_types_and_encodings(tmp_path, monkeypatch, encoding, rows):
    """Batch by batch or whole, by a list of words or by differences."""
    pyarrow = pytest.importorskip("pyarrow")
    from datetime import date
    from decimal import Decimal

    from pyarrow import parquet

    monkeypatch.setattr("sgpc_framework.tables.parquet_files.ROWS", rows)
    columns = {
        "word": ["a", None, "bc", "a", None, "d"],
        "late": [None, None, None, None, None, "z"],
        "none": pyarrow.nulls(6),
        "category": pyarrow.array(["p", "q", None] * 2).dictionary_encode(),
        "level": pyarrow.array([1, 2, None] * 2).dictionary_encode(),
        "day": [date(2026, 1, 1), None] * 3,
        "price": [Decimal("1.25"), None, Decimal("3.50")] * 2,
        "list": [[1, 2], None, []] * 2,
        "truth": [True, None, False] * 2,
        "large": pyarrow.array(["g"] * 6, pyarrow.large_string()),
        "whole": pyarrow.array([2**63] * 6, pyarrow.uint64()),
    }
    path = tmp_path / "data.parquet"
    encodings = {} if encoding is None else {"word": encoding, "late": encoding}
    options = {"use_dictionary": encoding is None, "column_encoding": encodings or None}
    parquet.write_table(pyarrow.table(columns), path, **options)
    content = read_table(path)
    assert values(content, "word") == ["a", None, "bc", "a", None, "d"]
    assert values(content, "late") == [None] * 5 + ["z"]
    assert np.isnan(content.column("none").values).all()
    assert values(content, "category") == ["p", "q", None] * 2
    np.testing.assert_array_equal(content.column("level").values, [1.0, 2.0, np.nan] * 2)
    assert values(content, "day") == ["2026-01-01", None] * 3
    np.testing.assert_array_equal(content.column("price").values, [1.25, np.nan, 3.5] * 2)
    assert values(content, "list") == ["[1, 2]", None, "[]"] * 2
    assert values(content, "truth") == ["True", None, "False"] * 2
    assert values(content, "large") == ["g"] * 6
    assert values(content, "whole") == [2.0**63] * 6


def test_parquet_without_pyarrow(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(InputError, match=r"pip install 'sgpc-framework\[parquet\]'"):
        read_table(tmp_path / "data.parquet")


# -- whatever is written is read ---------------------------------------------------------------

WORDS = st.text("ab é\"'\n=%", min_size=1).filter(lambda text: text.strip() == text)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)


@given(
    rows=st.lists(st.tuples(WORDS, NUMBERS, st.none() | NUMBERS, st.integers()), min_size=1),
    delimiter=st.sampled_from(",;\t"),
    end=st.sampled_from(["\n", "\r\n"]),
    mark=st.sampled_from(["", "\ufeff"]),
)
def test_a_table_that_csv_writes_is_read_again(tmp_path_factory, rows, delimiter, end, mark):
    path = tmp_path_factory.mktemp("round") / "data.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        file.write(mark)
        writer = csv.writer(file, delimiter=delimiter, lineterminator=end)
        writer.writerows([("word", "number", "gap", "whole"), *rows])
    content = read_table(path)
    words, numbers, gaps, wholes = zip(*rows, strict=True)
    assert content.names == ("word", "number", "gap", "whole")
    assert values(content, "word") == list(words)
    assert values(content, "number") == list(numbers)
    assert values(content, "whole") == [float(whole) for whole in wholes]
    for value, gap in zip(values(content, "gap"), gaps, strict=True):
        assert value == gap or (gap is None and value != value)


@pytest.mark.parametrize("name", ["data.csv", "data.csv.gz", "data.libsvm", "data.libsvm.gz"])
def test_a_byte_order_mark_is_no_text(tmp_path, name):
    text = "1 1:2.5\n2 1:3.5\n" if "libsvm" in name else "label,x\n1,2.5\n2,3.5\n"
    path = tmp_path / name
    content = text.encode("utf-8-sig")
    path.write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    assert read_table(path).column("label").values.tolist() == [1.0, 2.0]
