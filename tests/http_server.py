"""An HTTP server of a test whose clients may leave before they have read everything."""

from __future__ import annotations

from http.server import ThreadingHTTPServer
from typing import Any


class TestServer(ThreadingHTTPServer):
    """Says nothing of a client that has left: its thread would write to a closed file."""

    __test__ = False
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Nothing."""
