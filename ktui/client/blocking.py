"""HTTP to a ktui server from a thread that may block: whoever fires thousands of requests takes this.

httpx spends 0.5 ms of CPU on a request when it may block, and 2 ms within an event loop.
"""

from __future__ import annotations

from typing import Any

import httpx
import msgspec

from ktui.client.api import TIMEOUT, clear_errors
from ktui.client.connection import Connection


class BlockingClient:
    """One connection, used by one thread. Raises ClientError when the server cannot be reached."""

    def __init__(self, connection: Connection, user_agent: str) -> None:
        self.connection = connection
        headers = {"User-Agent": user_agent, "Accept": "application/json", **connection.headers()}
        self._http = httpx.Client(
            base_url=connection.url,
            headers=headers,
            verify=connection.ssl_context(),
            timeout=TIMEOUT,
            proxy=connection.proxy,
            trust_env=False,  # only what the connection itself says
        )

    def __enter__(self) -> BlockingClient:
        return self

    def __exit__(self, *_: object) -> None:
        self._http.close()

    def write(
        self, method: str, path: str, body: Any, content_type: str = "application/json"
    ) -> httpx.Response:
        """A write, whatever its answer (also an error Status)."""
        content = msgspec.json.encode(body)
        with clear_errors(self.connection):
            return self._http.request(method, path, content=content, headers={"Content-Type": content_type})
