"""An informer that caches its objects: LIST with resourceVersion=0, then WATCH from the last version."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from ktui.client.connection import ClientError
from ktui.documents.limits import DocumentError
from ktui.documents.typed import decode_json
from ktui.workloads.behaviours.backoff import ReflectorBackoff, keeps_its_place
from ktui.workloads.behaviours.watch_lines import watch_lines
from ktui.workloads.running.fleet import LoadClient

Obj = dict[str, Any]
Handler = Callable[[str, Obj], None]

WATCH_SECONDS = 600


class ObjectInformer:
    """Caches objects by name; `handlers` are called with (event type, object).

    `collection` is a path, `selector` encoded parameters. After a 410 or a refusal (except a 429 of a WATCH),
    everything is listed again; objects that are missing then are DELETED with their last state.
    """

    def __init__(self, client: LoadClient, collection: str, selector: str) -> None:
        self.objects: dict[str, Obj] = {}
        self.handlers: list[Handler] = []
        self.synced = asyncio.Event()
        self._client = client
        self._collection = collection
        self._selector = selector
        self._version = ""  # version of the last event, "" to list first
        self._backoff = ReflectorBackoff()

    async def run(self) -> None:
        """List and watch until cancelled."""
        while True:
            try:
                if not self._version:
                    await self._list()
                await self._watch()
            except ClientError as error:
                if not keeps_its_place(error):
                    self._version = ""
                await asyncio.sleep(self._backoff.pause())
            except (DocumentError, KeyError, TypeError):  # the answer is not that of a Kubernetes API
                self._version = ""
                await asyncio.sleep(self._backoff.pause())

    async def _list(self) -> None:
        """Replace the objects."""
        plural = self._collection.rpartition("/")[2]
        path = f"{self._collection}?{self._selector}&resourceVersion=0"
        answer = await self._client.read(path, f"LIST {plural}")
        if not answer.ok:
            raise ClientError(f"cannot list {self._collection}: HTTP {answer.status}")
        found = decode_json(answer.body, dict)
        now = {obj["metadata"]["name"]: obj for obj in found.get("items") or []}
        for name in [name for name in self.objects if name not in now]:
            self._take("DELETED", self.objects[name])
        for name, obj in now.items():
            self._take("MODIFIED" if name in self.objects else "ADDED", obj)
        self.synced.set()
        self._version = str(found["metadata"]["resourceVersion"])

    async def _watch(self) -> None:
        """Follow the events."""
        plural = self._collection.rpartition("/")[2]
        since = f"resourceVersion={self._version}&timeoutSeconds={WATCH_SECONDS}"
        query = f"watch=true&allowWatchBookmarks=true&{since}"
        pieces = self._client.watch(f"{self._collection}?{self._selector}&{query}", f"WATCH {plural}")
        async for line in watch_lines(pieces):
            event = decode_json(line, dict)
            obj = event["object"]
            if event["type"] == "ERROR":
                self._version = ""
                return
            self._version = str(obj["metadata"]["resourceVersion"])
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
