"""base64.RawURLEncoding: URL alphabet, no padding, with the error text that names the bad byte."""

from __future__ import annotations

import base64
import re

_FOREIGN = re.compile(r"[^A-Za-z0-9_-]")


class CorruptInputError(ValueError):
    """str() is the text of Go's base64.CorruptInputError."""

    def __init__(self, offset: int) -> None:
        super().__init__(f"illegal base64 data at input byte {offset}")


def encode(data: bytes) -> str:
    """URL-safe base64 without padding."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii")


def decode(text: str) -> bytes:
    """Decode `text`; line ends inside it are skipped, as in Go.

    Raises CorruptInputError at the first foreign character, or at the start of a group of four that holds a
    single character.
    """
    raw = text.encode("utf-8", "surrogateescape").decode("latin-1")
    places = [i for i, char in enumerate(raw) if char not in "\r\n"]
    plain = "".join(raw[i] for i in places)
    if foreign := _FOREIGN.search(plain):
        raise CorruptInputError(places[foreign.start()])
    if len(plain) % 4 == 1:
        raise CorruptInputError(len(raw) - 1)
    return base64.urlsafe_b64decode(plain + "=" * (-len(plain) % 4))
