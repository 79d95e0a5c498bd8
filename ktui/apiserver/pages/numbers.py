"""Parse numbers in the query strings of ktui's own endpoints."""

from __future__ import annotations

from ktui.apiserver.http.request import Request
from ktui.kube.status import bad_request


def number(request: Request, name: str, default: int) -> int:
    """Return a non-negative number, `default` if it is absent; raise StatusError 400 if it is not valid."""
    text = request.parameter(name)
    if not text:
        return default
    if not (text.isascii() and text.isdigit()) or len(text) > 19:
        raise bad_request(f"{name} must be a whole number, not {text!r}")
    return int(text)
