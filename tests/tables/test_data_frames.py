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
