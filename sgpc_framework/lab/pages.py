"""A page as a list of blocks, written as Markdown and as one HTML file that needs nothing else.

Texts are Markdown of the simplest kind: ``**bold**`` and ``code`` between backticks.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

import attrs

from sgpc_framework.lab.markdown import markdown_table
from sgpc_framework.report.markup import Markup, element, join, void
from sgpc_framework.report.page import standalone


def _texts(items: Iterable[str]) -> tuple[str, ...]:
    return tuple(items)


@attrs.frozen
class Heading:
    """A heading; level 2 begins a section."""

    text: str
    level: int = 2


@attrs.frozen
class Text:
    """A paragraph."""

    text: str


@attrs.frozen
class Items:
    """A list of points."""

    items: Iterable[str] = attrs.field(converter=_texts)


@attrs.frozen
class Listing:
    """A command, or what a file says."""

    text: str
    language: str = "text"


@attrs.frozen
class Table:
    """Rows of texts."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]


@attrs.frozen
class Picture:
    """A PNG file, and what it shows."""

    path: Path
    caption: str


Block = Heading | Text | Items | Listing | Table | Picture


def write_markdown(path: Path, title: str, blocks: Iterable[Block]) -> Path:
    """The page as Markdown; pictures are files beside it."""
    parts = [f"# {title}", *(_as_markdown(block, path.parent) for block in blocks)]
    path.write_text("\n\n".join(part for part in parts if part) + "\n", encoding="utf-8")
    return path


def write_html(path: Path, title: str, blocks: Iterable[Block]) -> Path:
    """The page as HTML, with its pictures inside."""
    body = [element("header", element("h1", title))]
    section: list[Markup] = []
    for block in blocks:
        if isinstance(block, Heading) and block.level == 2:
            body += [element("section", *section)] if section else []
            section = []
        section.append(_as_html(block))
    body += [element("section", *section)] if section else []
    path.write_text(standalone(title, element("main", *body)), encoding="utf-8")
    return path


def _as_markdown(block: Block, folder: Path) -> str:
    match block:
        case Heading(text, level):
            return f"{'#' * level} {text}"
        case Text(text):
            return text
        case Items(items):
            return "\n".join(f"- {item}" for item in items)
        case Listing(text, language):
            return f"```{language}\n{text}\n```"
        case Table(header, rows):
            return markdown_table(header, [[_in_cell(text) for text in row] for row in rows])
        case Picture(path, caption):
            return f"![{caption}]({path.relative_to(folder).as_posix()})"


def _in_cell(text: str) -> str:
    return text.replace("|", "\\|")


def _as_html(block: Block) -> Markup:
    match block:
        case Heading(text, level):
            return element(f"h{level}", _inline(text))
        case Text(text):
            return element("p", _inline(text))
        case Items(items):
            return element("ul", *(element("li", _inline(item)) for item in items))
        case Listing(text, _):
            return element("pre", text)
        case Table(header, rows):
            return _table(header, rows)
        case Picture(path, caption):
            data = base64.b64encode(path.read_bytes()).decode()
            image = void("img", src=f"data:image/png;base64,{data}", alt=caption)
            return element("div", image, class_="picture", style="--wide:66rem")


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> Markup:
    numeric = [all(_is_number(row[i]) for row in rows) for i in range(len(header))]

    def line(tag: str, texts: Sequence[str]) -> Markup:
        return element(
            "tr",
            *(
                element(tag, _inline(text), class_="n" if number else None)
                for text, number in zip(texts, numeric, strict=True)
            ),
        )

    body = join(line("td", row) for row in rows)
    inner = element("table", element("thead", line("th", header)), element("tbody", body))
    return element("div", inner, class_="scroll")


def _is_number(text: str) -> bool:
    return re.fullmatch(r"[-+*±.,%\d\s/e<]*|-", text) is not None


def _inline(text: str) -> Markup:
    """
    >>> _inline("**a** < `b`")
    '<b>a</b> &lt; <code>b</code>'
    """
    safe = escape(text)
    safe = re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", safe)
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", safe))
