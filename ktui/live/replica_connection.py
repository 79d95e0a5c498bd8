"""One connection to one replica: read its metrics and documents within size limits."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass

from ktui.client.api import ApiClient, Received
from ktui.client.connection import ClientError
from ktui.client.kube_connection import KubeConnection
from ktui.client.metrics_page import Exposition, ExpositionError
from ktui.live.families import WANTED
from ktui.live.page_figures import ScrapePage, page_of
from ktui.live.server_events import Load

STALL_SECONDS = 5.0  # without a byte of a page that is being read, after which its replica is down
IDLE_SECONDS = 300.0  # for which an idle connection is kept between scrapes
MOST_PAGE_BYTES = 512 << 20
MOST_DOCUMENT_BYTES = 8 << 20
SLICE = 32 * 1024  # bytes of a page parsed at a time: under 2 ms
METRICS = "/metrics"
TEXT, JSON = "text/plain;version=0.0.4;q=1,*/*;q=0.1", "application/json"
_START_TIME = "process_start_time_seconds"
_LAST_FAMILY = b"process_t"  # pages are sorted by name: a complete one goes beyond this name


@dataclass(slots=True)
class Scrape:
    """A page, the time of its request (Unix seconds), and the bytes and milliseconds of its transport."""

    page: ScrapePage
    at: float
    ms: float
    bytes: int
    lines: int


class ReplicaConnection:
    """One connection; `replica` is the name of the replica at its other end, "" until it is known.

    Methods raise ClientError; RefusedError for a status other than 200. They wait for each other: a second
    connection could lead to another replica.
    """

    def __init__(self, target: KubeConnection, user_agent: str, load: Load) -> None:
        """Every request adds its cost to `load`."""
        self.replica = ""
        self.lost = False  # it broke: what is at its other end is known after the next scrape
        self.late: asyncio.Task[Scrape] | None = None  # a page that stalled, and may still arrive
        self.reading = ""  # the path of the answer that is being read
        self._heard = 0.0  # when the answer that is being read last had a byte
        self._one = asyncio.Lock()
        self.url = target.url
        self._client = ApiClient(target, user_agent, idle_seconds=IDLE_SECONDS)
        self._load = load

    @property
    def busy(self) -> bool:
        return self._one.locked()

    @property
    def stalls_in(self) -> float:
        """Seconds until the answer that is being read counts as stalled, unless a byte of it arrives."""
        return self._heard + STALL_SECONDS - time.monotonic()

    @property
    def stalled(self) -> bool:
        return self.busy and self.stalls_in <= 0

    async def close(self) -> None:
        if self.late is not None:
            self.late.cancel()
            await asyncio.gather(self.late, return_exceptions=True)
            self.late = None
        await self._client.close()

    async def scrape(self, minor: int, clock: Callable[[], float]) -> Scrape:
        """Read /metrics and return its figures; `minor` is the server's, 0 if unknown."""
        at, received, reader = clock(), Received(), Exposition(WANTED)
        try:
            async for piece in self._read(METRICS, TEXT, received):
                if reader.bytes > MOST_PAGE_BYTES:
                    raise ExpositionError(f"it has more than {MOST_PAGE_BYTES >> 20} MiB")
                for start in range(0, len(piece), SLICE):
                    reader.feed(piece[start : start + SLICE])
                    await asyncio.sleep(0)
            reader.finish()
            if reader.last_family < _LAST_FAMILY and _START_TIME not in reader.families:
                raise ExpositionError("the page is incomplete")
        except ExpositionError as error:
            raise ClientError(f"/metrics of {self.url} cannot be used: {error}") from error
        page = await asyncio.to_thread(page_of, reader.samples, reader.families, minor)
        return Scrape(page, at, received.ms, reader.bytes, reader.lines)

    async def document(self, path: str, accept: str = JSON) -> bytes:
        """Return an answer of at most MOST_DOCUMENT_BYTES."""
        content, received = bytearray(), Received()
        async for piece in self._read(path, accept, received):
            content += piece
            if len(content) > MOST_DOCUMENT_BYTES:
                raise ClientError(f"the answer to {path} has more than {MOST_DOCUMENT_BYTES >> 20} MiB")
        return bytes(content)

    async def _read(self, path: str, accept: str, received: Received) -> AsyncGenerator[bytes, None]:
        async with self._one:
            self._load.requests += 1
            self.reading, self._heard = path.partition("?")[0], time.monotonic()
            try:
                async for piece in self._client.read(path, accept, received):
                    self._heard = time.monotonic()
                    yield piece
            finally:
                self._load.received_bytes += received.wire_bytes
                self._load.busy_ms += received.ms
