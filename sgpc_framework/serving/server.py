"""Listening: a socket, uvicorn, and an end in which open requests are finished."""

from __future__ import annotations

import socket
from collections.abc import Callable
from ipaddress import ip_address

import uvicorn
from fastapi import FastAPI

from sgpc_framework.errors import InputError
from sgpc_framework.serving.slow_heads import protocol

CONNECTIONS = 1000
"""Connections at a time, idle ones included; more are refused."""


KEEP_ALIVE = 5
"""Seconds that a connection may be silent after an answer."""


def listen(host: str, port: int) -> socket.socket:
    """A socket that takes connections; port 0 is any that is free."""
    try:
        (family, _, _, _, address), *_ = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        made = socket.create_server(address[:2], family=family, backlog=CONNECTIONS)
    except OSError as error:
        raise InputError(
            f"cannot listen at {host}, port {port}: {error.strerror or error}; is another server "
            "there? Choose another with --port, or --port 0 for any that is free"
        ) from error
    # asyncio sends at once, without a wait of 40 ms for more, only if a socket says that it is TCP
    return socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP, fileno=made.detach())


def address_of(listening: socket.socket) -> str:
    """Where to point a browser."""
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def is_local(listening: socket.socket) -> bool:
    """Whether nobody but this machine can connect."""
    return ip_address(listening.getsockname()[0]).is_loopback


def serve(
    app: FastAPI, listening: socket.socket, seconds: float, say: Callable[[str], None], log: bool
) -> None:
    """Answer requests until Ctrl-C or SIGTERM; then finish those that are open, if they are soon.

    ``seconds`` is how long they may take, and the head of a request to arrive; ``log`` has a line
    for each request.
    """
    config = uvicorn.Config(
        app,
        http=protocol(seconds),
        log_level="info" if log else "warning",
        access_log=log,
        lifespan="off",
        proxy_headers=False,
        server_header=False,
        limit_concurrency=CONNECTIONS,
        timeout_keep_alive=KEEP_ALIVE,
        timeout_graceful_shutdown=max(1, round(seconds)),
    )
    server = uvicorn.Server(config)
    try:
        server.run(sockets=[listening])
    except KeyboardInterrupt:  # which uvicorn hands on when it has finished
        if not server.started:
            raise
    say("Stopped.")
