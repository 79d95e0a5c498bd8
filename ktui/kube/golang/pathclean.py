"""path.Clean of Go (POSIX normpath, except that Go knows no leading `//`)."""

from __future__ import annotations

import posixpath


def clean(path: str) -> str:
    """The shortest path with the same meaning; "." for the empty path."""
    cleaned = posixpath.normpath(path)
    return cleaned[1:] if cleaned.startswith("//") else cleaned
