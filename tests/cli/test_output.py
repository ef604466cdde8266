"""``-o``: where results go, and what may be replaced."""

from __future__ import annotations

import io
import os
import stat
import subprocess
import sys
import zipfile

import numpy as np
import pytest

import sgpc_framework
from sgpc_framework.datasets import twonorm
from sgpc_framework.errors import ModelFileError
from sgpc_framework.tables import TableClassifier

FAST = ("--config", "fast", "--max-basis", 3)


@pytest.fixture
def data(tmp_path):
    X, y = twonorm(60)
    path = tmp_path / "data.npz"
    np.savez(path, X=X, y=y)
    return path


def test_any_other_zip_is_not_overwritten(sgpc, data, tmp_path):
    document = tmp_path / "letter.docx"
    with zipfile.ZipFile(document, "w") as archive:
        archive.writestr("word/document.xml", "Dear all")
    before = document.read_bytes()
    result = sgpc("fit", data, "-o", document, *FAST)
    assert result.exit_code == 1
    assert "letter.docx is there and is not a model file" in result.output
    assert document.read_bytes() == before


def test_a_model_that_wants_to_be_trusted_says_so_when_it_is_written(
    sgpc, data, tmp_path, monkeypatch
):
    model = tmp_path / "m.sgpc"
    assert "--trust" not in sgpc("fit", data, "-o", model, *FAST).output
    monkeypatch.setattr("sgpc_framework.files.allowance.BESIDES_OF_MODELS", -(2**30))
    said = sgpc("fit", data, "-o", model, *FAST)
    assert said.exit_code == 0
    assert "It takes about 1 MB of memory: commands that open it want --trust" in said.stderr


def test_a_model_replaces_a_model_behind_a_link_and_keeps_its_mode(sgpc, data, tmp_path):
    model, link = tmp_path / "m.sgpc", tmp_path / "latest.sgpc"
    assert sgpc("fit", data, "-o", model, *FAST).exit_code == 0
    model.chmod(0o600)
    link.symlink_to(model)
    before = model.read_bytes()
    result = sgpc("fit", data, "-o", link, *FAST[:-1], 4)
    assert result.exit_code == 0, result.output
    assert link.is_symlink()
    assert model.read_bytes() != before
    assert stat.S_IMODE(model.stat().st_mode) == 0o600
    assert len(sgpc_framework.load(link)) == 4


@pytest.mark.parametrize("problem", ["x" * 300, "no/such/folder/m", "data.npz"])
def test_what_cannot_be_written_is_told_before_the_fit(sgpc, data, tmp_path, monkeypatch, problem):
    monkeypatch.setattr(TableClassifier, "fit", lambda *_, **__: pytest.fail("it was fitted"))
    result = sgpc("fit", data, "-o", tmp_path / problem, *FAST)
    assert result.exit_code == 1
    assert result.output.count("\n") == 1, result.output


@pytest.mark.parametrize("beside", [True, False])
def test_a_model_that_cannot_be_written_is_not_lost(sgpc, data, tmp_path, monkeypatch, beside):
    save, spare = TableClassifier.save, tmp_path / "temporary"
    spare.mkdir()

    def full(classifier, path):
        if path.name == "m.sgpc" or (not beside and path.parent == tmp_path):
            raise ModelFileError(f"{path}: cannot be written: No space left on device")
        save(classifier, path)

    monkeypatch.setattr(TableClassifier, "save", full)
    monkeypatch.setattr("sgpc_framework.cli.fit.gettempdir", lambda: str(spare))
    result = sgpc("fit", data, "-o", tmp_path / "m.sgpc", *FAST)
    assert result.exit_code == 1
    assert "No space left on device; the model was not lost: it is in " in result.output
    (kept,) = (tmp_path if beside else spare).glob("m-*.sgpc")
    assert str(kept) in result.output
    assert len(sgpc_framework.load(kept)) == 3


def run(*arguments, **options):
    script = "from sgpc_framework.cli import main; main()"
    command = [sys.executable, "-c", script, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, timeout=120, **options)


@pytest.mark.skipif(not os.path.exists("/dev/stdout"), reason="standard output has no name here")
def test_a_dash_is_standard_output(data, tmp_path):
    ran = run("fit", data, "-o", "-", *FAST, cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert b"written to /dev/stdout" in ran.stderr
    assert zipfile.is_zipfile(io.BytesIO(ran.stdout))
    (tmp_path / "m.sgpc").write_bytes(ran.stdout)
    assert len(sgpc_framework.load(tmp_path / "m.sgpc")) == 3
    ran = run("predict", "m.sgpc", data, "-o", "-", cwd=tmp_path)
    assert ran.stdout.startswith(b"predicted,probability_")
    assert sorted(os.listdir(tmp_path)) == ["data.npz", "m.sgpc"]


@pytest.mark.skipif(not os.path.exists("/dev/null"), reason="there is no /dev/null")
def test_a_device_stays_what_it_is(sgpc, data, tmp_path):
    assert sgpc("fit", data, "-o", "/dev/null", *FAST).exit_code == 0
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_the_name_of_a_folder_is_none_of_a_file(sgpc, data, tmp_path):
    result = sgpc("fit", data, "-o", f"{tmp_path / 'models'}{os.sep}", *FAST)
    assert result.exit_code == 2
    assert "names a folder; wanted the name of a file" in result.output
    assert not (tmp_path / "models").exists()
