"""What tells one training set from another, also where only the kernel knows its inputs."""

from __future__ import annotations

from typing import ClassVar

import attrs
import numpy as np
import pytest

from sgpc_framework.errors import InputError, PluginError
from sgpc_framework.rows.fingerprint import fingerprint
from sgpc_framework.rows.training_rows import TrainingRows


@attrs.frozen
class Plain:
    """A kernel on sets that cannot write them down."""

    name: ClassVar[str] = "plain"

    def __call__(self, X, Z):
        return np.array([[float(len(x & z)) for z in Z] for x in X])

    def diag(self, X):
        return np.array([float(len(x)) for x in X])


@attrs.frozen
class Writing(Plain):
    """The same, which can; but only for sets of words."""

    def encode_inputs(self, X):
        return [sorted(word.upper() for word in x) for x in X]

    def decode_inputs(self, data):
        return np.fromiter(map(frozenset, data), dtype=object, count=len(data))


def rows(*sets, y=(1.0, -1.0)):
    X = np.fromiter(map(frozenset, sets), dtype=object, count=len(sets))
    return TrainingRows.of(X, np.array(y))


def test_a_kernel_tells_its_inputs_apart():
    one = fingerprint(rows("ab", "bc"), Writing())
    assert one == fingerprint(rows("ba", "cb"), Writing())
    assert one["inputs"] != fingerprint(rows("ab", "bd"), Writing())["inputs"]
    assert one["labels"] != fingerprint(rows("ab", "bc", y=(1.0, 1.0)), Writing())["labels"]


def test_objects_that_nobody_writes_down_are_refused():
    with pytest.raises(InputError, match=r"must know its inputs again.*found \['frozenset'\]"):
        fingerprint(rows("ab", "bc"), Plain())


def test_a_kernel_that_fails_to_write_is_to_blame():
    with pytest.raises(PluginError, match=r"'plain'.*encode_inputs"):
        fingerprint(rows([1], [2]), Writing())
