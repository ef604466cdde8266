"""Draws the pictures of the pages anew: ``python docs/pictures/draw.py``.

It runs the Python blocks of each page that shows pictures, in an empty folder, and keeps the
pictures that they save and the page shows.
"""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path

from PIL import Image

HERE = Path(__file__).parent
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PICTURE = re.compile(r"!\[[^\]]*\]\([./]*pictures/([\w-]+\.png)\)")


def pictures_of(page: Path) -> list[str]:
    """The names of the pictures that a page shows."""
    return PICTURE.findall(page.read_text(encoding="utf-8"))


def keep_small(drawn: Path, kept: Path) -> None:
    """Store a picture with 128 colours, which is enough and a third of the size."""
    with Image.open(drawn) as picture:
        picture.convert("RGB").quantize(128).save(kept, optimize=True)
    print(f"{kept.name}: {kept.stat().st_size / 1024:.0f} kB")


def draw(page: Path) -> None:
    """Run the page and keep what it draws."""
    code = "\n".join(BLOCK.findall(page.read_text(encoding="utf-8")))
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        exec(compile(code, page, "exec"), {"__name__": "page"})
        for name in pictures_of(page):
            keep_small(Path(name), HERE / name)
        os.chdir(HERE)


if __name__ == "__main__":
    os.environ.setdefault("MPLBACKEND", "Agg")
    for found in sorted(HERE.parent.rglob("*.md")):
        if pictures_of(found):
            draw(found)
