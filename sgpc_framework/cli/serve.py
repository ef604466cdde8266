"""``sgpc serve``: a model behind HTTP."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import click

from sgpc_framework.cli.model_options import changed, variant_options
from sgpc_framework.cli.printing import echo


@click.command(name="serve")
@click.argument("model", type=click.Path(path_type=Path))
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen at.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8000,
    show_default=True,
    help="The port to listen at; 0 is any that is free.",
)
@variant_options
@click.option(
    "--max-rows",
    type=click.IntRange(min=1),
    default=1000,
    show_default=True,
    help="The most rows in a request.",
)
@click.option(
    "--max-body",
    type=click.IntRange(min=1),
    default=1024,
    show_default=True,
    metavar="KB",
    help="The largest body of a request, in kB.",
)
@click.option(
    "--max-requests",
    type=click.IntRange(min=1),
    default=32,
    show_default=True,
    help="The most requests for predictions at a time; others are told to come again.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True, max=3600),
    default=10.0,
    show_default=True,
    metavar="SECONDS",
    help="The longest that the head of a request may take, then the rest of it, and the server to "
    "finish open ones when it stops.",
)
@click.option("--access-log", is_flag=True, help="Print a line for each request.")
@click.option(
    "--trust", is_flag=True, help="Load a model that wants much more memory than its file has."
)
def command(
    model: Path,
    host: str,
    port: int,
    size: int | None,
    unseen: Literal["refuse", "zero"] | None,
    max_rows: int,
    max_body: int,
    max_requests: int,
    timeout: float,
    access_log: bool,
    trust: bool,
) -> None:
    """Answer requests for predictions by a MODEL over HTTP, until Ctrl-C or SIGTERM.

    \b
    POST /predict       labels and probabilities of rows in JSON
    GET  /health        whether it can answer
    GET  /metrics       what it has done, for Prometheus
    GET  /docs          a page that says what a request looks like
    GET  /openapi.json  the same for programs

    \b
    sgpc serve loans.sgpc
    curl http://127.0.0.1:8000/predict -H 'Content-Type: application/json' \\
         -d '{"rows": [{"age": 31, "purpose": "car"}]}'

    Only this machine can connect, unless --host says otherwise. There is no authentication and no
    encryption: for others, put a proxy in front that has both. Needs the extra 'serve'.
    """
    from sgpc_framework.files.model_files import load
    from sgpc_framework.tables import TableClassifier

    try:
        from sgpc_framework.serving.application import application
        from sgpc_framework.serving.request_limits import Limits
        from sgpc_framework.serving.server import address_of, is_local, listen, serve
    except ImportError as error:
        raise click.ClickException(
            f"serving needs {error.name}, which is not installed: "
            "pip install 'sgpc-framework[serve]'"
        ) from error

    classifier = load(model, trust=trust)
    if isinstance(classifier, TableClassifier):
        classifier = changed(classifier, size, unseen)
    elif unseen is not None:
        raise click.UsageError("--unseen is for models of tables; this one takes arrays")
    elif size is not None:
        classifier = classifier.truncated(size)
    limits = Limits(max_rows, 1024 * max_body, max_requests, timeout)
    app = application(classifier, limits, model.name)
    with listen(host, port) as listening:
        url = address_of(listening)
        if not is_local(listening):
            echo(
                f"Warning: {url} can be reached from other machines, without authentication or "
                "encryption; put a proxy in front that has both",
                err=True,
            )
        echo(f"Serving {model} at {url}, described at {url}/docs; Ctrl-C stops.", err=True)
        serve(app, listening, timeout, lambda text: echo(text, err=True), access_log)
