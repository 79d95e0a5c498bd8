"""Read growing logs: follow a file through its rotations, or receive Events of an audit webhook."""

from __future__ import annotations

import asyncio
import hmac
import io
import os
import ssl
import stat
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import ThreadingHTTPServer
from typing import ClassVar

from msgspec.structs import replace

from ktui.audit.reading.files import refuse_endless
from ktui.audit.reading.json_values import Documents
from ktui.audit.reading.record_framing import Block, blocks, join_parts
from ktui.audit.reading.streams import LongLine
from ktui.audit.tally import Tally
from ktui.contract.events import AnyEvent
from ktui.contract.events.live import ClientShare, ResourceAsked
from ktui.traces.receiver import PostHandler

_LOOK = 0.3  # seconds between two checks of a file
_BODY = 64 << 20  # bytes of a request; --audit-webhook-batch-max-size is 400 Events
_READ = 1 << 16


class LiveTally:
    """A tally that threads feed while another reports on it; both hold `lock`."""

    def __init__(self, tally: Tally) -> None:
        self.tally = tally
        self.lock = threading.Lock()
        self.ended = threading.Event()
        self.caught_up = threading.Event()  # set once what existed at the start is read

    def feed(self, block: Block) -> None:
        with self.lock:
            self.tally.feed(block)


def follow(name: str, live: LiveTally) -> None:
    """Feed the lines of a file, and lines appended later, until `live.ended`. Raises OSError."""
    with live.lock:
        live.tally.open_file(name)
    stream = _GrowingFile(name, live)
    try:
        for block in join_parts(blocks(stream)):
            live.feed(block)
    finally:
        stream.close()


class _GrowingFile:
    """The bytes of a file and those appended later; after a rotation those of the new file."""

    def __init__(self, name: str, live: LiveTally) -> None:
        self._name, self._live = name, live
        refuse_endless(name, os.stat(name).st_mode)  # noqa: PTH116  # as below
        self._file = io.FileIO(name)
        self._replaced = False
        self._last = b"\n"

    def read1(self, size: int = -1, /) -> bytes:
        while True:
            if chunk := self._file.read(size if size > 0 else _READ) or b"":
                self._last = chunk[-1:]
                return chunk
            if self._reopened():
                if self._last != b"\n":  # end the unfinished line: the new file does not continue it
                    self._last = b"\n"
                    return b"\n"
            elif not self._replaced:
                self._live.caught_up.set()
                if self._live.ended.wait(_LOOK):
                    return b""

    def _reopened(self) -> bool:
        """Open the file again if it was replaced or truncated; True if reading continues in another file.

        A replaced file is first read to its end: lines may have been added before it was renamed.
        """
        mine = os.fstat(self._file.fileno())
        try:
            now = os.stat(self._name)  # noqa: PTH116  # as fstat
        except OSError:
            self._replaced = False
            return False  # renamed, and the new file does not exist yet
        if not stat.S_ISREG(now.st_mode):
            return False  # a FIFO or a device is not the next file of a log
        if (now.st_ino, now.st_dev) == (mine.st_ino, mine.st_dev):
            if now.st_size >= self._file.tell():
                return False
            self._file.seek(0)
            return True
        if not self._replaced:
            self._replaced = True
            return False
        self._file.close()
        self._file, self._replaced = io.FileIO(self._name), False
        return True

    def close(self) -> None:
        self._file.close()


@contextmanager
def listening(
    address: tuple[str, int], secret: str, live: LiveTally, tls: tuple[str, str] | None = None
) -> Iterator[str]:
    """Serve an audit webhook, and yield its URL; `tls`: files of certificate and key. Raises OSError."""
    handler = type("Handler", (_Webhook,), {"path_secret": f"/{secret}", "live": live})
    with ThreadingHTTPServer(address, handler) as server:
        server.daemon_threads = True
        if tls is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*tls)
            server.socket = context.wrap_socket(
                server.socket, server_side=True, do_handshake_on_connect=False
            )
        with live.lock:
            live.tally.open_file(f"audit webhook on {address[0]}:{server.server_port}")
        live.caught_up.set()
        thread = threading.Thread(target=server.serve_forever, args=(0.1,), daemon=True)
        thread.start()
        try:
            yield f"http{'s' if tls else ''}://{address[0]}:{server.server_port}/{secret}"
        finally:
            server.shutdown()
            thread.join()


class _Webhook(PostHandler):
    """One connection of an apiserver, which repeats a request that is not answered with 200."""

    timeout = 60
    path_secret: ClassVar[str]
    live: ClassVar[LiveTally]

    def do_POST(self) -> None:
        known = hmac.compare_digest(self.path.partition("?")[0].encode(), self.path_secret.encode())
        size = self.headers.get("Content-Length", "")
        if not known or not size.isdigit() or int(size) > _BODY:
            self.close_connection = True
            self.answer(404 if not known else 411 if not size.isdigit() else 413)
            return
        documents = Documents()
        left = int(size)
        while left and (chunk := self.rfile.read(min(left, _READ))):
            left -= len(chunk)
            self._feed(documents.push(chunk))
        self._feed(documents.finish())
        self.answer(400 if left else 200)

    def _feed(self, found: list[bytes | LongLine]) -> None:
        for value in found:
            self.live.feed([value] if isinstance(value, bytes) else value)


EVERY = 5.0  # seconds between two counts
MOST_CLIENTS = 5


async def audit_activity(name: str) -> AsyncIterator[list[AnyEvent]]:
    """Follow an audit log next to a dashboard's other sources.

    Every few seconds, until closed, yield the requests by resource and client that have changed, as
    ResourceAsked events. Raises OSError.
    """
    live, problems = LiveTally(Tally(datetime.now(UTC))), list[OSError]()

    def read() -> None:
        try:
            follow(name, live)
        except OSError as error:
            problems.append(error)
            live.ended.set()

    threading.Thread(target=read, name="audit log", daemon=True).start()
    sent: dict[str, ResourceAsked] = {}
    try:
        while not problems:
            found = {item.resource: item for item in await asyncio.to_thread(requests_by_resource, live)}
            if changed := [item for name, item in found.items() if sent.get(name) != item]:
                sent = found
                at = time.time()
                yield [replace(item, at=at) for item in changed]
            await asyncio.to_thread(live.ended.wait, EVERY if live.caught_up.is_set() else EVERY / 10)
        raise problems[0]
    finally:
        live.ended.set()


def requests_by_resource(live: LiveTally) -> list[ResourceAsked]:
    """Return the requests read so far by resource, with the clients that sent most."""
    requests: dict[str, Counter[str]] = {}
    lists: Counter[str] = Counter()
    with live.lock:
        span = max((period.seconds for period in live.tally.spans.values()), default=0.0)
        groups = list(live.tally.groups)
        for group in groups:
            resource = group.key.shape.resource
            if not resource:
                continue
            client = " ".join(filter(None, group.key.client)) or "unknown"  # user agent and account
            requests.setdefault(resource, Counter())[client] += group.count
            lists[resource] += group.count if group.key.shape.verb == "list" else 0
    return [
        ResourceAsked(
            resource=resource, requests=counts.total(), lists=lists[resource], span=span,
            clients=[ClientShare(client, count) for client, count in counts.most_common(MOST_CLIENTS)],
        )
        for resource, counts in requests.items()
    ]  # fmt: skip
