"""Scripts of the site, run by Node where there is one."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

STATIC = Path(__file__).parents[2] / "docs" / "site" / "static" / "play"


@pytest.fixture(scope="session")
def node():
    """``node(script, value)``: what a script returns that may use ``algorithm1`` and ``given``."""
    program = shutil.which("node")
    if program is None:
        pytest.skip("no node here: apt-get install nodejs")

    def run(script: str, given: object = None):
        text = f"""
            const algorithm1 = require({json.dumps(str(STATIC / "algorithm1.js"))});
            const given = JSON.parse(require("fs").readFileSync(0, "utf8"));
            const result = (() => {{ {script} }})();
            console.log(JSON.stringify(result));
        """
        done = subprocess.run(
            [program, "-e", text],
            input=json.dumps(given),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return run
