"""Other people's classifiers, in a virtual environment of their own.

``run`` fits one of them by a subprocess, so that neither PyTorch nor scikit-learn has to be
installed beside the framework. The environment is made once, in ``.rivals`` under the root of the
repository, and takes about a gigabyte.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from sgpc_framework.datasets import Benchmark

HERE = Path(__file__).parent
FOLDER = HERE.parents[1] / ".rivals"
READY = "ready.txt"


class RivalError(RuntimeError):
    """The environment could not be made, or a rival could not be fitted; has the other's text."""


@attrs.frozen(eq=False)
class Outcome:
    """The seconds of one fit, by the clock and of the processor, p(+1) for each test row, and
    how many bytes the fitted model takes, pickled."""

    seconds: float
    cpu_seconds: float
    size: int
    probability: NDArray[np.float64]


def environment(folder: Path = FOLDER) -> Path:
    """The interpreter of the rivals' environment, which is made if it is missing or outdated.

    What was installed is written down last, so that an interrupted installation is done again.
    """
    scripts = "Scripts" if sys.platform == "win32" else "bin"
    python = folder / scripts / "python"
    requirements = HERE / "requirements.txt"
    ready, wanted = folder / READY, requirements.read_text()
    if ready.exists() and ready.read_text() == wanted:
        return python
    print(f"making the rivals' environment in {folder}, once ...", file=sys.stderr, flush=True)
    venv.create(folder, with_pip=True)
    print("installing PyTorch, GPyTorch and scikit-learn ...", file=sys.stderr, flush=True)
    pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    _python(python, *pip, "-r", str(requirements))
    ready.write_text(wanted)
    return python


def run(name: str, data: Benchmark, *, folder: Path = FOLDER, **options: Any) -> Outcome:
    """Fit the rival of that name to ``data``; ``worker.py`` has the names and their options."""
    python = environment(folder)
    with TemporaryDirectory() as temporary:
        files = {
            "data": f"{temporary}/data.npz",
            "report": f"{temporary}/report.json",
            "probability": f"{temporary}/probability.npz",
        }
        task = Path(temporary, "task.json")
        task.write_text(json.dumps({"rival": name, "options": options, **files}))
        np.savez(files["data"], X=data.X, y=data.y, X_test=data.X_test, y_test=data.y_test)
        _python(python, str(HERE / "worker.py"), str(task))
        report = json.loads(Path(files["report"]).read_text())
        with np.load(files["probability"], allow_pickle=False) as arrays:
            return Outcome(**report, probability=arrays["probability"])


def _python(python: Path, *arguments: str) -> None:
    """``python ...`` on one thread, which must succeed."""
    threads = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    ran = subprocess.run(
        [str(python), *arguments], env={**inherited, **threads}, capture_output=True, text=True
    )
    if ran.returncode:
        raise RivalError(f"{' '.join(arguments)} failed:\n{ran.stdout}{ran.stderr}".rstrip())
