"""What caches publish for telemetry of their events: how one reaches its watchers (sampled)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

from msgspec.structs import replace

from ktui.cacher.watch_events import DELETED, MODIFIED, CacheEvent, OutEvent
from ktui.cacher.watchers import Watcher
from ktui.contract.events import FanOut
from ktui.telemetry.bus import Bus

SAMPLE_INTERVAL = 1.0  # seconds between two samples of a resource
# Encodings are made when a watcher writes; after this delay watchers that keep up have written.
SETTLING_SECONDS = 0.25
# Forms that are built from the object; all other forms are the object itself.
TRANSFORMED = ("Table", "PartialObjectMetadata")


class Sampler:
    """Publishes a sample of a resource's events while telemetry has subscribers."""

    def __init__(self, bus: Bus, resource: str) -> None:
        self._bus = bus
        self._resource = resource
        self._last = 0.0
        self._pending: asyncio.TimerHandle | None = None

    def due(self) -> bool:
        """Return True if the next event should be sampled."""
        return (
            self._bus.watched and self._pending is None and time.monotonic() >= self._last + SAMPLE_INTERVAL
        )

    def take(self, event: CacheEvent, concerned: Sequence[Watcher], watchers: int) -> None:
        """Publish `event`, matched to `concerned` of all `watchers`, once its encodings are made."""
        self._last = time.monotonic()
        seen = [(watcher, out) for watcher in concerned if (out := watcher.convert(event)) is not None]
        left = event.type == MODIFIED
        forms = [watcher.form for watcher, out in seen if not (left and out.type == DELETED)]
        tables = [form for form in forms if form.startswith(TRANSFORMED)]
        sample = FanOut(
            at=self._bus.now(),
            resource=self._resource,
            change=event.type,
            rv=event.rv,
            previous_rv=event.previous.rv if event.previous is not None else 0,
            namespace=event.object.namespace,
            name=event.object.name,
            watchers=watchers,
            concerned=len(concerned),
            delivered=len(seen),
            leaving=len(seen) - len(forms),
            tables=len(tables),
            plain_forms=len(set(forms) - set(tables)),
            table_forms=len(set(tables)),
        )
        sent = {id(out): out for _, out in seen}.values()
        loop = asyncio.get_running_loop()
        self._pending = loop.call_later(SETTLING_SECONDS, self._publish, sample, list(sent))

    def close(self) -> None:
        if self._pending is not None:
            self._pending.cancel()
            self._pending = None

    def _publish(self, sample: FanOut, sent: list[OutEvent]) -> None:
        self._pending = None
        self._bus.publish(replace(sample, encodings=sum(out.encoded for out in sent)))
