"""Small whole answers."""

from __future__ import annotations

from typing import Any

import msgspec.json

from ktui.apiserver.http.response import Response
from ktui.kube.status import StatusError

JSON = "application/json"


async def send_json(response: Response, document: Any, status: int = 200, media_type: str = JSON) -> None:
    """A JSON document."""
    await response.whole(status, media_type, msgspec.json.encode(document) + b"\n")


async def send_status(response: Response, error: StatusError) -> None:
    """The Status that an error is."""
    response.add_headers((name.lower(), value) for name, value in error.headers.items())
    await send_json(response, error.body(), error.code)
