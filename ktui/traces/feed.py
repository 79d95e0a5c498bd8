"""A receiver's requests as a source of events: for the dashboard, and for `ktui record`."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator

from ktui import __version__
from ktui.contract.events import AnyEvent, Dropped, ServerInfo
from ktui.contract.events.live import LiveStatus
from ktui.kube.versions import Behaviour
from ktui.traces import SCHEME
from ktui.traces.events import TraceEvents
from ktui.traces.receiver import OtlpReceiver

SOURCE = "traces"
_EVERY = 0.25  # seconds between two looks for requests
_AT_ONCE = 500  # requests in one batch of events


def traces_server(receiver: OtlpReceiver, behaviour: Behaviour) -> ServerInfo:
    """Return the event about the server where traces are the only source."""
    return ServerInfo(
        at=time.time(),
        ktui_version=__version__,
        kube_version=behaviour.version,
        etcd_version="",
        etcd_kind="kube-apiserver",
        endpoints=[url_of(receiver)],
        writable=False,
        progress="assumed",
        name="traces",
        feature_gates=dict(behaviour.changed_gates),
    )


def url_of(receiver: OtlpReceiver) -> str:
    """Return the endpoint that names the traces in the event about the server."""
    return f"{SCHEME}{address_of(receiver)}"


def address_of(receiver: OtlpReceiver) -> str:
    return f"port {receiver.grpc_port} (gRPC) and {receiver.http_port} (HTTP)"


async def traced_events(
    receiver: OtlpReceiver, behaviour: Behaviour, first: int = 0
) -> AsyncIterator[list[AnyEvent]]:
    """Yield the events of requests as they become complete, and what was dropped or could not be read.

    Requests are numbered from `first` + 1 on. Ends once the receiver is closed.
    """
    made = TraceEvents(behaviour, first)
    dropped, problem = 0, ""
    while True:
        closed = receiver.closed
        requests = receiver.drain() + (receiver.assembler.finish() if closed else [])
        for start in range(0, len(requests), _AT_ONCE):
            some = requests[start : start + _AT_ONCE]
            yield [event for request in some for event in made.events(request)]
            await asyncio.sleep(0)
        lost = receiver.received.dropped + receiver.counts.dropped
        if lost > dropped:
            yield [Dropped(at=time.time(), count=lost - dropped)]
            dropped = lost
        if receiver.received.problem != problem:
            problem = receiver.received.problem
            yield [LiveStatus(at=time.time(), source=SOURCE, problem=problem)]
        if closed:
            return
        await asyncio.sleep(_EVERY)
