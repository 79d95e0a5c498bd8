"""Compute the number of keys to request in one Range."""

from __future__ import annotations

from typing import Literal

PageRule = Literal["constant", "doubling"]

MAX_PAGE = 10_000  # kube-apiserver: maxLimit
_FIRST_CHUNK = 500
_CHUNK_BYTES = 8 << 20


def next_page(limit: int, rule: PageRule) -> int:
    """Return the size of the page after an incomplete one of `limit` keys.

    kube-apiserver up to 1.23 keeps the client's limit; 1.24+ doubles it up to 10,000.
    """
    return limit if rule == "constant" or limit >= MAX_PAGE else min(limit * 2, MAX_PAGE)


class Chunks:
    """Chunk sizes for reading a whole range in responses of about 8 MiB, estimated from the values read so
    far.

    kube-apiserver reads an unlimited list with one Range; with 100,000 pods that is one response of 600 MB,
    which overloads etcd and ktui. All chunks have the first one's revision.
    """

    def __init__(self, most: int = MAX_PAGE) -> None:
        self._most = most
        self.size = min(_FIRST_CHUNK, most)
        self._keys = 0
        self._bytes = 0

    def record(self, keys: int, size: int) -> None:
        """Record a response: its number of keys and its bytes of values."""
        self._keys += keys
        self._bytes += size
        if self._bytes:
            fitting = _CHUNK_BYTES * self._keys // self._bytes
            self.size = max(1, min(fitting, self.size * 4, self._most))
