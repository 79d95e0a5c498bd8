"""A client that LISTs at exact, old revisions, as a backup does that compares two points in time."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

from ktui.client.api import ApiClient
from ktui.client.list_stream import ListBody

AGE = 200.0  # seconds: beyond the snapshots of a busy cache, before etcd's compaction


class OldRevisions:
    """Each call records the present revision, and LISTs at the one recorded AGE seconds before."""

    def __init__(
        self, client: ApiClient, collection: str, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._client = client
        self._collection = collection
        self._clock = clock
        self._noted: deque[tuple[float, str]] = deque()

    async def __call__(self) -> None:
        now, old = self._clock(), ""
        while self._noted and now - self._noted[0][0] >= AGE:
            _, old = self._noted.popleft()
        if old:
            exact = f"resourceVersion={old}&resourceVersionMatch=Exact"
            await self._client.send_timed(f"{self._collection}?{exact}")
        body = ListBody(collection=True)
        fired = await self._client.send_timed(f"{self._collection}?limit=1", on_chunk=body.feed)
        version = body.envelope().metadata.resource_version
        if fired.status == 200 and version.isdecimal():
            self._noted.append((now, version))
