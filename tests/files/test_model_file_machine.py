"""Model files under any sequence of saving, loading and damage: the model that was saved, or an
error; never another one."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, rule

import sgpc_framework as sgpc
from sgpc_framework.tables import TableClassifier

X = np.random.default_rng(3).normal(size=(40, 2))
SMALL = {"max_basis": 3, "max_iterations": 1, "optimizer_steps": 1}


@cache
def models():
    """A model of two classes, one of three, a model for each class, and one of a table."""
    two, three = X[:, 0] > 0.0, np.digitize(X[:, 0], [-0.5, 0.5])
    return (
        sgpc.build(SMALL).fit(X, two),
        sgpc.build(SMALL).fit(X, three),
        sgpc.build({**SMALL, "strategy": "one-vs-rest"}).fit(X, three),
        TableClassifier.fit(
            {"a": X[:, 0], "b": X[:, 1], "y": np.where(two, "yes", "no")}, "y", sgpc.build(SMALL)
        ),
    )


class ModelFileMachine(RuleBasedStateMachine):
    """Save, load, truncate, extend, flip, move and delete, in any order."""

    names = Bundle("names")

    @initialize()
    def begin(self):
        self.folder = tempfile.TemporaryDirectory()
        self.saved: dict[str, tuple[int, bytes]] = {}
        """Which model a name was given, and the bytes of its file at that time."""

    def teardown(self):
        if hasattr(self, "folder"):
            self.folder.cleanup()

    def path(self, name):
        return Path(self.folder.name) / name

    @rule(target=names, name=st.sampled_from(["a.sgpc", "b", "ü ñ.sgpc"]), which=st.integers(0, 3))
    def save(self, name, which):
        models()[which].save(self.path(name))
        self.saved[name] = which, self.path(name).read_bytes()
        return name

    @rule(name=names)
    def load(self, name):
        if name not in self.saved:
            with pytest.raises(sgpc.ModelFileError, match="there is no such file"):
                sgpc.load(self.path(name))
            return
        which, content = self.saved[name]
        if self.path(name).read_bytes() != content:
            for look in (sgpc.load, sgpc.inspect):
                with pytest.raises(sgpc.ModelFileError):
                    look(self.path(name))
            return
        found, wanted = sgpc.load(self.path(name)), models()[which]
        assert type(found) is type(wanted)
        np.testing.assert_array_equal(found.predict_proba(X), wanted.predict_proba(X))
        np.testing.assert_array_equal(found.classes, wanted.classes)
        assert sgpc.inspect(self.path(name)).classes == tuple(wanted.classes.tolist())

    @rule(name=names)
    def save_again_what_was_loaded(self, name):
        """What is loaded and saved is the same file, to the byte."""
        if name in self.saved and self.path(name).read_bytes() == self.saved[name][1]:
            sgpc.load(self.path(name)).save(self.path("again"))
            assert self.path("again").read_bytes() == self.saved[name][1]
            self.path("again").unlink()

    @rule(name=names, length=st.integers(0, 6000))
    def truncate(self, name, length):
        if name in self.saved:
            content = self.path(name).read_bytes()
            self.path(name).write_bytes(content[:length])

    @rule(name=names, more=st.binary(min_size=1, max_size=80))
    def extend(self, name, more):
        if name in self.saved:
            with self.path(name).open("ab") as file:
                file.write(more)

    @rule(name=names, at=st.integers(0, 20_000), bit=st.integers(0, 7))
    def flip(self, name, at, bit):
        if name in self.saved and (content := bytearray(self.path(name).read_bytes())):
            content[at % len(content)] ^= 1 << bit
            self.path(name).write_bytes(content)

    @rule(name=names)
    def mend(self, name):
        """A file that has its bytes again is as good as it was."""
        if name in self.saved:
            self.path(name).write_bytes(self.saved[name][1])

    @rule(name=names)
    def delete(self, name):
        if self.saved.pop(name, None):
            self.path(name).unlink()

    @invariant()
    def nothing_else_is_left_behind(self):
        if hasattr(self, "folder"):
            assert {path.name for path in Path(self.folder.name).iterdir()} == set(self.saved)


ModelFileMachine.TestCase.settings = settings(max_examples=30, stateful_step_count=15)
TestModelFileMachine = ModelFileMachine.TestCase
