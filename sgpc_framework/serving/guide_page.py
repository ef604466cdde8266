"""The page ``/docs``: what a request looks like, readable without scripts and without a network."""

from __future__ import annotations

import json
from base64 import b64encode
from hashlib import sha256
from html import escape
from typing import Any

import attrs
from fastapi import Response

from sgpc_framework.serving.fields import Field
from sgpc_framework.serving.openapi import REFUSALS
from sgpc_framework.serving.request_limits import Limits
from sgpc_framework.serving.row_reader import RowReader

LISTED = 500
"""So many columns are on the page; ``/openapi.json`` has all."""

WORDS = 30
"""So many words of a column are on the page."""

STYLE = """
:root { color-scheme: light dark }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 52rem; margin: 2rem auto; padding: 0 1rem }
pre, textarea { font: 14px/1.4 ui-monospace, monospace; background: #8881; padding: .8rem;
  border: 1px solid #8884; border-radius: 4px; overflow: auto; width: 100%; box-sizing: border-box;
  color: inherit; white-space: pre-wrap; overflow-wrap: anywhere }
.table { overflow-x: auto }
table { border-collapse: collapse; width: 100% }
th, td { text-align: left; vertical-align: top; padding: .3rem .8rem .3rem 0;
  border-bottom: 1px solid #8884; overflow-wrap: break-word }
pre:empty { display: none }
button { font: inherit; padding: .3rem 1.2rem }
"""

SCRIPT = """
const button = document.getElementById("send"), answer = document.getElementById("answer");
document.getElementById("try").hidden = false;
document.getElementById("url").textContent = new URL("predict", location);
button.addEventListener("click", async () => {
  answer.textContent = "...";
  try {
    const response = await fetch("predict", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: document.getElementById("body").value,
    });
    answer.textContent = response.status + " " + JSON.stringify(await response.json(), null, 2);
  } catch (error) {
    answer.textContent = "no answer: " + error;
  }
});
"""

PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{title}</title><link rel="icon" href="data:,"><style>{style}</style>
<h1>{title}</h1>
<p>Send rows as JSON with <code>POST</code> to <code>predict</code>, and get a label for each of
them and the probability of each class. Programs read the same in
<a href="openapi.json">openapi.json</a>. <a href="health">health</a> says whether the server can
answer, <a href="metrics">metrics</a> what it has done.</p>
<h2>A request</h2>
<p><code>Content-Type: application/json</code>; the columns are in the table below.</p>
<pre>{request}</pre>
<pre>curl <span id="url">predict</span> -H 'Content-Type: application/json' -d '{curl}'</pre>
<h2>Its answer</h2>
<p>The probabilities of a row are in the order of <code>classes</code>.</p>
<pre>{answer}</pre>
<section id="try" hidden><h2>Try it</h2>
<textarea id="body" rows="5" aria-label="The body of a request">{request}</textarea>
<p><button id="send">Send</button></p><pre id="answer" aria-live="polite"></pre></section>
<h2>{heading}</h2>
<div class="table"><table><tr><th>{first}<th>takes<th>for example</tr>{rows}</table></div>{more}
<h2>Limits and errors</h2>
<p>A request has at most {limits.rows} rows and {kilobytes} kB. {limits.requests} requests are
answered at a time, each within {limits.seconds:g} seconds. An error says in <code>problems</code>
what was wanted, what was found and where.</p>
<div class="table"><table><tr><th>status<th>means</tr>{statuses}</table></div>
<script>{script}</script></html>
"""


@attrs.frozen
class GuidePage:
    """A page of HTML, and what a browser may do for it: talk to this server, nothing else."""

    html: str

    async def answer(self) -> Response:
        """The page."""
        digest = b64encode(sha256(SCRIPT.encode()).digest()).decode()
        policy = (
            f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; "
            "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; "
            "frame-ancestors 'none'"
        )
        headers = {"Content-Security-Policy": policy, "X-Content-Type-Options": "nosniff"}
        return Response(self.html, headers=headers, media_type="text/html")


def guide_page(title: str, reader: RowReader, limits: Limits, answer: dict[str, Any]) -> GuidePage:
    """The page of a server."""
    count = len(reader.fields)
    left_out = count - LISTED
    more = f"<p>{left_out} more are in openapi.json.</p>" if left_out > 0 else ""
    return GuidePage(
        PAGE.format(
            title=escape(title),
            style=STYLE,
            script=SCRIPT,
            request=escape(_indented(reader.example)),
            curl=escape(json.dumps(reader.example).replace("'", r"\u0027")),
            answer=escape(_indented(answer)),
            heading=f"The {count} columns" if reader.named else f"The {count} numbers of a row",
            first="column" if reader.named else "position",
            rows="".join(map(_row, reader.fields[:LISTED])),
            more=more,
            limits=limits,
            kilobytes=limits.body_bytes // 1024,
            statuses="".join(f"<tr><td>{s}<td>{escape(t)}</tr>" for s, t in REFUSALS.items()),
        )
    )


def _row(field: Field) -> str:
    cells = field.name, _takes(field.schema), json.dumps(field.example, ensure_ascii=False)
    return "<tr>" + "".join(f"<td>{escape(cell)}" for cell in cells) + "</tr>"


def _takes(schema: dict[str, Any]) -> str:
    """The values of a schema in words."""
    if "enum" in schema:
        texts = [json.dumps(value, ensure_ascii=False) for value in schema["enum"]]
        return ", ".join(texts[:WORDS]) + (f", ... ({len(texts)})" if len(texts) > WORDS else "")
    if "anyOf" in schema:
        return " or ".join(each.get("format", each["type"]) for each in schema["anyOf"])
    kinds = schema["type"]
    return kinds if isinstance(kinds, str) else " or ".join(kinds)


def _indented(document: dict[str, Any]) -> str:
    """JSON with a line for each row."""
    lines = []
    for name, value in document.items():
        text = json.dumps(value, ensure_ascii=False)
        lines.append(f"  {json.dumps(name)}: {text}")
    return "{\n" + ",\n".join(lines) + "\n}"
