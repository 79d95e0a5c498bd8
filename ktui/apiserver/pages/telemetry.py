"""`GET /telemetry`: every event as one line of JSON, the current state first.

`/ktui/v1/present` sends only the current state.
"""

from __future__ import annotations

import asyncio

import msgspec
import msgspec.json

from ktui.apiserver.http.request import BodyTooLarge, Request
from ktui.apiserver.http.response import Response
from ktui.apiserver.pages.responses import send_json
from ktui.apiserver.server import ServerFacts
from ktui.contract.events import AnyEvent, Marker
from ktui.contract.events.base import MarkerRequest
from ktui.kube.status import bad_request, request_entity_too_large
from ktui.telemetry.bus import Bus, Subscription

MAX_BODY = 4 * 1024


class MarkerPages:
    def __init__(self, bus: Bus) -> None:
        self._bus = bus

    async def publish(self, request: Request, response: Response) -> None:
        """Publish a marker: 202."""
        try:
            marker = msgspec.json.decode(await request.body(MAX_BODY), type=MarkerRequest)
        except BodyTooLarge:
            raise request_entity_too_large(f"limit is {MAX_BODY}") from None
        except msgspec.DecodeError as error:
            raise bad_request(str(error)) from None
        self._bus.publish(Marker(at=self._bus.now(), text=marker.text))
        await send_json(response, marker, 202)


CONTENT_TYPE = "application/x-ndjson"
GATHER = 0.04  # seconds: events of this period are sent together


class TelemetryStream:
    """Streams until the client disconnects or `close()` ends all streams."""

    def __init__(self, bus: Bus, facts: ServerFacts) -> None:
        self._bus = bus
        self._facts = facts
        self._open: set[Subscription] = set()
        self._stopping = False

    async def get(self, request: Request, response: Response) -> None:
        subscription = self._bus.subscribe()
        self._open.add(subscription)
        gone = request.disconnection()
        gone.add_done_callback(lambda _: subscription.close())
        try:
            await response.start(200, CONTENT_TYPE, [(b"cache-control", b"no-cache")])
            await response.write(lines([self._facts.info()]))
            if self._stopping:
                subscription.close()
            async for batch in subscription.batches():
                await response.write(lines(batch))
                # Each write costs both sides more than its content, and many events must not delay requests.
                await asyncio.sleep(GATHER)
            await response.end()
        finally:
            gone.cancel()
            subscription.close()
            self._open.discard(subscription)

    async def present(self, request: Request, response: Response) -> None:
        """Send the current state that `get` sends first, as a complete response."""
        await response.whole(200, CONTENT_TYPE, lines([self._facts.info(), *self._bus.present()]))

    def close(self) -> None:
        """End all streams, including those that are about to start."""
        self._stopping = True
        for subscription in list(self._open):
            subscription.close()


def lines(events: list[AnyEvent]) -> bytes:
    """Return the events as lines of JSON."""
    return b"".join(msgspec.json.encode(event) + b"\n" for event in events)
