"""The scripts and the style of the page that plays Algorithm 1, on that page and on no other."""

from __future__ import annotations

from typing import Any

from sphinx.application import Sphinx

PAGE = "docs/site/play"
SCRIPTS = ("algorithm1.js", "data-sets.js", "pictures.js", "player.js")


def add_scripts(app: Sphinx, pagename: str, *_: Any) -> None:
    """Called by Sphinx for every page before it is written."""
    if pagename == PAGE:
        app.add_css_file("play/play.css")
        for script in SCRIPTS:
            app.add_js_file(f"play/{script}", loading_method="defer")


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("html-page-context", add_scripts)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
