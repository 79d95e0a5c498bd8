"""Parse query strings as Go's net/url and Kubernetes' parameter decoding do."""

from __future__ import annotations

import re
from functools import lru_cache
from urllib.parse import unquote_plus

_BAD_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")


@lru_cache(maxsize=16)
def pairs(query: str) -> tuple[tuple[str, str], ...]:
    """Return the decoded pairs in order. As in Go, a pair with a bad escape or a semicolon is dropped.

    Cached, because several steps read the same query and a query may be 64 KB long.
    """
    found = []
    for part in query.split("&"):
        if not part or ";" in part or _BAD_ESCAPE.search(part):
            continue
        key, _, value = part.partition("=")
        found.append((unquote_plus(key), unquote_plus(value)))
    return tuple(found)


def first_values(query: str) -> dict[str, str]:
    """Return each parameter's first value; repetitions are ignored."""
    found: dict[str, str] = {}
    for key, value in pairs(query):
        found.setdefault(key, value)
    return found


def boolean(value: str) -> bool:
    """Parse a boolean parameter: only `false` (in any case) and `0` are False; an empty value is True."""
    return value != "0" and value.lower() != "false"
