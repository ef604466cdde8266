"""What users pass in, at the borders of what is taken."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from sgpc_framework.errors import InputError, PluginError
from sgpc_framework.rows.checking import (
    LARGEST,
    ROWS,
    Defects,
    check_classes,
    checked_inputs,
    checked_kernel,
    checked_label_array,
    checked_weights,
    class_positions,
    is_missing,
    warn_of_shares,
)


@pytest.mark.parametrize("value", [None, float("nan"), np.datetime64("NaT", "s")])
def test_what_stands_for_nothing_is_missing(value):
    assert is_missing(value)


@pytest.mark.parametrize("value", [0, 0.0, "", False, "nan", float("inf")])
def test_what_is_something_is_not(value):
    assert not is_missing(value)


def test_what_cannot_say_whether_it_differs_is_missing():
    pandas = pytest.importorskip("pandas")
    assert is_missing(pandas.NA)
    assert is_missing(pandas.NaT)


@pytest.mark.parametrize(("rows", "total"), [(100, 9.9), (10, 0.9), (1000, 1.0)])
def test_weights_that_are_meant_as_shares_are_warned_of(rows, total):
    with pytest.warns(UserWarning, match="meant as shares"):
        warn_of_shares(rows, total)


@pytest.mark.parametrize(("rows", "total"), [(100, 10.0), (10, 1.0), (1000, 1e6)])
def test_others_are_not(rows, total):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_shares(rows, total)


def test_the_largest_number_is_taken_and_no_larger_one():
    for sign in (1.0, -1.0):
        assert checked_inputs([[sign * LARGEST], [0.0]])[0, 0] == sign * LARGEST
        with pytest.raises(InputError, match="must not exceed 1e\\+50"):
            checked_inputs([[0.0], [sign * 1.1 * LARGEST]])


def test_the_first_number_that_is_none_is_named_by_its_row_in_all():
    X = np.zeros((ROWS + 3, 2))
    X[ROWS + 1, 1], X[ROWS + 2, 0] = np.nan, np.inf
    with pytest.raises(InputError, match=rf"nan at row {ROWS + 1}, column 1 \(2 such"):
        checked_inputs(X)
    one, two = Defects.of(np.full((2, 1), np.inf), 5), Defects.of(np.ones((2, 1)), 7)
    assert (one + two).first == (np.inf, 5, 0)
    assert (two + one).first == (np.inf, 5, 0)
    assert ((one + one).count, (two + two).largest) == (4, 1.0)


@pytest.mark.parametrize("shape", [(0, 2), (2, 0)])
def test_no_rows_or_no_columns_are_no_matrix(shape):
    with pytest.raises(InputError, match="at least one row and one column"):
        checked_inputs(np.empty(shape))


def test_a_column_of_labels_is_taken_for_labels_and_two_are_not():
    assert checked_label_array(np.array([["a"], ["b"]]), 2).tolist() == ["a", "b"]
    with pytest.raises(InputError, match="one dimension"):
        checked_label_array(np.array([["a", "b"], ["b", "a"]]), 2)
    with pytest.raises(InputError, match="for each of the 3 rows, found 2"):
        checked_label_array(["a", "b"], 3)
    with pytest.raises(InputError, match="found one at row 1"):
        checked_label_array(np.array(["a", None], dtype=object), 2)


def test_quantities_are_no_classes():
    check_classes(np.arange(10.0), 20)
    check_classes(np.arange(11.0), 20)  # whole numbers may be as many as they like
    check_classes(np.arange(10) + 0.5, 20)
    check_classes(np.array([0.1, 0.2]), 2)
    with pytest.raises(InputError, match="11 different fractions in 20 rows"):
        check_classes(np.arange(11) + 0.5, 20)
    with pytest.raises(InputError, match="at least 2 classes"):
        check_classes(np.array(["a"]), 20)


@pytest.mark.parametrize(("count", "kind"), [(2, "uint8"), (255, "uint8"), (300, "uint16")])
def test_positions_take_as_few_bytes_as_there_are_classes(count, kind):
    classes = np.arange(count)
    positions = class_positions(classes, classes[::-1])
    assert positions.dtype == kind
    assert positions.tolist() == list(range(count))[::-1]


def test_weights():
    assert checked_weights(None, 2) is None
    assert checked_weights([1, 1], 2) is None
    assert checked_weights([0.0, 2.0], 2).tolist() == [0.0, 2.0]
    for wrong, what in [
        ([1.0, -1e-9], "found -1e-09 at row 1"),
        ([np.nan, -1.0], r"found nan at row 0 \(2 such"),
        ([0.0, 0.0], "above zero somewhere"),
        ([1e308, 1e308], "found inf: divide"),
        ([1.0], "each of the 2 rows"),
        (["a", "b"], "must hold numbers"),
    ]:
        with pytest.raises(InputError, match=what):
            checked_weights(wrong, 2)


def test_a_diagonal_that_is_none_is_seen_before_the_fit():
    class Wrong:
        name = "wrong"

        def __call__(self, X, Z):
            return np.ones((len(X), len(Z)))

        def diag(self, X):
            return np.full(len(X), 1.0 + 2e-6)

    with pytest.raises(PluginError, match="diagonal of"):
        checked_kernel(Wrong(), np.zeros((2, 1)))
