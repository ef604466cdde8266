"""Answers to requests: predictions within limits, health, figures."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from typing import Any

import attrs
from fastapi import Request, Response
from starlette.requests import ClientDisconnect

from sgpc_framework.model.classes import Classifier
from sgpc_framework.serving import traffic as figures
from sgpc_framework.serving.prediction import Prediction, as_json
from sgpc_framework.serving.refusals import Problem, Refusal
from sgpc_framework.serving.request_limits import Limits
from sgpc_framework.serving.row_reader import RowReader
from sgpc_framework.tables.table_classifier import TableClassifier

HEADERS = {"X-Content-Type-Options": "nosniff", "Cache-Control": "no-store"}

PATHS = ("/predict", "/health", "/metrics", "/docs", "/", "/openapi.json")


@attrs.frozen(eq=False)
class Service:
    """The classifier and what is kept beside it while it serves."""

    classifier: Classifier | TableClassifier
    reader: RowReader
    limits: Limits
    name: str
    example: Prediction
    traffic: figures.Traffic
    places: asyncio.Semaphore
    """One for each request that may be answered at a time."""
    worker: ThreadPoolExecutor
    """One thread: a prediction at a time is quickest, and others see to requests meanwhile."""

    @classmethod
    def of(cls, classifier: Classifier | TableClassifier, limits: Limits, name: str) -> Service:
        """A service that has predicted an example."""
        reader = RowReader.of(classifier, limits.rows)
        example = Prediction.of(classifier, reader, as_json(reader.example))
        traffic = figures.Traffic(PATHS, example.classes)
        places, worker = asyncio.Semaphore(limits.requests), ThreadPoolExecutor(1, "prediction")
        return cls(classifier, reader, limits, name, example, traffic, places, worker)

    async def predict(self, request: Request) -> Response:
        """Labels and probabilities of some rows."""
        _check_type(request)
        if self.places.locked():
            problem = Problem("", f"at most {self.limits.requests} requests at a time", "more")
            raise Refusal(503, "the server is busy; come again in a second", [problem])
        async with self.places:
            with self.traffic.open.track_inprogress():
                prediction, text = await self._prediction(request)
        self.traffic.predicted(prediction.labels)
        return Response(text, media_type="application/json", headers=HEADERS)

    async def _prediction(self, request: Request) -> tuple[Prediction, bytes]:
        body, seconds = None, self.limits.seconds
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(seconds):
                body = await self._body(request)
                # Work that still waits for the thread is cancelled with the request.
                return await loop.run_in_executor(self.worker, self._work, body)
        except TimeoutError:
            if body is None:
                problem = Problem("", f"the whole body within {seconds:g} s", "a part")
                raise Refusal(408, "the body did not come in time", [problem]) from None
            problem = Problem("", f"a prediction within {seconds:g} s", "none yet")
            raise Refusal(503, "the prediction took too long; send fewer rows", [problem]) from None

    async def _body(self, request: Request) -> bytes:
        most = self.limits.body_bytes
        said = request.headers.get("content-length", "")
        if said.isdigit() and int(said[:20]) > most:
            raise _too_large(most, f"{said[:20]} bytes")
        body = bytearray()
        try:
            async for piece in request.stream():
                body += piece
                if len(body) > most:
                    raise _too_large(most, "more")
        except ClientDisconnect:  # nobody hears this, but it is counted
            raise Refusal(400, "the connection ended before the body did") from None
        return bytes(body)

    def _work(self, body: bytes) -> tuple[Prediction, bytes]:
        prediction = Prediction.of(self.classifier, self.reader, body)
        return prediction, prediction.body()

    async def health(self) -> Response:
        """Whether the server can answer, and what it serves."""
        return Response(
            as_json(self.health_report()), media_type="application/json", headers=HEADERS
        )

    def health_report(self) -> dict[str, Any]:
        return {
            "status": "ok",
            "model": self.name,
            "basis_vectors": len(self.classifier),
            "classes": self.example.classes,
            "version": version("sgpc-framework"),
        }

    async def metrics(self) -> Response:
        """Requests, rows, seconds and labels so far, in the text format of Prometheus."""
        return Response(
            self.traffic.text(), headers={**HEADERS, "Content-Type": figures.MEDIA_TYPE}
        )


def _check_type(request: Request) -> None:
    """A body of JSON, as it is. (Pages of other hosts cannot send that type unasked.)"""
    given = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if given != "application/json":
        problem = Problem("", "Content-Type: application/json", given[:100] or "none")
        raise Refusal(415, "the body must be JSON", [problem])
    packed = request.headers.get("content-encoding", "identity").strip().lower()
    if packed != "identity":
        problem = Problem("", "a body that is not packed", packed[:100])
        raise Refusal(415, "the body must not be packed", [problem])


def _too_large(most: int, found: str) -> Refusal:
    problem = Problem("", f"at most {most} bytes", found)
    return Refusal(413, "the body is too large; send fewer rows at a time", [problem])
