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
from typing import Any, Protocol

import attrs
import numpy as np
from numpy.typing import NDArray

HERE = Path(__file__).parent
FOLDER = HERE.parents[1] / ".rivals"
READY = "ready.txt"


class RivalError(RuntimeError):
    """The environment could not be made, or a rival could not be fitted; has the other's text."""


@attrs.frozen
class Moment:
    """When a fit was looked at: the steps that were done, of a method that has steps; the seconds
    until then, by the clock and of the processor; and the bytes of the model, pickled."""

    steps: int | None
    seconds: float
    cpu_seconds: float
    size: int


@attrs.frozen(eq=False)
class Outcome:
    """What a fit had come to at some moment: probabilities, test rows x classes."""

    taken: Moment
    probability: NDArray[np.float64]


class Data(Protocol):
    """What a rival is fitted to, and the rows that it is to predict."""

    @property
    def X(self) -> NDArray[np.float64]: ...
    @property
    def y(self) -> NDArray[Any]: ...
    @property
    def X_test(self) -> NDArray[np.float64]: ...


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
    print(
        "installing PyTorch, GPyTorch, scikit-learn, CatBoost and LightGBM ...",
        file=sys.stderr,
        flush=True,
    )
    pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    _python(python, *pip, "-r", str(requirements))
    ready.write_text(wanted)
    return python


def run(name: str, data: Data, *, folder: Path = FOLDER, **options: Any) -> list[Outcome]:
    """Fit the rival of that name; ``worker.py`` has the names and their options.

    The classes are the different labels in their order. One outcome for each number of ``steps``
    that the rival was asked about, or one alone.
    """
    python = environment(folder)
    with TemporaryDirectory() as temporary:
        files = {
            "data": f"{temporary}/data.npz",
            "report": f"{temporary}/report.json",
            "probability": f"{temporary}/probability.npz",
        }
        task = Path(temporary, "task.json")
        task.write_text(json.dumps({"rival": name, "options": options, **files}))
        codes = np.unique(data.y, return_inverse=True)[1]
        np.savez(files["data"], X=data.X, y=codes, X_test=data.X_test)
        _python(python, str(HERE / "worker.py"), str(task))
        moments = [Moment(**taken) for taken in json.loads(Path(files["report"]).read_text())]
        with np.load(files["probability"], allow_pickle=False) as arrays:
            pairs = zip(moments, arrays["probability"], strict=True)
            return [Outcome(taken, probability) for taken, probability in pairs]


def _python(python: Path, *arguments: str) -> None:
    """``python ...`` on one thread, which must succeed."""
    threads = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    ran = subprocess.run(
        [str(python), *arguments], env={**inherited, **threads}, capture_output=True, text=True
    )
    if ran.returncode:
        raise RivalError(f"{' '.join(arguments)} failed:\n{ran.stdout}{ran.stderr}".rstrip())
