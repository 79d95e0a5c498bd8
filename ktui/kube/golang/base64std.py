"""base64.StdEncoding: Go's error for text that it cannot decode."""

from __future__ import annotations

import re

_FOREIGN = re.compile(r"[^A-Za-z0-9+/]")


def fault(text: str) -> str:
    """Return `illegal base64 data at input byte N`, or "" if `text` can be decoded."""
    places = [at for at, char in enumerate(text) if char not in "\r\n"]
    plain = "".join(text[at] for at in places)
    end = len(text)
    foreign = _FOREIGN.search(plain)
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
