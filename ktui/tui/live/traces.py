"""Requests of a kube-apiserver from its traces: as the only source, or beside its metrics."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Any, ClassVar

from ktui import __version__
from ktui.client.connection import ClientError
from ktui.contract.events import AnyEvent, Dropped, ServerInfo
from ktui.contract.events.live import LiveStatus
from ktui.kube.versions import Behaviour
from ktui.traces.events import TraceEvents
from ktui.traces.receiver import OtlpReceiver
from ktui.tui.live.app import LiveApp
from ktui.tui.navigation.modes import MODES
from ktui.tui.source import Link, Report, Stage

SOURCE = "traces"
_EVERY = 0.25  # seconds between two looks for requests
_AT_ONCE = 500  # requests in one batch of events
_OWN = ("requests", "watches", "versions")


class TracesApp(LiveApp, inherit_bindings=False):
    """Requests, Watches and Versions show single requests, as for ktui's own server; others show metrics."""

    MODES: ClassVar[dict[str, Any]] = LiveApp.MODES | {
        mode.name: mode.load() for mode in MODES if mode.name in _OWN
    }
    BINDINGS = LiveApp.BINDINGS


class TracesOnlyApp(TracesApp, inherit_bindings=False):
    """The same without metrics, so it begins on Requests."""

    DEFAULT_MODE = "requests"
    no_server = (
        "with --otlp alone there is no server to send to: start `ktui --kubeconfig FILE --otlp`, "
        "or choose one in the Lab"
    )
    BINDINGS = LiveApp.BINDINGS


class OtlpSource:
    """The dashboard's only source: it listens, and needs no connection."""

    restartable = False
    reconnects = False

    def __init__(self, receiver: OtlpReceiver, behaviour: Behaviour) -> None:
        self._receiver = receiver
        self._behaviour = behaviour

    async def connect(self, report: Report) -> None:
        report(f"listening for OTLP on {address_of(self._receiver)}")

    async def batches(self) -> AsyncIterator[list[AnyEvent]]:
        yield [self._server()]
        async for batch in traced_events(self._receiver, self._behaviour):
            yield batch

    def _server(self) -> ServerInfo:
        return ServerInfo(
            at=time.time(),
            ktui_version=__version__,
            kube_version=self._behaviour.version,
            etcd_version="",
            etcd_kind="kube-apiserver",
            endpoints=[f"otlp://{address_of(self._receiver)}"],
            writable=False,
            progress="assumed",
            name="traces",
            feature_gates=dict(self._behaviour.changed_gates),
        )

    async def why_stopped(self) -> str:
        return ""

    def link(self) -> Link:
        return Link(Stage.LIVE)

    async def close(self) -> None:
        return None


def address_of(receiver: OtlpReceiver) -> str:
    return f"port {receiver.grpc_port} (gRPC) and {receiver.http_port} (HTTP)"


async def traced_events(receiver: OtlpReceiver, behaviour: Behaviour) -> AsyncIterator[list[AnyEvent]]:
    """Yield the events of requests as they become complete, and what was dropped or could not be read."""
    made = TraceEvents(behaviour)
    dropped, problem = 0, ""
    while True:
        requests = receiver.drain()
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
        await asyncio.sleep(_EVERY)


def start_receiver(host: str, grpc_port: int, http_port: int) -> OtlpReceiver:
    """Return a receiver that listens. Raises ClientError."""
    receiver = OtlpReceiver(host, grpc_port, http_port)
    try:
        receiver.start()
    except OSError as error:
        raise ClientError(f"cannot listen for OTLP on {error.filename}: {error.strerror}") from None
    return receiver
