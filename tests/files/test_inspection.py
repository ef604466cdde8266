"""Looking into a model file, and limiting what it may use."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

import sgpc_framework as sgpc
from sgpc_framework.tables import TableClassifier

X = np.random.default_rng(0).normal(size=(60, 3))


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "m.sgpc"
    kernel = {"name": "sum", "terms": ["squared-exponential", "constant"]}
    sgpc.build(kernel=kernel, max_basis=4, max_iterations=1).fit(X, X[:, 0] > 0.0).save(path)
    return path


def test_what_a_file_holds_and_needs(path):
    found = sgpc.inspect(path)
    assert found.classes == (False, True)
    assert found.basis == (4,)
    assert found.features == 3
    assert found.parts == ("sum", "squared-exponential", "constant", "probit")
    assert list(found.needs) == ["sgpc-framework"]
    assert found.config["max_basis"] == 4
    assert found.target is None
    assert not found.trust


def test_tables_and_sizes_and_many_classes(tmp_path):
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    columns = {f"x{i}": column for i, column in enumerate(X.T)}
    design = sgpc.build("accurate", max_basis=4, sizes=[2])
    TableClassifier.fit({**columns, "y": y}, "y", design).save(tmp_path / "m")
    found = sgpc.inspect(tmp_path / "m")
    assert (found.target, found.columns) == ("y", ("x0", "x1", "x2"))
    assert found.basis == (4,)
    assert found.sizes == (2,)
    assert found.classes == (0, 1, 2)


def test_many_classes_are_opened_without_being_trusted(tmp_path):
    """26 classes with the defaults take more memory than tables may, and a small file."""
    y = np.repeat(np.arange(26), 40)
    inputs = np.random.default_rng(1).normal(size=(len(y), 2)) + y[:, None]
    sgpc.build(max_basis=80, max_iterations=1, objective="none").fit(inputs, y).save(tmp_path / "m")
    found = sgpc.inspect(tmp_path / "m")
    assert found.memory > 100 * 2**20
    assert not found.trust
    assert len(sgpc.load(tmp_path / "m")) == 80


def test_what_is_no_model_is_said_to_be_none(tmp_path):
    (tmp_path / "m").write_bytes(b"x" * 1000)
    with pytest.raises(sgpc.ModelFileError, match="not a model file"):
        sgpc.inspect(tmp_path / "m")


def test_parts_limit_what_a_file_may_use(path):
    allowed = ["sum", "squared-exponential", "constant", "probit"]
    model = sgpc.load(path, parts=allowed)
    np.testing.assert_array_equal(model.predict_proba(X), sgpc.load(path).predict_proba(X))
    with pytest.raises(sgpc.ModelFileError, match=r"(?s)kernel cannot be made.*'constant'"):
        sgpc.load(path, parts=[name for name in allowed if name != "constant"])
    with pytest.raises(sgpc.ModelFileError, match=r"(?s)likelihood cannot be made.*'probit'"):
        sgpc.load(path, parts=allowed[:3])
    with pytest.raises(sgpc.InputError, match="wanted a list of the names of parts"):
        sgpc.load(path, parts=" ".join(allowed))


STRANGER = """
import sys
from importlib.metadata import EntryPoint, EntryPoints
from sgpc_framework.plugin import loading
import sgpc_framework as sgpc

class Stranger:
    name, version, requires = "sgpc-stranger", "1", None

found = loading.entry_points
stranger = EntryPoint("x", "antigravity_of_a_stranger", loading.PROJECT)
vars(stranger).update(dist=Stranger())
loading.entry_points = lambda group: EntryPoints([*found(group=group), stranger])
imported = []

class Watch:
    def find_spec(self, name, *_):
        imported.append(name)

sys.meta_path.insert(0, Watch())
call, path = sys.argv[1:]
exec(call)
print("antigravity_of_a_stranger" in imported, any(n.startswith("sgpc_plugins") for n in imported))
"""


@pytest.mark.parametrize(
    ("call", "wanted"),
    [
        ("sgpc.inspect(path)", "False False"),
        (
            "sgpc.load(path, parts=['sum', 'squared-exponential', 'constant', 'probit'])",
            "False True",
        ),
        ("sgpc.load(path)", "False True"),
    ],
)
def test_no_plugin_is_imported_in_vain(path, call, wanted):
    command = [sys.executable, "-c", STRANGER, call, str(path)]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == wanted


def test_the_command(path):
    from click.testing import CliRunner

    from sgpc_framework.cli import main

    text = CliRunner().invoke(main, ["inspect", str(path)]).output
    assert "parts          sum, squared-exponential, constant, probit" in text
    told = json.loads(CliRunner().invoke(main, ["inspect", str(path), "--json"]).output)
    assert told["basis"] == [4]
