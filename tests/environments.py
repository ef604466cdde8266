"""Virtual environments for packages that are not to be installed beside the tests."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import attrs

OFFLINE = ("--no-index", "--no-deps", "--no-build-isolation", "--disable-pip-version-check")


@attrs.frozen
class Environment:
    """A virtual environment that has, besides its own, what the running interpreter has."""

    folder: Path

    @classmethod
    def created(cls, folder: Path) -> Environment:
        """A new one. Nothing is downloaded: pip and the build backend are those of the tests."""
        venv.create(folder, with_pip=False)
        # addsitedir, not the path alone: an editable install is a .pth file in there.
        paths = sysconfig.get_paths(vars={"base": str(folder), "platbase": str(folder)})
        line = f"import site; site.addsitedir({sysconfig.get_path('purelib')!r})\n"
        (Path(paths["purelib"]) / "parent.pth").write_text(line)
        return cls(folder)

    def install(self, *packages: Path) -> None:
        """pip install, offline."""
        self.run("-m", "pip", "install", "--quiet", *OFFLINE, *map(str, packages))

    def run(self, *arguments: str, cwd: Path | None = None) -> str:
        """``python ...``, which must succeed; its standard output."""
        scripts = "Scripts" if sys.platform == "win32" else "bin"
        ours = ("PYTHONPATH", "SGPC_LOAD_PLUGINS", "PYTEST_ADDOPTS")
        theirs = {name: value for name, value in os.environ.items() if name not in ours}
        ran = subprocess.run(
            [str(self.folder / scripts / "python"), *arguments],
            cwd=cwd or self.folder,
            env={**theirs, "OPENBLAS_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
        )
        assert ran.returncode == 0, ran.stdout + ran.stderr
        return ran.stdout
