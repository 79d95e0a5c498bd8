"""The JSON of a Table row, cached until one of its ages changes."""

from __future__ import annotations

import math
from functools import lru_cache

import msgspec

from ktui.kube.golang.jsonencode import to_json
from ktui.kube.tables.age import human_duration, steady_until


class TableRow(msgspec.Struct, gc=False):
    """A row without its object: pieces of JSON, and times (Unix seconds) in the places of their ages."""

    pieces: tuple[bytes | float, ...]
    _text: bytes = b""
    _made: float = math.inf  # `_text` is valid from this time (Unix seconds)
    _until: float = -math.inf  # until this time

    @property
    def size(self) -> int:
        """Bytes of its pieces, and of about as much text."""
        return 2 * sum(len(piece) for piece in self.pieces if isinstance(piece, bytes))

    def at(self, now: float) -> bytes:
        """Return the row's JSON with the ages at `now` (Unix seconds)."""
        if not self._made <= now < self._until:
            parts, until = [], math.inf
            for piece in self.pieces:
                if isinstance(piece, bytes):
                    parts.append(piece)
                else:
                    parts.append(_age_text(int(now - piece)))
                    until = min(until, steady_until(piece, now))
            self._text, self._made, self._until = b"".join(parts), now, until
        return self._text


@lru_cache(maxsize=1 << 16)
def _age_text(seconds: int) -> bytes:
    return to_json(human_duration(seconds))[1:-1]
