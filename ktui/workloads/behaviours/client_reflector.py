"""client-go's reflector, reduced to its requests: LIST, WATCH, and WATCH again from the last version."""

from __future__ import annotations

import asyncio
import random
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import quote

from ktui.client.api import RefusedError
from ktui.client.connection import ClientError
from ktui.documents.limits import DocumentError, decode_json
from ktui.kube.json_trees import Obj
from ktui.supervision import stop
from ktui.workloads.behaviours.watch_events import EVENT, ReceivedEvent, watch_lines
from ktui.workloads.running.figures import REJECTED
from ktui.workloads.running.fleet import LoadClient
from ktui.workloads.running.workload import LoadContext

WATCH_SECONDS = 600
PAGE = 500
GONE = 410
FIRST_SECONDS, MOST_SECONDS, QUIET_SECONDS = 0.8, 30.0, 120.0


@dataclass(slots=True)
class ReflectorBackoff:
    """Computes the pauses of one reflector. `pause` returns the seconds to wait before the next attempt.

    reflector.go: 800 ms, doubling up to 30 s, plus a random part up to the same length; 800 ms again after
    two quiet minutes.
    """

    clock: Callable[[], float] = time.monotonic
    jitter: Callable[[], float] = field(default_factory=lambda: random.Random().random)  # 0 to 1
    _next: float = FIRST_SECONDS
    _last_attempt: float = float("-inf")

    def pause(self) -> float:
        now = self.clock()
        if now - self._last_attempt > QUIET_SECONDS:
            self._next = FIRST_SECONDS
        self._last_attempt = now
        pause, self._next = self._next, min(MOST_SECONDS, self._next * 2)
        return pause * (1 + self.jitter())


Handler = Callable[[str, Obj], None]


class ClientReflector(ABC):
    """LISTs and WATCHes. After a 410 or a refusal (except a 429 of a WATCH) it LISTs again."""

    def __init__(self) -> None:
        self.version = ""  # where it continues
        self.must_list = False  # even with a version
        self.watches = True
        self.backoff = ReflectorBackoff()

    async def run(self) -> None:
        """List, then watch from the last version again and again, until cancelled; or only list."""
        while True:
            pause = 0.0
            try:
                if (self.must_list or not self.version) and not self.streams:
                    await self.send_list()
                if not self.watches:
                    return
                await self.send_watch()
            except ClientError as error:
                # After a 429, or if the connection failed, it sends the same WATCH again.
                self.must_list |= isinstance(error, RefusedError) and error.status != REJECTED
                pause = self.failed(error)
            except (DocumentError, KeyError, TypeError):  # the answer is not that of a Kubernetes API
                self.must_list = True
            if pause or self.must_list:
                await asyncio.sleep(pause or self.backoff.pause())

    @property
    def streams(self) -> bool:
        """True if it watches instead of listing, with sendInitialEvents."""
        return False

    def failed(self, error: ClientError) -> float:
        """Return the seconds to wait after an attempt that was refused or failed."""
        return self.backoff.pause()

    @abstractmethod
    async def send_list(self) -> None:
        """List, and clear `must_list`."""

    @abstractmethod
    async def send_watch(self) -> None:
        """Watch until the server ends it."""


class CollectionReflector(ClientReflector):
    """LISTs `collection` (a path) from the cache and WATCHes it; `selector` are encoded parameters."""

    def __init__(self, collection: str, selector: str) -> None:
        super().__init__()
        self.collection = collection
        selected = f"{selector}&" if selector else ""
        self.list_path = f"{collection}?{selected}resourceVersion=0"
        self._watch = f"{collection}?watch=true&allowWatchBookmarks=true&{selected}resourceVersion="

    def watch_path(self, seconds: int) -> str:
        return f"{self._watch}{self.version}&timeoutSeconds={seconds}"

    def listed(self, status: int, version: str) -> None:
        """Continue at the version of a LIST. Raises ClientError if it was refused."""
        self.version = version
        if status != 200 or not version.isdecimal():
            raise ClientError(f"cannot list {self.collection}: HTTP {status}")
        self.must_list = False


class LoadReflector(CollectionReflector):
    """Keeps watching a collection, and drops what it gets; `watches` False: the LIST is enough.

    `seconds` is the time after which its WATCH ends.
    """

    def __init__(
        self, client: LoadClient, collection: str, selector: str = "", label: str = "LIST",
        *, watches: bool = True, seconds: int = WATCH_SECONDS,
    ) -> None:  # fmt: skip
        super().__init__(collection, selector)
        self._seconds = seconds
        self.watches = watches
        self.synced = asyncio.Event()  # its WATCH is sent before a task that waits for this goes on
        self._client, self._label = client, label

    async def send_list(self) -> None:
        answer = await self._client.get(self.list_path, self._label, keep=True)
        self.listed(answer.status, answer.metadata.resource_version)
        self.synced.set()

    async def send_watch(self) -> None:
        async for _ in self._client.watch(self.watch_path(self._seconds), "WATCH"):
            pass  # a cache would apply it; here only the server's work matters
        self.must_list = True  # it knows no later version


