"""Events that all sources of live figures share: the server, its replicas' figures, ktui's load on it."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from ktui import __version__
from ktui.contract.events import AnyEvent, ServerInfo
from ktui.contract.events.live import LiveServer, LiveStatus, ReplicaScrape
from ktui.kube.gates import GATES
from ktui.kube.versions import BehaviourError, behaviour_of
from ktui.live.page_figures import MOST, ScrapePage


@dataclass(slots=True)
class Load:
    """What ktui costs the server: requests, compressed bytes, milliseconds until the last byte of each."""

    requests: int = 0
    received_bytes: int = 0
    busy_ms: float = 0.0

    def status(self, at: float, interval: float, problem: str) -> LiveStatus:
        return LiveStatus(
            at=at,
            interval=interval,
            problem=problem,
            requests=self.requests,
            received_bytes=self.received_bytes,
            busy_ms=self.busy_ms,
        )


class ServerAnnouncer:
    """Makes the events about the server at the beginning, and whenever it has changed."""

    def __init__(self) -> None:
        self._sent: LiveServer | None = None

    def events(self, server: LiveServer, at: float, warnings: list[str]) -> list[AnyEvent]:
        """Return two events about `server`, which has no time yet; none if it has not changed."""
        if server == self._sent:
            return []
        self._sent = server
        return [server_info(server, at, warnings), msgspec.structs.replace(server, at=at)]


def server_info(server: LiveServer, at: float, warnings: list[str]) -> ServerInfo:
    """Return the ServerInfo for header, Lab and Versions; gates that ktui does not know are left out."""
    known = {name: on for name, on in server.gates.items() if name in GATES}
    try:
        version = behaviour_of(server.version).version if server.version else ""
        defaults = behaviour_of(server.version).gates if server.version else {}
    except BehaviourError:  # older or newer than the rules
        version, defaults = server.version, {}
    return ServerInfo(
        at=at,
        ktui_version=__version__,
        kube_version=version,
        etcd_version="",
        etcd_kind="kube-apiserver",
        endpoints=[server.url],
        writable=False,
        progress="assumed",
        name=server.context,
        feature_gates={name: on for name, on in known.items() if name in defaults and on != defaults[name]},
        warnings=warnings,
    )


def page_events(page: ScrapePage, replica: ReplicaScrape) -> list[AnyEvent]:
    """Return the events of a page with the time of `replica`, to which the process' figures are added."""

    def number(figure: str) -> int | None:
        value = page.process.get(figure)
        return int(value) if value is not None and 0 <= value < MOST else None

    row = msgspec.structs.replace(
        replica,
        started=number("started") or 0,
        memory_bytes=number("memory_bytes"),
        storage_bytes=number("storage_bytes"),
        hidden_metrics=number("hidden_metrics"),
        reading=number("reading"),
        writing=number("writing"),
        cpu_seconds=cpu if 0 <= (cpu := page.process.get("cpu", -1.0)) < 1e12 else None,
        tls_errors=number("tls_errors"),
        webhooks=page.admission.get("webhooks"),
        plugins=page.admission.get("plugins"),
    )
    return [msgspec.structs.replace(event, at=replica.at) for event in page.events(row)]
