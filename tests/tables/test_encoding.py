"""From columns to features: numbers, words, what is missing, and the way through a file."""

from __future__ import annotations

import json

import attrs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sgpc_framework import InputError
from sgpc_framework.tables import Encoding
from sgpc_framework.tables.data_frames import as_table
from sgpc_framework.tables.encoding import NumberColumn, WordColumn

PEOPLE = {"age": [20.0, 40.0, 60.0], "colour": ["red", "blue", "red"]}


def test_numbers_are_standardised_and_words_one_hot():
    encoding = Encoding.learn(as_table(PEOPLE))
    assert encoding.features == ("age", "colour=blue", "colour=red")
    X = encoding.encode(as_table(PEOPLE))
    scale = np.std([20.0, 40.0, 60.0])
    assert np.allclose(X, [[-20 / scale, 0, 1], [0, 1, 0], [20 / scale, 0, 1]])


def test_numbers_stay_as_they_are_on_request():
    encoding = Encoding.learn(as_table(PEOPLE), standardise=False)
    assert encoding.encode(as_table(PEOPLE))[:, 0].tolist() == [20.0, 40.0, 60.0]


def test_new_rows_are_encoded_like_the_training_rows_whatever_the_order_of_columns():
    encoding = Encoding.learn(as_table(PEOPLE))
    new = as_table({"other": [1, 1], "colour": ["blue", "red"], "age": [40, 60]})
    assert np.array_equal(encoding.encode(new), encoding.encode(as_table(PEOPLE))[[1, 2]])


@pytest.mark.parametrize("constant", [3.0, 0.1, 1e17])
def test_a_constant_column_is_zero_and_stays_finite(constant):
    table = as_table({"x": [constant] * 7})
    encoding = Encoding.learn(table)
    assert np.allclose(encoding.encode(table), 0.0)
    assert np.isfinite(encoding.encode(as_table({"x": [constant + 5.0]}))).all()


def test_missing_values_are_refused_with_their_place():
    with pytest.raises(InputError, match=r"row 2, column 'x': the value is missing.*--impute"):
        Encoding.learn(as_table({"x": [1.0, None, 2.0]}))
    with pytest.raises(InputError, match=r"row 1, column 'w'.*2 of 3 rows have none"):
        Encoding.learn(as_table({"w": [None, None, "a"]}))
    with pytest.raises(InputError, match=r"'x' has no value at all; leave it out.*--drop 'x'"):
        Encoding.learn(as_table({"x": [None, None]}), impute=True)
    encoding = Encoding.learn(as_table(PEOPLE))
    with pytest.raises(InputError, match="row 1, column 'colour': the value is missing"):
        encoding.encode(as_table({"age": [1.0], "colour": [None]}))


def test_missing_values_become_medians_and_most_frequent_words_if_asked():
    table = as_table({"x": [1.0, 2.0, 60.0, None], "w": ["a", None, "b", "b"]})
    encoding = Encoding.learn(table, impute=True, standardise=False)
    X = encoding.encode(table)
    assert X[:, 0].tolist() == [1.0, 2.0, 60.0, 2.0]
    assert X[1].tolist() == [2.0, 0.0, 1.0]
    nothing = as_table({"x": [None], "w": [None]})
    assert encoding.encode(nothing).tolist() == [[2.0, 0.0, 1.0]]
    often = {name: [*table.column(name).values] * 5 for name in table.names}
    flagged = Encoding.learn(as_table(often), impute=True, standardise=False)
    assert flagged.features == ("x", "x is missing", "w=a", "w=b", "w is missing")
    assert flagged.encode(nothing).tolist() == [[2.0, 1.0, 0.0, 1.0, 1.0]]


def test_infinite_numbers_are_refused_with_their_place():
    with pytest.raises(InputError, match="row 2, column 'x': wanted a finite number, found inf"):
        Encoding.learn(as_table({"x": [1.0, np.inf]}))
    encoding = Encoding.learn(as_table({"x": [1.0, 2.0]}))
    with pytest.raises(InputError, match="row 1, column 'x': wanted a finite number, found -inf"):
        encoding.encode(as_table({"x": [-np.inf]}))


def test_unseen_words_are_refused_or_count_as_none():
    table = as_table({"age": [1, 1, 1], "colour": ["red", "green", "pink"]})
    encoding = Encoding.learn(as_table(PEOPLE))
    with pytest.raises(InputError, match=r"row 2, column 'colour'.*found 'green' \(and 1 other"):
        encoding.encode(table)
    lenient = Encoding.learn(as_table(PEOPLE), unseen="zero")
    assert lenient.encode(table)[:, 1:].tolist() == [[0, 1], [0, 0], [0, 0]]


def test_a_column_that_is_absent_is_named():
    encoding = Encoding.learn(as_table(PEOPLE))
    with pytest.raises(InputError, match="found 1 without 'colour'"):
        encoding.encode(as_table({"age": [1.0]}))