class ObjectInformer(CollectionReflector):
    """Caches objects; `handlers` get (event type, object), also DELETED of those that a new LIST lacks."""

    def __init__(self, client: LoadClient, collection: str, selector: str) -> None:
        super().__init__(collection, selector)
        self.objects: dict[str, Obj] = {}
        self.handlers: list[Handler] = []
        self.synced = asyncio.Event()
        self._client = client
        self._plural = collection.rpartition("/")[2]

    async def send_list(self) -> None:
        answer = await self._client.read(self.list_path, f"LIST {self._plural}")
        if not answer.ok:
            raise ClientError(f"cannot list {self.collection}: HTTP {answer.status}")
        found = decode_json(answer.body, dict)
        now = {obj["metadata"]["name"]: obj for obj in found.get("items") or []}
        for name in [name for name in self.objects if name not in now]:
            self._take("DELETED", self.objects[name])
        for name, obj in now.items():
            self._take("MODIFIED" if name in self.objects else "ADDED", obj)
        self.synced.set()
        self.version = str(found["metadata"]["resourceVersion"])
        self.must_list = False

    async def send_watch(self) -> None:
        pieces = self._client.watch(self.watch_path(WATCH_SECONDS), f"WATCH {self._plural}")
        async for line in watch_lines(pieces):
            event = decode_json(line, dict)
            obj = event["object"]
            if event["type"] == "ERROR":
                self.must_list = True
                return
            self.version = str(obj["metadata"]["resourceVersion"])
            if event["type"] != "BOOKMARK":
                self._take(event["type"], obj)

    def _take(self, type_: str, obj: Obj) -> None:
        name = obj["metadata"]["name"]
        if type_ == "DELETED":
            self.objects.pop(name, None)
        else:
            self.objects[name] = obj
        for handler in self.handlers:
            handler(type_, obj)


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


class InformerReflector(ClientReflector):
    """One informer. `newest` is the newest version it has received.

    `deleted_rv` "old": it takes the version of a DELETED object from before its deletion, as kube-apiserver
    1.7.0 to 1.7.12, 1.8.0 to 1.8.7 and 1.9.0 to 1.9.2 sent it.
    """

    def __init__(self, context: LoadContext, client: LoadClient, collection: str) -> None:
        super().__init__()
        self.context = context
        self.client = client
        self.collection = collection
        self.counts = LossCounts()
        self.newest = 0
        self.comes_back_with = ""  # the version of its next watch, whatever it has received
        self.cut = asyncio.Event()
        self.reading = asyncio.Event()  # while cleared, it does not read its watch
        self.reading.set()
        self._seen: dict[tuple[str, str], str] = {}
        self._expired = False
        self._has_watched = False  # since its last LIST

    @property
    def streams(self) -> bool:
        return self.context.knobs.yes("watchlist")

    def failed(self, error: ClientError) -> float:
        self.counts.failed += 1
        return super().failed(error)

    async def send_list(self) -> None:
        label, query = "LIST rv=0", f"resourceVersion={self.version or 0}"
        if self._expired:
            label, query = "LIST after 410", f"limit={PAGE}"
        token, version = "", ""
        while True:
            more = f"&continue={quote(token, safe='')}" if token else ""
            answer = await self.client.get(f"{self.collection}?{query}{more}", label, keep=True)
            if not answer.ok:
                raise ClientError(f"the LIST is refused: HTTP {answer.status}")
            metadata = answer.metadata
            version, token = version or metadata.resource_version, metadata.continue_token
            self.counts.lists += 1
            self.counts.listed_bytes += answer.size
            if not token:
                break
        self.version = version
        self.newest = max(self.newest, int(version or 0))
        self._expired = self.must_list = self._has_watched = False

    async def send_watch(self) -> None:
        self.cut.clear()
        # Not earlier: an event that was being read when its watch was cut would set another version.
        self.version, self.comes_back_with = self.comes_back_with or self.version, ""
        query, label = f"resourceVersion={self.version}", "WATCH"
        if self.must_list or not self.version:  # with WatchList; otherwise it has been listed
            self.version, self._expired, self.must_list, self._has_watched = "", False, False, False
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
            event = EVENT.decode(line)
            if event.type == "ERROR":
                if event.object.code == GONE:
                    self.context.count("too_old")
                    self.counts.too_old += 1
                    self._expired = self.must_list = True
                if event.object.code == REJECTED:
                    raise ClientError(f"the watch ends with {REJECTED}")
                return
            if resumed:
                self.counts.resumed += 1
                resumed = False
            self._take(event)
            await self.reading.wait()

    def _take(self, event: ReceivedEvent) -> None:
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
