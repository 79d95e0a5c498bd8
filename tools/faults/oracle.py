"""An independent watch of etcd, which bypasses the proxies and records the history."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import random
from typing import Any

import aiohttp

from tools.faults.cluster import Cluster, encoded
from tools.faults.history import Change, History
from tools.faults.objects import RESOURCES, mark_in

QUIET_SECONDS = 15.0


class OracleGapError(Exception):
    """etcd was compacted before the oracle had received everything, so the schedule proves nothing."""


class Oracle:
    """Watches /registry/ at any running member, and changes to another one if it fails."""

    def __init__(self, cluster: Cluster, history: History) -> None:
        self.revision = 0
        self._cluster = cluster
        self._history = history

    async def run(self) -> None:
        """Watch until cancelled."""
        timeout = aiohttp.ClientTimeout(total=None, sock_read=QUIET_SECONDS)
        async with aiohttp.ClientSession(timeout=timeout, read_bufsize=1 << 22) as http:
            while True:
                running = [member for member in self._cluster.members if member.running]
                if running:
                    with contextlib.suppress(aiohttp.ClientError, TimeoutError, ValueError, ConnectionError):
                        await self._follow(http, random.choice(running).url)
                await asyncio.sleep(0.05)

    async def _follow(self, http: aiohttp.ClientSession, url: str) -> None:
        create = {
            "key": encoded("/registry/"),
            "range_end": encoded("/registry0"),
            "start_revision": str(self.revision + 1),
        }
        async with http.post(f"{url}/v3/watch", json={"create_request": create}) as answer:
            rest = b""
            async for piece in answer.content.iter_any():
                *lines, rest = (rest + piece).split(b"\n")
                for line in filter(bytes.strip, lines):
                    if not self._apply(json.loads(line).get("result") or {}):
                        return

    def _apply(self, result: dict[str, Any]) -> bool:
        """Add events to the history; False if etcd has cancelled the watch."""
        if int(result.get("compact_revision", 0)):
            raise OracleGapError(str(result))
        if result.get("canceled"):
            return False
        newest = self.revision
        for event in result.get("events", []):
            kv = event["kv"]
            revision = int(kv["mod_revision"])
            if revision <= self.revision:
                continue
            newest = revision
            key = base64.b64decode(kv["key"]).decode()
            if key.split("/")[2] not in RESOURCES:
                continue
            value = base64.b64decode(kv.get("value", ""))
            mark = None if event.get("type") == "DELETE" else mark_in(value)
            self._history.add(Change(revision, key, mark, value))
        self.revision = newest
        return True
