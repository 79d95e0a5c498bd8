"""An informer's loop: LIST with resourceVersion=0, then WATCH from there; again after every end.

A WATCH that is refused with 429 is repeated without another LIST.
"""

from __future__ import annotations

import asyncio
import contextlib

from ktui.client.api import ApiClient
from ktui.client.connection import ClientError, WatchRefused
from ktui.client.list_stream import ListBody
from ktui.workloads.behaviours.backoff import ReflectorBackoff
from ktui.workloads.running.figures import REJECTED

WATCH_SECONDS = 300
BACKOFF_SECONDS = 2.0


async def run_informer(client: ApiClient, collection: str, selector: str = "") -> None:
    """Keep watching `collection` (a path, plus an encoded selector) until cancelled."""
    extra = f"&{selector}" if selector else ""
    backoff = ReflectorBackoff()
    while True:
        # The server is restarting, refuses, or its response is broken: back off and relist as client-go does.
        with contextlib.suppress(ClientError):
            await _list_and_watch(client, collection, extra, backoff)
        await asyncio.sleep(BACKOFF_SECONDS)


async def _list_and_watch(client: ApiClient, collection: str, extra: str, backoff: ReflectorBackoff) -> None:
    body = ListBody(collection=True)
    fired = await client.send_timed(f"{collection}?resourceVersion=0{extra}", on_chunk=body.feed)
    version = body.envelope().metadata.resource_version
    if fired.status != 200 or not version.isdecimal():
        return
    since = f"resourceVersion={version}&timeoutSeconds={WATCH_SECONDS}"
    query = f"watch=true&allowWatchBookmarks=true&{since}{extra}"
    while True:
        try:
            async for _ in client.watch(f"{collection}?{query}"):
                pass  # a cache would apply it; here only the server's work matters
            return
        except WatchRefused as refusal:
            if refusal.status != REJECTED:
                raise
            await asyncio.sleep(max(refusal.retry_after, backoff.pause()))
