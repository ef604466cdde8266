"""The web application: ``/predict``, ``/health``, ``/metrics``, ``/docs`` and ``/openapi.json``."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Awaitable, Callable, MutableMapping
from importlib.metadata import version
from time import perf_counter
from typing import Any

import attrs
from fastapi import FastAPI, Request, Response
from starlette.exceptions import HTTPException

from sgpc_framework.model.classes import Classifier
from sgpc_framework.serving.guide_page import guide_page
from sgpc_framework.serving.openapi import (
    health_operation,
    metrics_operation,
    predict_operation,
    schemas,
)
from sgpc_framework.serving.prediction import as_json
from sgpc_framework.serving.refusals import MEDIA_TYPE, Problem, Refusal
from sgpc_framework.serving.request_limits import Limits
from sgpc_framework.serving.service import HEADERS, Service
from sgpc_framework.serving.traffic import Traffic
from sgpc_framework.tables.table_classifier import TableClassifier

Message = MutableMapping[str, Any]


def application(
    classifier: Classifier | TableClassifier, limits: Limits | None = None, name: str = "model"
) -> FastAPI:
    """An ASGI application that predicts by one classifier; ``name`` is what it says of it.

    The classifier is tried on an example first: what cannot predict is not served.
    """
    service = Service.of(classifier, limits or Limits(), name)
    app = FastAPI(
        title=f"Predictions by {name}",
        version=version("sgpc-framework"),
        docs_url=None,  # pages that fetch scripts from elsewhere
        redoc_url=None,
    )
    request, answer = service.reader.example, attrs.asdict(service.example)
    for method, path, endpoint, description in [
        ("POST", "/predict", service.predict, predict_operation(request, answer)),
        ("GET", "/health", service.health, health_operation(service.health_report())),
        ("GET", "/metrics", service.metrics, metrics_operation()),
    ]:
        app.add_api_route(
            path,
            endpoint,
            methods=[method],
            operation_id=path[1:],
            response_class=Response,
            openapi_extra=description,
        )
    named = schemas(service.reader, service.limits, service.example.classes)
    document = {**app.openapi(), "components": {"schemas": named}}
    app.openapi = lambda: document
    page = guide_page(app.title, service.reader, service.limits, answer)
    for path in ("/", "/docs"):
        app.add_api_route(path, page.answer, include_in_schema=False)
    app.add_exception_handler(Refusal, _refused)
    app.add_exception_handler(HTTPException, _unknown)
    app.add_middleware(_Counted, traffic=service.traffic)
    return app


async def _refused(_: Request, refusal: Refusal) -> Response:
    headers = {**HEADERS, **({"Retry-After": "1"} if refusal.status == 503 else {})}
    return Response(as_json(refusal.body()), refusal.status, headers, MEDIA_TYPE)


async def _unknown(request: Request, error: HTTPException) -> Response:
    """Another path or method than there is, in the same form as every error."""
    there = "POST /predict, GET /health, GET /metrics, GET /docs, GET /openapi.json"
    found = f"{request.method} {request.url.path[:100]}"
    refusal = Refusal(error.status_code, str(error.detail), [Problem("", there, found)])
    response = await _refused(request, refusal)
    response.headers.update(error.headers or {})
    return response


class _Counted:
    """Counts every answer with its time; what goes wrong inside is told to the log, not outside."""

    def __init__(self, app: Callable[..., Awaitable[None]], traffic: Traffic) -> None:
        self.app = app
        self.traffic = traffic

    async def __call__(
        self,
        scope: Message,
        receive: Callable[[], Awaitable[Message]],
        send: Callable[[Message], Awaitable[None]],
    ) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        begin, status = perf_counter(), 0

        async def counted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, counted)
        except Exception as error:
            if status:
                raise
            traceback.print_exception(error, file=sys.stderr)
            refusal = Refusal(500, "the server failed; its log says how")
            response = await _refused(Request(scope), refusal)
            await response(scope, receive, counted)
        finally:
            self.traffic.answered(scope["path"], status, perf_counter() - begin)
