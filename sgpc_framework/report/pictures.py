"""Pictures as inline SVG, in the colours of the page, light or dark."""

from __future__ import annotations

import base64
import re
import warnings
from collections.abc import Callable
from io import BytesIO
from typing import Any
from zlib import crc32

from sgpc_framework.report.markup import Markup, element, void

_COLOURS = {
    "#000000": "var(--ink)",
    "#555555": "var(--quiet)",
    "#aeb6bf": "var(--faint)",
    "#ffffff": "var(--paper)",
}
_STYLE = {
    "font.size": 9.0,
    "svg.fonttype": "none",  # text stays text: it can be searched, read aloud and selected
    "svg.hashsalt": "sgpc",
    "axes.linewidth": 0.7,
    "xtick.major.width": 0.7,
    "ytick.major.width": 0.7,
}


def picture(
    draw: Callable[[Any], object], description: str, width: float = 5.6, height: float = 3.4
) -> Markup:
    """What ``draw`` draws on the axes it is given, as an SVG element; the size is in inches."""
    nothing = {"Creator": None, "Date": None, "Format": None, "Type": None}
    svg = _image_bytes(
        draw, width, height, format="svg", metadata=nothing, transparent=True
    ).decode()
    return _frame(_for_the_page(svg, description), width)


def raster(draw: Callable[[Any], object], description: str, width: float, height: float) -> Markup:
    """The same as a bitmap of few colours: smaller where there are clouds of points."""
    png = _image_bytes(draw, width, height, format="png", dpi=130)
    from PIL import Image  # which matplotlib needs too

    small = BytesIO()
    Image.open(BytesIO(png)).convert("RGB").quantize(128).save(small, "png", optimize=True)
    data = base64.b64encode(small.getvalue()).decode()
    image = void("img", src=f"data:image/png;base64,{data}", alt=description)
    return _frame(image, width)


def _frame(content: Markup, width: float) -> Markup:
    return element("div", content, class_="picture", style=f"--wide:{1.35 * width:.2f}in")


def _image_bytes(
    draw: Callable[[Any], object], width: float, height: float, **options: Any
) -> bytes:
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError(
            "a report needs matplotlib, which is not installed: pip install 'sgpc-framework[plots]'"
        ) from error
    file = BytesIO()
    with mpl.rc_context(_STYLE), warnings.catch_warnings():
        # Letters that matplotlib's own font does not have are drawn by the reader's browser.
        warnings.filterwarnings("ignore", "Glyph .* missing from font", UserWarning)
        figure = Figure(figsize=(width, height), layout="constrained")
        draw(figure.subplots())
        figure.savefig(file, **options)
    return file.getvalue()


def _for_the_page(svg: str, description: str) -> Markup:
    """The element alone: without prologue, with names of its own, in colours of the page."""
    body = svg[svg.index("<svg") : svg.rindex("</svg>")]
    body = re.sub(r"<metadata>.*?</metadata>", "", body, flags=re.DOTALL)
    body = re.sub(r"<style [^>]*>.*?</style>", "", body, flags=re.DOTALL)  # it is for all elements
    body = re.sub(r"(font: [\d.]+px) [^;\"]+", r"\1 var(--sans)", body)
    body = re.sub(r"font-family: ?[^;\"]+", "font-family: var(--sans)", body)
    for colour, variable in _COLOURS.items():
        body = body.replace(colour, variable)
    own = f"p{crc32(body.encode()):08x}-"
    body = re.sub(r'\bid="', f'id="{own}', body)
    body = re.sub(r"(url\(#|xlink:href=\"#)", rf"\g<1>{own}", body)
    head, rest = body.split(">", 1)
    viewbox = re.search(r'viewBox="([^"]+)"', head)
    assert viewbox is not None  # matplotlib always writes one
    opened = element("svg", role="img", aria_label=description, viewBox=viewbox[1])
    linked = opened.removesuffix("></svg>") + ' xmlns:xlink="http://www.w3.org/1999/xlink">'
    return Markup(f"{linked}{rest}</svg>")
