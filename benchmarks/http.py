"""An HTTP client with little cost: one kept-alive TLS connection, bodies are read and dropped."""

from __future__ import annotations

import http.client
import json
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

NO_MATCH = "/api/v1/pods?resourceVersion=0&labelSelector=no%3Dsuch"
NO_HEADERS: Mapping[str, str] = {}
_CONSISTENT = "/api/v1/pods?labelSelector=no%3Dsuch"


@dataclass(frozen=True, slots=True)
class Timing:
    """Milliseconds from sending the request to the head and to the end of the answer, and its bytes."""

    first_byte: float
    total: float
    size: int


class Client:
    """A client without compression (Accept-Encoding: identity), which would be measured too."""

    def __init__(self, port: int, token: str) -> None:
        self._headers = {"authorization": f"Bearer {token}", "accept-encoding": "identity"}
        self._http = http.client.HTTPSConnection("127.0.0.1", port, context=unverified(), timeout=300)
        self._buffer = bytearray(1 << 20)

    def get(self, path: str, headers: Mapping[str, str] = NO_HEADERS) -> Timing:
        """GET `path`; `headers` override the default ones.

        Raises RuntimeError for a status other than 200.
        """
        started = time.perf_counter()
        self._http.request("GET", path, headers={**self._headers, **headers})
        response = self._http.getresponse()
        headed = time.perf_counter()
        size = 0
        while count := response.readinto(self._buffer):
            size += count
        ended = time.perf_counter()
        if response.status != 200:
            raise RuntimeError(f"GET {path} was answered with {response.status}")
        return Timing((headed - started) * 1000, (ended - started) * 1000, size)

    def resource_version(self) -> int:
        """Return etcd's revision, which the server's cache has reached when this returns."""
        self._http.request("GET", _CONSISTENT, headers=self._headers)
        return int(json.load(self._http.getresponse())["metadata"]["resourceVersion"])

    def median(self, path: str, times: int) -> Timing:
        """Send several GETs, and return the one with the median total time."""
        return sorted((self.get(path) for _ in range(times)), key=lambda timing: timing.total)[times // 2]

    def close(self) -> None:
        self._http.close()


@cache
def unverified() -> ssl.SSLContext:
    """Return a context that does not verify certificates, for the server under test."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context
