"""What a server has done, in the text format of Prometheus."""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Iterable, Sequence

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    generate_latest,
)

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"

SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 2.5, 10.0)
"""Bounds of the bins of the histogram."""


class Traffic:
    """The figures of one server; a second server in a process has its own."""

    def __init__(self, paths: Sequence[str], classes: Iterable[object]) -> None:
        self._paths = frozenset(paths)
        self._registry = registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        self._requests = Counter(
            "sgpc_requests", "Requests answered.", ["path", "status"], registry=registry
        )
        self._seconds = Histogram(
            "sgpc_predict_seconds",
            "From the first byte of a request for predictions to the last of its answer.",
            buckets=SECONDS,
            registry=registry,
        )
        self._rows = Counter("sgpc_rows", "Rows predicted.", registry=registry)
        self._labels = Counter(
            "sgpc_predicted", "Rows by the label that was predicted.", ["label"], registry=registry
        )
        for label in classes:
            self._labels.labels(str(label))  # there from the beginning, with a zero
        self.open = Gauge(
            "sgpc_open_requests", "Requests for predictions being answered.", registry=registry
        )

    def answered(self, path: str, status: int, seconds: float) -> None:
        """Count a request; paths that there are not count as one, as anybody can invent them."""
        known = path if path in self._paths else "other"
        self._requests.labels(known, str(status)).inc()
        if known == "/predict":
            self._seconds.observe(seconds)

    def predicted(self, labels: Sequence[object]) -> None:
        """Count rows."""
        self._rows.inc(len(labels))
        for label, count in Tally(map(str, labels)).items():
            self._labels.labels(label).inc(count)

    def text(self) -> bytes:
        """All figures."""
        return bytes(generate_latest(self._registry))
