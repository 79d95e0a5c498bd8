"""Base64 as Go reads and writes it (StdEncoding, RawURLEncoding); the error text names the bad byte."""

from __future__ import annotations

import base64
import re

_FOREIGN = re.compile(r"[^A-Za-z0-9_-]")


def encode(data: bytes) -> str:
    """URL-safe base64 without padding."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii")


def decode(text: str) -> bytes:
    """Decode `text`; line ends inside it are skipped, as in Go.

    Raises ValueError at the first foreign character, or at the start of a group of four that holds a single
    character.
    """
    raw = text.encode("utf-8", "surrogateescape").decode("latin-1")
    places = [i for i, char in enumerate(raw) if char not in "\r\n"]
    plain = "".join(raw[i] for i in places)
    if foreign := _FOREIGN.search(plain):
        raise ValueError(_at(places[foreign.start()]))
    if len(plain) % 4 == 1:
        raise ValueError(_at(len(raw) - 1))
    return base64.urlsafe_b64decode(plain + "=" * (-len(plain) % 4))


_FOREIGN_STD = re.compile(r"[^A-Za-z0-9+/]")


def fault(text: str) -> str:
    """Return `illegal base64 data at input byte N`, or "" if `text` can be decoded."""
    places = [at for at, char in enumerate(text) if char not in "\r\n"]
    plain = "".join(text[at] for at in places)
    end = len(text)
    foreign = _FOREIGN_STD.search(plain)
    if foreign is None:
        return _at(end - len(plain) % 4) if len(plain) % 4 else ""
    first = foreign.start()
    if plain[first] != "=" or first % 4 < 2:
        return _at(places[first])
    padding = 4 - first % 4
    if len(plain) < first + padding:
        return _at(end)
    if padding == 2 and plain[first + 1] != "=":
        return _at(places[first + 1])
    return _at(places[first + padding]) if len(plain) > first + padding else ""


def _at(offset: int) -> str:
    return f"illegal base64 data at input byte {offset}"
