"""Send periodic BOOKMARKs, so that a quiet watcher can resume from a recent resourceVersion.

kube-apiserver sends one to each watcher that allows them about once a minute, and two seconds before the
watch's deadline; it checks every 1 to 1.25 seconds.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import msgspec.json

from ktui.cacher.watch_events import BOOKMARK, OutEvent
from ktui.cacher.watchers import Watcher
from ktui.kube.resources import Resource
from ktui.supervision import Supervisor, stop
from ktui.wire.codec import CodecError, codec_for, encode_object, fill
from ktui.wire.schema import JSON_ZERO_VALUES

# Fields that upstream's conversion of an empty internal object adds.
_REPLICAS: dict[str, object] = {"spec": {"replicas": 0}}
_CONVERTED = {"Deployment": _REPLICAS, "ReplicaSet": _REPLICAS, "StatefulSet": _REPLICAS}
_DAEMON_SETS = {"deprecated.daemonset.template.generation": "0"}
INITIAL_EVENTS_END = "k8s.io/initial-events-end"
FREQUENCY = 60.0
BEFORE_DEADLINE = 2.0
TICK = 1.0
JITTER = 0.25


def bookmark(rv: int, resource: Resource, *, ends_initial_events: bool = False) -> OutEvent:
    """Return a BOOKMARK: the kind with a resourceVersion, and its required fields, which Go writes empty."""
    return OutEvent(BOOKMARK, rv, document=fill(_template(resource, ends_initial_events), rv))


@lru_cache(maxsize=512)
def _template(resource: Resource, ends_initial_events: bool) -> bytes:
    annotations = {INITIAL_EVENTS_END: "true"} if ends_initial_events else {}
    empty: dict[str, object] = {"kind": resource.kind, "apiVersion": resource.api_version}
    if resource.group == "apps":
        empty |= _CONVERTED.get(resource.kind, {})
        annotations = (_DAEMON_SETS if resource.kind == "DaemonSet" else {}) | annotations
    empty["metadata"] = {"annotations": annotations} if annotations else {}
    if resource.encoding != "protobuf" and not resource.custom:
        empty |= JSON_ZERO_VALUES.get(resource.kind, {})
    try:
        return codec_for().object_template(encode_object(empty, resource), resource.api_version)
    except CodecError:  # a kind with unknown fields: only its metadata
        return codec_for().object_template(msgspec.json.encode(empty))


@dataclass(slots=True)
class _Due:
    at: float
    deadline: float | None
    make: Callable[[int], OutEvent]


def next_time(now: float, deadline: float | None) -> float:
    """Return when a watcher with this deadline gets its next bookmark (both in seconds of the same clock)."""
    heartbeat = now + FREQUENCY
    if deadline is None:
        return heartbeat
    before = deadline - BEFORE_DEADLINE
    return before if now < before < heartbeat else heartbeat


class BookmarkClock:
    """Sends each watcher its bookmarks, at the resourceVersion up to which events were dispatched to all."""

    def __init__(self, supervisor: Supervisor, dispatched_rv: Callable[[], int]) -> None:
        self._supervisor = supervisor
        self._dispatched_rv = dispatched_rv
        self._due: dict[Watcher, _Due] = {}
        self._task: asyncio.Task[None] | None = None

    def add(self, watcher: Watcher, deadline: float | None, make: Callable[[int], OutEvent]) -> None:
        """Send bookmarks to `watcher` until its stream ends at `deadline` (event loop time, or None)."""
        now = asyncio.get_running_loop().time()
        self._due[watcher] = _Due(next_time(now, deadline), deadline, make)
        if self._task is None or self._task.done():
            self._task = self._supervisor.start("the bookmark clock", self._run)

    def remove(self, watcher: Watcher) -> None:
        self._due.pop(watcher, None)

    async def close(self) -> None:
        await stop(self._task)

    def send_due(self, now: float) -> None:
        """Send a bookmark to every watcher that is due."""
        rv = self._dispatched_rv()
        for watcher, due in self._due.items():
            if due.at <= now:
                watcher.offer_bookmark(due.make(rv))
                due.at = next_time(now, due.deadline)

    async def _run(self) -> None:
        while self._due:
            await asyncio.sleep(TICK * random.uniform(1.0, 1.0 + JITTER))
            self.send_due(asyncio.get_running_loop().time())
