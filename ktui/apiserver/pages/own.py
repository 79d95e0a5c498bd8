"""ktui's own pages: the server's facts and rules, faults, markers, finished requests, and the telemetry."""

from __future__ import annotations

import asyncio
import contextlib
from collections import OrderedDict
from functools import partial

import msgspec

from ktui.apiserver.http.request import Request
from ktui.apiserver.http.response import Response
from ktui.apiserver.pages.responses import number, read_document, send_json, time_allowed
from ktui.apiserver.server import Faults, ServerFacts, Services
from ktui.contract.events import AnyEvent, Marker, RequestFinished
from ktui.contract.events.base import MarkerRequest
from ktui.contract.faults import ActiveFaults, Fault
from ktui.contract.paths import Rules
from ktui.etcd.errors import EtcdError
from ktui.kube.status import StatusError, bad_request, timeout
from ktui.kube.versions import BehaviourError, behaviour_of
from ktui.supervision import Supervisor
from ktui.telemetry.bus import Bus, Subscription

MOST_RULES_BYTES = 64 * 1024
MOST_BYTES = 4 * 1024  # of the other documents


class OwnPages:
    """`/ktui/v1/info`, `behaviour`, `faults` and `markers`."""

    def __init__(self, services: Services) -> None:
        self._services = services

    async def info(self, request: Request, response: Response) -> None:
        await send_json(response, self._services.facts.info())

    async def behaviour(self, request: Request, response: Response) -> None:
        """Send the Kubernetes version whose rules apply, and its changed gates."""
        behaviour = self._services.settings.behaviour
        await send_json(response, Rules(behaviour.version, dict(behaviour.changed_gates)))

    async def switch(self, request: Request, response: Response) -> None:
        """Apply another version's rules from the next request on; caches are kept."""
        settings = self._services.settings
        try:
            async with asyncio.timeout(time_allowed(request, settings.behaviour.minor)):
                wanted = await read_document(request, Rules, MOST_RULES_BYTES)
            settings.use(behaviour_of(wanted.kube_version, wanted.feature_gates))
        except TimeoutError:
            raise timeout() from None
        except BehaviourError as error:
            raise bad_request(str(error)) from None
        # All telemetry subscribers learn the new version.
        self._services.bus.publish(self._services.facts.info())
        await self.behaviour(request, response)

    async def mark(self, request: Request, response: Response) -> None:
        marker, bus = await read_document(request, MarkerRequest, MOST_BYTES), self._services.bus
        bus.publish(Marker(at=bus.now(), text=marker.text))
        await send_json(response, marker, 202)

    async def faults(self, request: Request, response: Response, status: int = 200) -> None:
        """Send the active faults, which were injected into the etcd that this server started."""
        faults = self._services.faults
        await send_json(response, ActiveFaults([] if faults is None else faults.active), status)

    async def inject(self, request: Request, response: Response) -> None:
        """Begin a fault: 202; 403 if ktui did not start this etcd, 409 if one of its kind is active."""
        faults, fault = self._injectable(), await read_document(request, Fault, MOST_BYTES)
        try:
            fault = fault.checked()
        except ValueError as error:
            raise bad_request(str(error)) from None
        try:
            await faults.inject(fault)
        except ValueError as error:
            raise StatusError(409, "Conflict", str(error)) from None
        except EtcdError as error:
            raise StatusError(500, "InternalError", f"{fault.kind}: {error}") from None
        await self.faults(request, response, 202)

    async def end_faults(self, request: Request, response: Response) -> None:
        await self._injectable().end()
        await self.faults(request, response)

    def _injectable(self) -> Faults:
        if self._services.faults is None:
            raise StatusError(
                403, "Forbidden", "faults are only for an embedded etcd that ktui started, which this is not"
            )
        return self._services.faults


KEPT = 5000
# Seconds without calls. A full LIST of a huge cluster must end before, or its cost is lost.
IDLE_SECONDS = 600.0
# Seconds. A request's cost follows its last byte at once, but a busy loop may delay it.
WAIT_SECONDS = 5.0


class FinishedPages:
    """`/ktui/v1/requests`: the cost of the last KEPT requests, for the clients that sent them.

    A client that wants the cost of one request need not follow the telemetry stream of a busy server.
    Requests are kept from the first call on, until no client has called for a while: without calls there is
    no overhead.
    """

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
    return b"".join(msgspec.json.encode(event) + b"\n" for event in events)
