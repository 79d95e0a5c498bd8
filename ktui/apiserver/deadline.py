"""The timeout of a request: kube-apiserver's --request-timeout, or less if the client asks for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Generator
from typing import Any, Generic, TypeVar

from ktui.apiserver.http.request import Request
from ktui.kube import status
from ktui.kube.golang.times import parse_duration

T = TypeVar("T")

REQUEST_SECONDS = 60.0


def time_allowed(request: Request, minor: int) -> float:
    """Return the request's timeout in seconds: `?timeout=10s` (kubectl's --request-timeout), at most a
    minute.

    Raises StatusError 400 for an invalid value, before the client is authenticated. kube-apiserver 1.`minor`
    has the parameter since 1.20; WATCHes have their own `timeoutSeconds`.
    """
    text = request.parameter("timeout") if minor >= 20 else ""
    if not text:
        return REQUEST_SECONDS
    try:
        asked = parse_duration(text)
    except ValueError as error:
        raise status.bad_request(f"invalid timeout specified in the request URL - {error}") from None
    return asked if 0.0 < asked < REQUEST_SECONDS else REQUEST_SECONDS


class within(Generic[T]):
    """`await within(seconds, coroutine)` returns its result; raises StatusError 504 if it takes longer.

    The timer is armed when the coroutine first suspends: most requests never do.
    """

    __slots__ = ("_coroutine", "_seconds")

    def __init__(self, seconds: float, coroutine: Coroutine[Any, Any, T]) -> None:
        self._seconds = seconds
        self._coroutine = coroutine

    def __await__(self) -> Generator[Any, Any, T]:
        coroutine = self._coroutine
        try:
            waits = coroutine.send(None)
        except StopIteration as done:
            result: T = done.value
            return result
        return (yield from self._limited(_Resumed(coroutine, waits)).__await__())

    async def _limited(self, resumed: _Resumed[T]) -> T:
        try:
            async with asyncio.timeout(self._seconds) as limit:
                return await resumed
        except TimeoutError:
            if not limit.expired():
                raise
            raise status.timeout() from None


class _Resumed(Generic[T]):
    """Awaits the rest of a coroutine that has suspended once, with `waits`."""

    __slots__ = ("_coroutine", "_waits")

    def __init__(self, coroutine: Coroutine[Any, Any, T], waits: Any) -> None:
        self._coroutine = coroutine
        self._waits = waits

    def __await__(self) -> Generator[Any, Any, T]:
        coroutine, waits = self._coroutine, self._waits
        while True:
            try:
                value = yield waits
                step: Callable[[Any], Any] = coroutine.send
            except GeneratorExit:
                coroutine.close()
                raise
            except BaseException as error:
                step, value = coroutine.throw, error
            try:
                waits = step(value)
            except StopIteration as done:
                result: T = done.value
                return result
