"""client-go's reflector, reduced to its requests: LIST, WATCH, and WATCH again from the last version.

It LISTs again after a 410 or a refusal, but not after a WATCH is refused with 429, which is repeated later.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from urllib.parse import quote

import msgspec

from ktui.client.connection import ClientError
from ktui.client.list_stream import ListBody
from ktui.supervision import stop
from ktui.workloads.behaviours.backoff import ReflectorBackoff, keeps_its_place
from ktui.workloads.behaviours.watch_lines import watch_lines
from ktui.workloads.running.context import LoadContext
from ktui.workloads.running.figures import REJECTED
from ktui.workloads.running.fleet import LoadClient

WATCH_SECONDS = 600
PAGE = 500
GONE = 410


class _Meta(msgspec.Struct, rename="camel"):
    name: str = ""
    namespace: str = ""
    resource_version: str = ""


class _Object(msgspec.Struct):
    metadata: _Meta = msgspec.field(default_factory=_Meta)
    code: int = 0


class _WatchEvent(msgspec.Struct):
    type: str
    object: _Object


_EVENT = msgspec.json.Decoder(_WatchEvent)


@dataclass(slots=True)
class LossCounts:
    """What followed after informers lost their watch in one way, added up over the informers."""

    lost: int = 0
    resumed: int = 0
    too_old: int = 0
    lists: int = 0
    listed_bytes: int = 0
    replayed: int = 0  # events that the informer had already received
    failed: int = 0  # attempts that were refused or failed


@dataclass(slots=True)
class InformerReflector:
    """One informer. `version` is where it continues, "" to list first; `newest` is the newest version it has
    received.

    `deleted_rv` "old": it takes the version of a DELETED object from before its deletion, as kube-apiserver
    1.7.0 to 1.7.12, 1.8.0 to 1.8.7 and 1.9.0 to 1.9.2 sent it.
    """

    context: LoadContext
    client: LoadClient
    collection: str
    counts: LossCounts = field(default_factory=LossCounts)
    version: str = ""
    newest: int = 0
    comes_back_with: str = ""  # the version of its next watch, whatever it has received
    cut: asyncio.Event = field(default_factory=asyncio.Event)
    reading: asyncio.Event = field(default_factory=asyncio.Event)  # while cleared, it does not read its watch
    backoff: ReflectorBackoff = field(default_factory=ReflectorBackoff)
    _seen: dict[tuple[str, str], str] = field(default_factory=dict)
    _expired: bool = False
    _must_list: bool = False
    _has_watched: bool = False  # since its last LIST

    def __post_init__(self) -> None:
        self.reading.set()

    async def run(self) -> None:
        """List and watch, again after every end."""
        while True:
            try:
                if (self._must_list or not self.version) and not self.context.knobs.yes("watchlist"):
                    await self._list()
                await self._watch()
                if not self._expired:
                    continue
            except ClientError as error:
                self.counts.failed += 1
                self._must_list |= not keeps_its_place(error)
            await asyncio.sleep(self.backoff.pause())

    async def _list(self) -> None:
        """List all: from the cache, not older than before; after a 410 in pages at the newest version."""
        label, query = "LIST rv=0", f"resourceVersion={self.version or 0}"
        if self._expired:
            label, query = "LIST after 410", f"limit={PAGE}"
        token, version = "", ""
        while True:
            more = f"&continue={quote(token, safe='')}" if token else ""
            answer = await self.client.get(f"{self.collection}?{query}{more}", label, keep=True)
            if not answer.ok:
                raise ClientError(f"the LIST is refused: HTTP {answer.status}")
            body = ListBody(collection=True)
            body.feed(answer.body)
            metadata = body.envelope().metadata
            version, token = version or metadata.resource_version, metadata.continue_token
            self.counts.lists += 1
            self.counts.listed_bytes += answer.size
            if not token:
                break
        self.version = version
        self.newest = max(self.newest, int(version or 0))
        self._expired = self._must_list = self._has_watched = False

    async def _watch(self) -> None:
        """Watch until the server or a cut ends it."""
        self.cut.clear()
        # Not earlier: an event that was being read when its watch was cut would set another version.
        self.version, self.comes_back_with = self.comes_back_with or self.version, ""
        query, label = f"resourceVersion={self.version}", "WATCH"
        if self._must_list or not self.version:  # with WatchList; otherwise it has been listed
            self.version, self._expired, self._must_list, self._has_watched = "", False, False, False
            query, label = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan", "WATCH initial"
        path = f"{self.collection}?watch=true&allowWatchBookmarks=true&{query}&timeoutSeconds={WATCH_SECONDS}"
        reading = asyncio.ensure_future(self._read(path, label))
        cut = asyncio.ensure_future(self.cut.wait())
        try:
            await asyncio.wait({reading, cut}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            # Not `suppress(CancelledError)` around `await reading`: that would lose a cancellation of this
            # task while the connection closes.
            await stop(cut, reading)
            self._has_watched = True
        if not reading.cancelled():
            reading.result()

    async def _read(self, path: str, label: str) -> None:
        resumed = self._has_watched
        async for line in watch_lines(self.client.watch(path, label)):
            event = _EVENT.decode(line)
            if event.type == "ERROR":
                if event.object.code == GONE:
                    self.context.count("too_old")
                    self.counts.too_old += 1
                    self._expired = self._must_list = True
                if event.object.code == REJECTED:
                    raise ClientError(f"the watch ends with {REJECTED}")
                return
            if resumed:
                self.counts.resumed += 1
                resumed = False
            self._take(event)
            await self.reading.wait()

    def _take(self, event: _WatchEvent) -> None:
        metadata = event.object.metadata
        key, version = (metadata.namespace, metadata.name), metadata.resource_version
        number = int(version or 0)
        if event.type != "BOOKMARK" and number <= self.newest and self.version:
            self.counts.replayed += 1
        self.newest = max(self.newest, number)
        before = self._seen.get(key, version)
        if event.type == "DELETED":
            self._seen.pop(key, None)
            old = self.context.knobs.text("deleted_rv") == "old"
            self.version = before if old else version
        else:
            if event.type != "BOOKMARK":
                self._seen[key] = version
            self.version = version
        self.context.count("events_seen")