def test_a_table_without_names_goes_by_position():
    encoding = Encoding.learn(as_table(PEOPLE))
    rows = [[20.0, "red"], [40.0, "blue"]]
    assert np.array_equal(encoding.encode(as_table(rows)), encoding.encode(as_table(PEOPLE))[:2])


def test_numbers_where_words_are_wanted_and_words_where_numbers_are():
    encoding = Encoding.learn(as_table({"zip": [1, 2, 2], "x": [1.5, 2.5, 3.5]}), words=["zip"])
    assert encoding.features == ("zip=1", "zip=2", "x")
    assert encoding.words == ("zip",)
    X = encoding.encode(as_table({"zip": ["2", "1"], "x": ["2.5", "2.5"]}))
    assert X.tolist() == [[0, 1, 0], [1, 0, 0]]
    with pytest.raises(InputError, match="row 2, column 'x': wanted a number, as in training"):
        encoding.encode(as_table({"zip": ["1", "1"], "x": ["2.5", "two"]}))


def test_identifiers_are_refused_with_advice():
    names = [f"n{i}" for i in range(30)]
    with pytest.raises(InputError, match=r"'name' has 30 different words in 30 rows.*--drop"):
        Encoding.learn(as_table({"name": names}))
    many = as_table({"name": [f"n{i % 150}" for i in range(1000)]})
    with pytest.raises(InputError, match=r"150 different words in 1000 rows.*--max-words"):
        Encoding.learn(many)
    assert len(Encoding.learn(many, max_words=150).features) == 150
    assert len(Encoding.learn(as_table({"name": names}), words=["name"]).features) == 30


def test_a_slip_in_a_column_of_numbers_is_found():
    cells = [str(i % 7) for i in range(50)]
    cells[30] = "12,5"
    with pytest.raises(InputError, match=r"row 31, column 'x': wanted a number, as in most.*12,5"):
        Encoding.learn(as_table({"x": cells}))
    assert len(Encoding.learn(as_table({"x": cells}), words=["x"]).features) == 8
    with pytest.raises(InputError, match=r"row 1, column '1'.*found 'wing'.*--header"):
        Encoding.learn(as_table([["wing"], *([str(i)] for i in range(50))]))


def test_columns_that_a_sparse_table_does_not_mention_are_zero():
    table = as_table({"1": [0.0, 2.0], "2": [1.0, 1.0]})
    encoding = Encoding.learn(table, standardise=False)
    sparse = attrs.evolve(as_table({"2": [1.0]}), sparse=True)
    assert encoding.encode(sparse).tolist() == [[0.0, 1.0]]


@given(
    st.lists(
        st.tuples(st.floats(-1e300, 1e300), st.sampled_from(["a", "ü", "", "a=b"])), min_size=2
    ),
    st.booleans(),
)
def test_an_encoding_survives_a_file_and_encodes_the_same_bits(rows, impute):
    table = as_table({"x": [x for x, _ in rows], "w": [w for _, w in rows]})
    encoding = Encoding.learn(table, impute=impute)
    again = Encoding.from_section(json.loads(json.dumps(encoding.as_section(), allow_nan=False)))
    assert again == encoding
    assert np.array_equal(again.encode(table), encoding.encode(table))


@pytest.mark.parametrize(
    "change",
    [
        {"mean": float("nan")},
        {"mean": "0"},
        {"scale": 0.0},
        {"fill": float("inf")},
        {"name": 3},
        {"strange": 1},
        {"kind": "picture"},
    ],
)
def test_a_section_that_is_not_sound_is_refused(change):
    section = Encoding((NumberColumn("x"),)).as_section()
    section["columns"][0] |= change
    with pytest.raises((TypeError, ValueError)):
        Encoding.from_section(section)


def test_words_of_a_section_must_be_distinct_texts():
    for words in ([], ["a", "a"], ["a", 1]):
        with pytest.raises((TypeError, ValueError)):
            WordColumn("w", tuple(words))


def test_a_plain_row_is_encoded_as_a_table_of_it_is():
    table = as_table({"x": [1.5, 2.0, 7.25], "w": ["a", "b", "a"], "n": [1, 2, 4]})
    encoding = Encoding.learn(table)
    for row in ({"x": 0.1, "w": "b", "n": 3}, {"n": -7, "x": 1e9, "w": "a", "other": None}):
        expected = encoding.encode(as_table(row))
        assert np.array_equal(encoding.encode_row(row), expected)


@pytest.mark.parametrize(
    "value", [None, np.nan, np.inf, "1.5", True, [1.0], 10**400, np.float64(1.0), 1e300]
)
def test_a_row_out_of_the_ordinary_goes_the_ordinary_way(value):
    encoding = Encoding.learn(as_table({"x": [1.5, 2.0], "w": ["a", "b"]}))
    assert encoding.encode_row({"x": value, "w": "a"}) is None
    assert encoding.encode_row({"x": 1.0, "w": value}) is None
    assert encoding.encode_row({"x": 1.0}) is None
    assert encoding.encode_row({"x": 1.0, "w": "unseen"}) is None
