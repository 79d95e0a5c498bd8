"""What really happened in etcd, seen by a watch and reads of its own beside the caches."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from ktui.etcd.client import EtcdClient
from ktui.etcd.types import WatchEvent
from ktui.kube.resources import BUILTIN
from ktui.wire.scan import Scanner

CONFIG_MAPS = BUILTIN.find("", "v1", "configmaps")
Labels = dict[str, str]
Seen = tuple[str, str, int]  # type, name, resourceVersion


@dataclass(frozen=True)
class Change:
    """One key's change; labels are None where there is no object."""

    name: str
    rv: int
    now: Labels | None
    before: Labels | None

    def as_seen(self, colour: str) -> Seen | None:
        """The event that a watcher of `colour` ("" for any) gets."""
        current, old = _has(self.now, colour), _has(self.before, colour)
        if not (current or old):
            return None
        return ("MODIFIED" if old else "ADDED") if current else "DELETED", self.name, self.rv


class Truth:
    """Every change under `prefix` since `start`, in order. `sync` first, then ask."""

    def __init__(self, client: EtcdClient, prefix: str) -> None:
        self.changes: list[Change] = []
        self.start = 0
        self._client = client
        self._root = f"{prefix}/"
        self._scanner = Scanner(CONFIG_MAPS)
        self._barrier = f"{prefix}/barrier".encode()
        self._barrier_rv = 0
        self._seen = 0
        self._labels: dict[str, Labels | None] = {}
        self._reached = asyncio.Condition()
        self._task: asyncio.Task[None] | None = None

    async def open(self) -> None:
        self._barrier_rv = self.start = (await self._client.create(self._barrier, b"")).revision
        self._task = asyncio.create_task(self._follow())

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def sync(self, rv: int) -> None:
        """Wait until everything that has happened up to `rv` is here.

        The barrier is written only where no event comes by itself: as the first thing that
        happens after an outage it would hide that the next event is lost.
        """
        if not await self._reaches(rv, within=0.05):
            written = await self._client.update(self._barrier, b"", self._barrier_rv)
            assert written.succeeded
            self._barrier_rv = written.revision
            assert await self._reaches(written.revision, within=60)

    async def _reaches(self, rv: int, within: float) -> bool:
        try:
            async with self._reached, asyncio.timeout(within):
                await self._reached.wait_for(lambda: self._seen >= rv)
        except TimeoutError:
            return False
        return True

    def at(self, rv: int) -> dict[str, int]:
        """Names and resourceVersions of the objects that there were at `rv`."""
        found: dict[str, int] = {}
        for change in self.changes:
            if change.rv > rv:
                break
            if change.now is None:
                del found[change.name]
            else:
                found[change.name] = change.rv
        return found

    def coloured(self, rv: int, colour: str) -> dict[str, int]:
        """The same, of that colour only."""
        labels = {change.name: change.now for change in self.changes if change.rv <= rv}
        return {name: at for name, at in self.at(rv).items() if _has(labels[name], colour)}

    def owed(self, since: int, colour: str) -> list[Seen]:
        """What a watcher from `since` on is to see."""
        seen = (change.as_seen(colour) for change in self.changes if change.rv > since)
        return [event for event in seen if event is not None]

    async def _follow(self) -> None:
        key = self._root.encode()
        async with self._client.watch(key, key[:-1] + b"0", self.start + 1, prev_kv=False) as watch:
            async for batch in watch:
                for event in batch.events:
                    if event.kv.key != self._barrier:
                        self.changes.append(self._change(event))
                async with self._reached:
                    self._seen = batch.revision if batch.events else self._seen
                    self._reached.notify_all()

    def _change(self, event: WatchEvent) -> Change:
        name = event.kv.key.rpartition(b"/")[2].decode()
        now = None if event.type == "DELETE" else self._scanner.scan(event.kv.value).labels
        before, self._labels[name] = self._labels.get(name), now
        return Change(name, event.kv.mod_revision, now, before)


def _has(labels: Labels | None, colour: str) -> bool:
    return labels is not None and colour in ("", labels.get("colour"))
