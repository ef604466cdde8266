"""What ``sgpc serve`` can take: ``python -m benchmarks.serving``, a minute on loopback.

A model of 80 basis vectors and 20 columns is served by a process of its own. Clients in this
process hold a connection each and ask again as soon as they are answered, for a few seconds a line;
a request for ``/health``, which predicts nothing, is the floor. Server and clients share the
machine; the processor time of the server for a request depends less on who else is there.
"""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from urllib.request import urlopen

import numpy as np

import sgpc_framework as sgpc
from sgpc_framework import datasets
from sgpc_framework.tables import TableClassifier

ROWS, SIZE, SECONDS = 400, 80, 4.0
LOADS = [  # rows in a request (0: /health), connections
    (0, 1),
    (0, 16),
    (1, 1),
    (1, 4),
    (1, 16),
    (100, 1),
    (100, 4),
    (1000, 1),
]


def fit(path: Path) -> list[dict[str, float]]:
    """A model in a file, and rows to predict."""
    warnings.simplefilter("ignore")
    X, y = datasets.twonorm(ROWS, seed=0)
    names = [f"x{i}" for i in range(X.shape[1])]
    table = dict(zip(names, X.T, strict=True)) | {"y": y}
    TableClassifier.fit(table, "y", sgpc.build("fast", max_basis=SIZE)).save(path)
    return [
        dict(zip(names, row, strict=True)) for row in datasets.twonorm(1000, seed=1)[0].tolist()
    ]


def request(rows: list[dict[str, float]]) -> bytes:
    """What goes over the wire."""
    if not rows:
        return b"GET /health HTTP/1.1\r\nHost: here\r\n\r\n"
    body = json.dumps({"rows": rows}).encode()
    head = f"POST /predict HTTP/1.1\r\nHost: here\r\nContent-Length: {len(body)}\r\n"
    return f"{head}Content-Type: application/json\r\n\r\n".encode() + body


async def client(port: int, message: bytes, end: float) -> list[float]:
    """The seconds that each answer took, one request after the other until the end."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    took = []
    while (began := perf_counter()) < end:
        writer.write(message)
        head = await reader.readuntil(b"\r\n\r\n")
        if b" 200 " not in head[:13]:
            raise SystemExit(f"refused: {head.decode()}")
        length = re.search(rb"content-length: (\d+)", head)
        assert length is not None
        await reader.readexactly(int(length[1]))
        took.append(perf_counter() - began)
    writer.close()
    return took


async def load(port: int, message: bytes, connections: int, seconds: float) -> tuple[float, ...]:
    """Requests a second, and the p50, p99 and longest of their times in milliseconds."""
    began = perf_counter()
    clients = (client(port, message, began + seconds) for _ in range(connections))
    took = np.concatenate(await asyncio.gather(*clients))
    rate = len(took) / (perf_counter() - began)
    return rate, *(1e3 * np.quantile(took, [0.5, 0.99, 1.0])).tolist()


def cpu_seconds(port: int) -> float:
    """Of the server's process so far, by its own figures."""
    with urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
        text = answer.read().decode()
    found = re.search(r"^process_cpu_seconds_total (\S+)", text, re.MULTILINE)
    assert found is not None
    return float(found[1])


def main(seconds: float = SECONDS) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.sgpc"
        rows = fit(path)
        command = [sys.executable, "-m", "sgpc_framework", "serve", str(path), "--port", "0"]
        server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        try:
            assert server.stderr is not None
            address = re.search(r"http://127.0.0.1:(\d+)", server.stderr.readline())
            assert address is not None
            port = int(address[1])
            print(f"{SIZE} basis vectors, 20 columns, {seconds:g} s a line")
            print(
                "| rows | connections | requests/s | rows/s | p50 ms | p99 ms | longest | CPU ms |"
            )
            for count, connections in LOADS:
                message = request(rows[:count])
                asyncio.run(load(port, message, connections, seconds / 10))  # to warm up
                before = cpu_seconds(port)
                rate, *times = asyncio.run(load(port, message, connections, seconds))
                cpu = (cpu_seconds(port) - before) / (rate * seconds)
                figures = " | ".join(f"{t:.2f}" for t in (*times, 1e3 * cpu))
                what = str(count) if count else "health"
                print(f"| {what} | {connections} | {rate:.0f} | {rate * count:.0f} | {figures} |")
        finally:
            server.terminate()
            server.wait(timeout=30)


if __name__ == "__main__":
    main()
