"""Clients that WATCH: for a while, reading slowly, never reading, or as client-go's informers."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from tools.faults.history import History
from tools.faults.objects import Selection, key_of, some_selection
from tools.faults.records import Seen, Watched, clock
from tools.faults.workload import EXCUSED, NO_ANSWER, Workload

KINDS = ("known", "known", "known", "any", "unset")
STREAMING_KINDS = ("initial", "initial", "initial_any")  # since 1.34 by default: sendInitialEvents
_END = "k8s.io/initial-events-end"


async def follow(load: Workload, watched: Watched, query: list[str], pause: float = 0.0) -> None:
    """Read a WATCH to its end, and record in `watched` how it ended."""
    load.records.watches.append(watched)
    load.records.counts["WATCHes"] += 1
    watched.url = f"{watched.selection.path}?{'&'.join(['watch=1', *query, *watched.selection.query])}"
    try:
        async with load.streams.get(load.server.url + watched.url) as answer:
            watched.status = answer.status
            if answer.status != 200:
                watched.error, watched.end = answer.status, f"status {answer.status}"
                if answer.status not in EXCUSED:
                    text = await answer.text()
                    load.violations.add(
                        "a WATCH with a status of its own", url=watched.url, answer=text[:300]
                    )
                return
            rest = b""
            async for piece in answer.content.iter_any():
                *lines, rest = (rest + piece).split(b"\n")
                for line in filter(bytes.strip, lines):
                    _record(load, watched, json.loads(line))
                if pause and not load.quiet.is_set():
                    await asyncio.sleep(pause)
            watched.end, watched.complete = watched.end or "closed", True
    except asyncio.CancelledError:
        watched.end = watched.end or "left"
        raise
    except NO_ANSWER as error:
        watched.end = repr(error)[:100]


def _record(load: Workload, watched: Watched, event: dict[str, Any]) -> None:
    kind, shown = event["type"], event["object"]
    if kind == "ERROR":
        watched.error = shown.get("code", 0)
        watched.end = f"ERROR {watched.error} {shown.get('message')}"
        return
    metadata = shown["metadata"]
    rv, annotations = int(metadata["resourceVersion"]), metadata.get("annotations") or {}
    if kind == "BOOKMARK":
        watched.events.append(Seen(kind, "", rv, ends_initial=annotations.get(_END) == "true"))
        return
    key = key_of(watched.selection.resource, metadata["namespace"], metadata["name"])
    watched.events.append(Seen(kind, key, rv, annotations["mark"]))
    load.records.counts["events of WATCHes"] += 1


async def watch(load: Workload, name: str) -> None:
    """Open one WATCH after the other: of any kind, for some time, sometimes read slowly."""
    rnd = load.random(name)
    streaming = STREAMING_KINDS if load.server.version in ("1.36", "1.37") else ()
    while True:
        await asyncio.sleep(rnd.random() * 0.5)
        selection, kind, query, since = some_selection(rnd), rnd.choice((*KINDS, *streaming)), [], 0
        if rnd.random() < 0.5 or kind in STREAMING_KINDS:
            query.append("allowWatchBookmarks=true")
        if kind == "known":
            known = load.known(selection.resource, 60)
            if not known:
                continue
            since = rnd.choice(known)
            query.append(f"resourceVersion={since}")
        elif kind in STREAMING_KINDS:
            query += ["sendInitialEvents=true", "resourceVersionMatch=NotOlderThan"]
        if kind in ("any", "initial_any"):
            query.append("resourceVersion=0")
        watched = Watched(kind, selection, "", load.records.acknowledged, since)
        pause = rnd.choice((0.0, 0.0, 0.0, 0.0, 0.2, 1.0))
        task = asyncio.create_task(follow(load, watched, query, pause))
        try:
            leave = clock() + rnd.choice((1.0, 4.0, 1e6))
            while not task.done() and (clock() < leave or load.quiet.is_set()):
                await asyncio.sleep(0.1)
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


async def watch_without_reading(load: Workload) -> None:
    """Open a WATCH of everything and never read it: it must not delay others."""
    while True:
        try:
            async with load.streams.get(f"{load.server.url}/api/v1/pods?watch=1"):
                await asyncio.sleep(8)
        except NO_ANSWER:
            await asyncio.sleep(0.2)


class Informer:
    """Lists, watches from there, resumes at the newest resourceVersion, and lists again after 410.

    If the server is killed, the connection may break between two events of one transaction. A WATCH from
    their revision does not show the second event. An event missed in this way is excused, but not after a
    WATCH that the server ended, which it does only between transactions.
    """

    def __init__(self, load: Workload, name: str) -> None:
        self._load = load
        self._rnd = load.random(name)
        self.selection: Selection = some_selection(self._rnd)
        self.state: dict[str, tuple[int, str]] | None = None
        self.rv = 0
        self.lists = 0
        # Keys seen at `rv` on a connection that may break; None: everything up to `rv` is known.
        self._shown: set[str] | None = None
        self._resumes: list[tuple[int, frozenset[str]]] = []
        self._doubts: list[tuple[Seen, str]] = []

    def missed(self, history: History) -> dict[str, int]:
        """Return keys (with the revision) whose events were missed by resuming within a transaction."""
        keys: dict[str, int] = {}
        for rv, shown in self._resumes:
            for event in history.events(self.selection, rv - 1):
                if event.revision > rv:
                    break
                if event.key not in shown:
                    keys[event.key] = min(rv, keys.get(event.key, rv))
        return keys

    def agrees(self, history: History) -> bool:
        """True if the informer has etcd's current state."""
        expected, found = history.state(self.selection, history.revision), self.state or {}
        differing = {key for key in expected.keys() | found.keys() if expected.get(key) != found.get(key)}
        return self.state is not None and differing <= self.missed(history).keys()

    def check(self) -> int:
        """Report events that did not fit the state; return how many were excused."""
        missed = self.missed(self._load.history)
        for seen, url in self._doubts:
            if missed.get(seen.key, seen.rv) >= seen.rv:
                self._load.violations.add("an informer's event does not fit its state", seen=seen, url=url)
        return len(missed)

    async def run(self) -> None:
        while True:
            try:
                if await self._list():
                    while await self._watch():
                        await asyncio.sleep(0.05)
            except NO_ANSWER:
                pass
            await asyncio.sleep(0.3)

    async def _list(self) -> bool:
        query = [*self.selection.query, *(["resourceVersion=0"] if not self.lists else [])]
        status, answer = await self._load.api.request("GET", f"{self.selection.path}?{'&'.join(query)}")
        if status != 200:
            return False
        self.lists += 1
        self.rv = int(answer["metadata"]["resourceVersion"])
        self.state, self._shown = {}, None
        for item in answer["items"]:
            metadata = item["metadata"]
            key = key_of(self.selection.resource, metadata["namespace"], metadata["name"])
            self.state[key] = (int(metadata["resourceVersion"]), metadata["annotations"]["mark"])
        return True

    async def _watch(self) -> bool:
        """Watch once; return False if the informer has to list again."""
        if self._shown is not None:
            self._resumes.append((self.rv, frozenset(self._shown)))
        watched = Watched("known", self.selection, "", self._load.records.acknowledged, self.rv)
        timeout = f"timeoutSeconds={self._rnd.choice((2, 5, 60))}"
        query = [f"resourceVersion={self.rv}", "allowWatchBookmarks=true", timeout]
        task = asyncio.create_task(follow(self._load, watched, query))
        taken = 0
        try:
            while True:
                await asyncio.wait((task,), timeout=0.1)
                ended = task.done()
                for seen in watched.events[taken:]:
                    self._apply(seen, watched.url)
                taken = len(watched.events)
                if ended:
                    if watched.complete:
                        self._shown = None
                    return watched.error != 410
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    def _apply(self, seen: Seen, url: str) -> None:
        assert self.state is not None
        if seen.rv < self.rv:
            self._load.violations.add("an informer's revision went back", seen=seen, rv=self.rv, url=url)
        if seen.rv > self.rv:
            self.rv, self._shown = seen.rv, set()
        if seen.type == "BOOKMARK":
            self._shown = None
            return
        if self._shown is not None:
            self._shown.add(seen.key)
        if (seen.type == "ADDED") == (seen.key in self.state):
            self._doubts.append((seen, url))
        if seen.type == "DELETED":
            self.state.pop(seen.key, None)
        else:
            self.state[seen.key] = (seen.rv, seen.mark)
