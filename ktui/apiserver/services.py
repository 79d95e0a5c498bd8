"""Everything the server is composed of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ktui.apiserver.ports import Codec, EtcdBrowser, ServerFacts
from ktui.telemetry.bus import Bus

if TYPE_CHECKING:
    from ktui.cacher.registry import Registry
    from ktui.cacher.settings import Settings


@dataclass(frozen=True, slots=True)
class Services:
    """`token` None lets everybody in (`--insecure-http`). `event_ttl`: seconds that an Event lives."""

    registry: Registry
    settings: Settings
    bus: Bus
    facts: ServerFacts
    etcd: EtcdBrowser
    codec: Codec
    token: str | None
    event_ttl: int = 3600
