"""Connections that say nothing, or the head of a request drop by drop, are closed.

uvicorn closes a connection that is silent after an answer. One that has asked nothing yet stays for
ever, and so does one that sends a byte now and then; a thousand of them are all a server takes.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol


def protocol(seconds: float) -> type[asyncio.Protocol]:
    """The protocol of uvicorn, in which the head of a request has so many seconds to arrive."""

    class Impatient(HttpToolsProtocol):  # type: ignore[misc]
        """Waits for a head from the first moment of a connection, and from the first byte after
        an answer, whether that is of a head or of a body that nobody wants any more."""

        waiting: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._wait()

        def data_received(self, data: bytes) -> None:
            if self.waiting is None and (self.cycle is None or self.cycle.response_complete):
                self._wait()
            super().data_received(data)

        def on_headers_complete(self) -> None:
            self._wait_no_more()
            super().on_headers_complete()

        def connection_lost(self, error: Exception | None) -> None:
            self._wait_no_more()
            super().connection_lost(error)

        def _wait(self) -> None:
            self.waiting = self.loop.call_later(seconds, self.transport.close)

        def _wait_no_more(self) -> None:
            if self.waiting is not None:
                self.waiting.cancel()
                self.waiting = None

    return Impatient
