"""`/ktui/v1/requests`: the cost of the last requests, for the clients that sent them.

A client that wants the cost of one request need not follow the telemetry stream of a busy server. Requests
are kept from the first call on, until no client has called for a while: without calls there is no overhead.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import OrderedDict
from functools import partial

from ktui.apiserver.http.request import Request
from ktui.apiserver.http.response import Response
from ktui.apiserver.pages.numbers import number
from ktui.apiserver.pages.responses import send_json
from ktui.contract.events import RequestFinished
from ktui.kube.status import StatusError, bad_request
from ktui.supervision import Supervisor
from ktui.telemetry.bus import Bus, Subscription

KEPT = 5000
# Seconds without calls. A full LIST of a huge cluster must end before, or its cost is lost.
IDLE_SECONDS = 600.0
# Seconds. A request's cost follows its last byte at once, but a busy loop may delay it.
WAIT_SECONDS = 5.0


class FinishedPages:
    """Keeps the newest KEPT requests by id."""

    def __init__(self, bus: Bus, supervisor: Supervisor) -> None:
        self._bus = bus
        self._supervisor = supervisor
        self._kept: OrderedDict[int, RequestFinished] = OrderedDict()
        self._subscription: Subscription | None = None
        self._task: asyncio.Task[None] | None = None
        self._idle: asyncio.TimerHandle | None = None
        self._arrived = asyncio.Event()

    async def newest(self, request: Request, response: Response) -> None:
        """Send the newest requests, newest first, and keep requests from now on."""
        limit = number(request, "limit", 100)
        self._keep()
        rows = list(reversed(self._kept.values()))[:limit]
        await send_json(response, {"requests": rows})

    async def one(self, request: Request, response: Response) -> None:
        """Send the cost of one request; wait briefly for one that is just ending. 404 if unknown."""
        text = request.path.rstrip("/").rsplit("/", 1)[-1]
        if not (text.isascii() and text.isdigit()) or len(text) > 19:
            raise bad_request(f"a request id is a whole number, not {text!r}")
        self._keep()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(WAIT_SECONDS):
                while int(text) not in self._kept:
                    arrived = self._arrived
                    await arrived.wait()
        found = self._kept.get(int(text))
        if found is None:
            raise StatusError(404, "NotFound", f"no account of request {text} is kept")
        await send_json(response, found)

    def close(self) -> None:
        """Stop keeping requests."""
        if self._idle is not None:
            self._idle.cancel()
        if self._subscription is not None:
            self._subscription.close()
        self._subscription = self._task = self._idle = None
        self._kept.clear()

    def _keep(self) -> None:
        if self._subscription is None:
            self._subscription = self._bus.subscribe()
            self._task = self._supervisor.start(
                "the record of finished requests", partial(self._follow, self._subscription)
            )
        if self._idle is not None:
            self._idle.cancel()
        self._idle = asyncio.get_running_loop().call_later(IDLE_SECONDS, self.close)

    async def _follow(self, subscription: Subscription) -> None:
        async for batch in subscription.batches():
            for event in batch:
                if isinstance(event, RequestFinished):
                    self._kept[event.id] = event
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
            arrived, self._arrived = self._arrived, asyncio.Event()
            arrived.set()
