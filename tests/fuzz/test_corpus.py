"""Every file of the corpus is read, or refused by an error of ours: what fuzzing found, too."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs resource")
pytest.importorskip("pyarrow")

FILES = sorted(path for path in (HERE / "corpus").rglob("*") if path.is_file())


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_a_file_of_the_corpus(path):
    from targets import judged, warm_up

    warm_up(path.parent.name, path.read_bytes())
    judged(path.parent.name, path.read_bytes())


def test_every_target_has_a_corpus():
    from targets import TARGETS, seeds

    assert {*TARGETS} == {*seeds()} == {path.parent.name for path in FILES}


def test_a_reader_that_stumbles_is_found(tmp_path):
    """Without atheris, too: a reader that raises what is not ours ends the run with its file."""
    script = (
        "import sys; sys.path.insert(0, sys.argv.pop(1))\n"
        "import targets, run\n"
        "from pathlib import Path\n"
        "targets.TARGETS['libsvm'] = lambda data: {}[data] if len(data) > 30 else None\n"
        "run._at_random('libsvm', 20.0, Path(sys.argv[1]), 1)\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script, HERE, tmp_path],
        capture_output=True,
        text=True,
        env={**os.environ, "SGPC_FAST": "0"},
    )
    assert ran.returncode == 1
    assert "KeyError" in ran.stderr
    (found,) = tmp_path.iterdir()
    assert len(found.read_bytes()) > 30


def test_names_that_are_no_text_in_a_table_that_is_read_in_pieces():
    from sgpc_framework.errors import InputError
    from sgpc_framework.tables.table_pieces import _parquet_pieces

    with pytest.raises(InputError, match="wanted a Parquet file"):
        list(_parquet_pieces(HERE / "corpus" / "parquet" / "found-619a794e", False, 10))
