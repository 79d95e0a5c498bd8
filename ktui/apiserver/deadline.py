"""The timeout of a request: kube-apiserver's --request-timeout, or less if the client asks for it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from ktui.apiserver.http.request import Request
from ktui.kube import status
from ktui.kube.golang.durations import parse_duration

REQUEST_SECONDS = 60.0
ALLOWED_SINCE = 20


def time_allowed(request: Request, minor: int) -> float:
    """Return the request's timeout in seconds: `?timeout=10s` (kubectl's --request-timeout), at most a
    minute.

    Raises StatusError 400 for an invalid value, before the client is authenticated. kube-apiserver 1.`minor`
    has the parameter since 1.20; WATCHes have their own `timeoutSeconds`.
    """
    text = request.parameter("timeout") if minor >= ALLOWED_SINCE else ""
    if not text:
        return REQUEST_SECONDS
    try:
        asked = parse_duration(text)
    except ValueError as error:
        raise status.bad_request(f"invalid timeout specified in the request URL - {error}") from None
    return asked if 0.0 < asked < REQUEST_SECONDS else REQUEST_SECONDS


@asynccontextmanager
async def within(seconds: float) -> AsyncIterator[None]:
    """Raise StatusError 504 if the block takes longer than `seconds`."""
    try:
        async with asyncio.timeout(seconds) as limit:
            yield
    except TimeoutError:
        if not limit.expired():
            raise
        raise status.timeout() from None
