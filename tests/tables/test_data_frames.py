"""Tables from data frames and from rows."""

from __future__ import annotations

import numpy as np
import pytest

from sgpc_framework import InputError
from sgpc_framework.tables.data_frames import as_table


def test_pandas_frames_with_every_kind_of_nothing():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {
            "x": [1.5, np.nan],
            "n": pandas.array([1, None], dtype="Int64"),
            "w": ["a", None],
            "c": pandas.Categorical(["u", np.nan]),
            "s": pandas.array(["t", pandas.NA], dtype="string"),
            "b": [True, False],
        }
    )
    table = as_table(frame)
    assert table.names == ("x", "n", "w", "c", "s", "b")
    assert [column.is_numeric for column in table.columns] == [True, True, *[False] * 4]
    for name in "xnwcs":
        assert table.column(name).missing.tolist() == [False, True], name
    assert table.column("b").values.tolist() == ["True", "False"]


def test_polars_frames():
    polars = pytest.importorskip("polars")
    table = as_table(polars.DataFrame({"x": [1, None], "w": ["a", None], "f": [0.5, 1.5]}))
    assert [column.is_numeric for column in table.columns] == [True, False, True]
    assert table.column("x").missing.tolist() == [False, True]
    assert table.column("w").values.tolist() == ["a", None]


def test_rows_of_numbers_and_words():
    table = as_table([[1, "a"], [2.5, None]])
    assert table.names == ("1", "2")
    assert table.column("1").values.tolist() == [1.0, 2.5]
    assert table.column("2").values.tolist() == ["a", None]
    assert as_table(np.ones((2, 3)), ["a", "b", "c"]).names == ("a", "b", "c")


def test_what_is_no_table():
    with pytest.raises(InputError, match=r"rows of one length, found shape \(3,\)"):
        as_table([1.0, 2.0, 3.0])
    with pytest.raises(InputError, match="wanted 2 columns"):
        as_table(np.ones((2, 3)), ["a", "b"])


def test_rows_that_name_their_values():
    rows = [{"x": 1.5, "w": "a"}, {"w": None, "x": 2, "other": True}]
    table = as_table(rows)
    assert table.names == ("x", "w", "other")
    assert table.column("x").values.tolist() == [1.5, 2.0]
    assert table.column("w").values.tolist() == ["a", None]
    assert table.column("other").values.tolist() == [None, "True"]


def test_one_row_that_names_its_values():
    row = {"x": np.float64(1.5), "w": "a", "gone": None, "nan": np.nan, "scalar": np.array(3.0)}
    table = as_table(row)
    assert len(table) == 1
    assert table.column("x").values.tolist() == [1.5]
    assert table.column("w").values.tolist() == ["a"]
    assert table.column("gone").missing.tolist() == table.column("nan").missing.tolist() == [True]


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ({"x": 1.0, "w": ["a"]}, "column 'x': .* found a float; a row has single values"),
        ({"x": {"y": 1.0}}, "column 'x': wanted a number or a word for each row, found a dict"),
        ([{"x": 1.0}, [1.0]], "row 2: wanted a mapping .* found a list"),
        ([{"x": 1.0}, {"x": [1.0]}], "row 2, column 'x': wanted a number or a word, found a list"),
        ([1.0, "a"], "one row is "),
    ],
)
def test_what_is_neither_rows_nor_columns_is_refused(data, text):
    with pytest.raises(InputError, match=text):
        as_table(data)
