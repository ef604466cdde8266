"""The pictures that pages show are those that their code draws (which test_docs.py runs)."""

from __future__ import annotations

import re
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
SHOWN = {
    name: page
    for page in DOCS.rglob("*.md")
    for name in re.findall(
        r"!\[[^\]]+\]\([./]*pictures/([\w-]+\.png)\)", page.read_text(encoding="utf-8")
    )
}


def test_every_picture_is_shown_drawn_by_its_page_and_small():
    assert {path.name for path in DOCS.glob("pictures/*.png")} == SHOWN.keys()
    for name, page in SHOWN.items():
        text = page.read_text(encoding="utf-8")
        assert f'savefig("{name}"' in text or f'Path("{Path(name).stem}.html").write_text' in text
        assert (DOCS / "pictures" / name).stat().st_size < 100_000
