"""An informer's loop: LIST with resourceVersion=0, then WATCH from there, again after every end."""

from __future__ import annotations

import asyncio

import msgspec

from ktui.client.api import ApiClient
from ktui.client.connection import ClientError

WATCH_SECONDS = 300
BACKOFF_SECONDS = 2.0


class _Meta(msgspec.Struct, rename="camel"):
    resource_version: str = ""


class _List(msgspec.Struct):
    metadata: _Meta


async def run_informer(client: ApiClient, collection: str, selector: str = "") -> None:
    """Keep watching `collection` (a path, plus an encoded selector) until cancelled."""
    extra = f"&{selector}" if selector else ""
    while True:
        try:
            fired = await client.fire(f"{collection}?resourceVersion=0{extra}", keep_body=True)
            if fired.status == 200 and fired.body is not None:
                version = msgspec.json.decode(fired.body, type=_List).metadata.resource_version
                since = f"resourceVersion={version}&timeoutSeconds={WATCH_SECONDS}"
                query = f"watch=true&allowWatchBookmarks=true&{since}{extra}"
                async for _ in client.lines(f"{collection}?{query}"):
                    pass  # a cache would apply it; here the server's work is the point
        except ClientError:
            pass  # the server is restarting or refuses; as client-go, back off and relist
        await asyncio.sleep(BACKOFF_SECONDS)
