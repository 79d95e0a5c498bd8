"""Go's path.Clean (POSIX normpath, except that Go does not keep a leading `//`)."""

from __future__ import annotations

import posixpath


def clean(path: str) -> str:
    """Return the shortest path with the same meaning; "." for the empty path."""
    cleaned = posixpath.normpath(path)
    return cleaned[1:] if cleaned.startswith("//") else cleaned
