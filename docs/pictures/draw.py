"""Draws the pictures of the pages anew: ``python docs/pictures/draw.py``.

It runs the Python blocks of each page that shows pictures, in an empty folder, and keeps the
pictures that they save and the page shows. ``NAME.png`` may also be what a browser shows of a
``NAME.html`` that they wrote; this needs Chromium and its driver.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from pathlib import Path

from PIL import Image

HERE = Path(__file__).parent
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MOTIONLESS = "--force-prefers-reduced-motion"
"""A page that plays by itself is photographed at its end."""
PICTURE = re.compile(r"!\[[^\]]*\]\([./]*pictures/([\w-]+\.png)\)")


def pictures_of(page: Path) -> list[str]:
    """The names of the pictures that a page shows."""
    return PICTURE.findall(page.read_text(encoding="utf-8"))


def draw(page: Path) -> None:
    """Run the page and keep what it draws."""
    code = "\n".join(BLOCK.findall(page.read_text(encoding="utf-8")))
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        exec(compile(code, page, "exec"), {"__name__": "page"})
        for name in pictures_of(page):
            drawn = Path(name)
            if not drawn.exists():
                photograph(drawn.with_suffix(".html").resolve(), drawn)
            keep_small(drawn, HERE / name)
        os.chdir(HERE)


def photograph(page: Path, picture: Path) -> None:
    """The upper part of a page, as a browser shows it."""
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service

    options = Options()
    options.binary_location = str(shutil.which("chromium"))
    for flag in (
        "--headless",
        "--no-sandbox",
        "--hide-scrollbars",
        "--window-size=1180,2130",
        MOTIONLESS,
    ):
        options.add_argument(flag)
    with webdriver.Chrome(
        options=options, service=Service(shutil.which("chromedriver"))
    ) as browser:
        browser.get(page.as_uri())
        browser.implicitly_wait(2)
        browser.find_element("css selector", "#player:not([hidden])")
        browser.save_screenshot(str(picture))


def keep_small(drawn: Path, kept: Path) -> None:
    """Store a picture with 160 colours and no wider than a page, which is a third of the size."""
    with Image.open(drawn) as picture:
        whole = picture.convert("RGB")
        whole.thumbnail((660, 1300))
        whole.quantize(160).save(kept, optimize=True)
    print(f"{kept.name}: {kept.stat().st_size / 1024:.0f} kB")


if __name__ == "__main__":
    os.environ.setdefault("MPLBACKEND", "Agg")
    for found in sorted(HERE.parent.rglob("*.md")):
        if pictures_of(found):
            draw(found)
