"""Send a request and record its cost as measured by client and server.

The client measures first byte and total; the server's cost report for this request (by its id)
says what was read, decoded and sent. Bodies are counted while they are received, and kept only
if the caller stores them.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

import msgspec

from ktui.client.connection import ClientError, retry_after
from ktui.client.ktui_api import KtuiApi
from ktui.client.list_stream import KEPT_BYTES, ListBody, ListEnvelope, ListMeta
from ktui.core.lab.form import verb_of
from ktui.core.lab.measured import Measured, joined_route
from ktui.documents.limits import DocumentError, decode_json

if TYPE_CHECKING:
    from ktui.client.api import ApiClient, TimedResponse

_ENVELOPE = b"k8s\0"  # magic number before a runtime.Unknown message
_VARINT, _BYTES = 0, 2


def member(message: bytes, *path: int) -> bytes:
    """Return a field of a protobuf message by its numbers from the outside in; b"" if missing."""
    for number in path:
        fields = _fields(message.removeprefix(_ENVELOPE))
        message = next((content for found, content in fields if found == number), b"")
    return message


def _fields(message: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield number and content of each length-delimited field; a malformed rest is left out."""
    at = 0
    while at < len(message):
        tag, at = _varint(message, at)
        size, at = _varint(message, at)
        if tag & 7 == _BYTES:
            yield tag >> 3, message[at : at + size]
            at += size
        elif tag & 7 != _VARINT:
            return


def _varint(message: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(message) and shift < 64:
        byte = message[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            break
    return value, at


LONGEST = 16 << 20  # bytes of one event: no object in etcd is larger than a few megabytes
_EVENT = b'{"type":'
_BOOKMARK = b'{"type":"BOOKMARK"'
_ERROR = b'{"type":"ERROR"'
# Field numbers from the outside in: a WatchEvent's type, its object's resourceVersion, its Status' message.
_TYPE, _REVISION, _MESSAGE = (1,), (2, 1, 2, 1, 6), (2, 1, 2, 3)
_STATUS_MESSAGE = (2, 3)
_END = b"k8s.io/initial-events-end"


class _Event(msgspec.Struct, frozen=True):
    object: ListEnvelope = ListEnvelope()


class InitialEvents:
    """Counts the objects (`items`) in a stream's chunks until `complete`, without decoding or keeping them.

    With sendInitialEvents a WATCH begins with the objects that a LIST would return, and marks their end with
    an annotated bookmark.
    """

    def __init__(self) -> None:
        self.items = 0
        self._rest = bytearray()
        self._refusal = b""  # a Status that came instead of events
        self._end = ListEnvelope()  # of the event that ended the initial ones
        self._framed: bool | None = None  # True: protobuf frames, False: lines of JSON
        self._done = False

    def complete(self) -> bool:
        """Return True once the initial events have ended, or the stream has failed."""
        return self._done

    def feed(self, chunk: bytes) -> None:
        """Count the events of a chunk. Raises ClientError for an event longer than any object."""
        if self._framed is None and chunk:
            self._framed = chunk[0] == 0  # first byte of a frame's size; JSON begins with a brace
        if self._framed:
            self._feed_frames(chunk)
            return
        head, found, tail = chunk.rpartition(b"\n")
        self._rest += head if found else tail
        if not found:
            if len(self._rest) > LONGEST:
                raise ClientError(f"an event of the stream is longer than {LONGEST >> 20} MiB")
            return
        lines, self._rest = bytes(self._rest).split(b"\n"), bytearray(tail)
        for line in lines:
            if self._done:
                return
            self._count_line(line)

    def envelope(self) -> ListEnvelope:
        """Return the resourceVersion of the initial events, or the message of an ERROR or Status."""
        unread = b"" if (self.items or self._done) and not self._refusal else bytes(self._rest)
        refusal = self._refusal + unread
        if refusal:
            return _status(refusal)
        last = self._end
        return ListEnvelope(message=last.message, metadata=ListMeta(last.metadata.resource_version))

    def _feed_frames(self, chunk: bytes) -> None:
        """Read protobuf frames: four bytes with the size, then the event."""
        self._rest += chunk
        start = 0
        while len(self._rest) >= start + 4 and not self._done:
            end = start + 4 + int.from_bytes(self._rest[start : start + 4])
            if end - start > LONGEST:
                raise ClientError(f"an event of the stream is longer than {LONGEST >> 20} MiB")
            if len(self._rest) < end:
                break
            self._count_frame(bytes(self._rest[start + 4 : end]))
            start = end
        del self._rest[:start]

    def _count_frame(self, event: bytes) -> None:
        kind = member(event, *_TYPE)
        if kind == b"ERROR" or (kind == b"BOOKMARK" and _END in event):
            self._done = True
            text = [member(event, *path).decode("utf-8", "replace") for path in (_REVISION, _MESSAGE)]
            revision, message = (text[0], "") if kind == b"BOOKMARK" else ("", text[1])
            self._end = ListEnvelope(message=message, metadata=ListMeta(revision))
        elif kind != b"BOOKMARK":
            self.items += 1

    def _count_line(self, line: bytes) -> None:
        if line.startswith(_ERROR) or (line.startswith(_BOOKMARK) and _END in line):
            self._done = True
            with contextlib.suppress(DocumentError):  # the end of the initial events, but without a revision
                self._end = decode_json(line, _Event).object
        elif not line.startswith(_EVENT):
            if len(self._refusal) < KEPT_BYTES:
                self._refusal += line + b"\n"
        elif not line.startswith(_BOOKMARK):
            self.items += 1


def _status(text: bytes) -> ListEnvelope:
    if text.startswith(_ENVELOPE):
        return ListEnvelope(message=member(text, *_STATUS_MESSAGE).decode("utf-8", "replace"))
    try:
        return decode_json(text, ListEnvelope)
    except DocumentError:
        return ListEnvelope(message=text[:300].decode("utf-8", "replace").strip())


Body = ListBody | InitialEvents
Keep = Callable[[bytes], object]

NO_END = "the stream ended before the end of its initial events"
NO_ACCOUNT = "the server's cost report of this request did not arrive: counts may be low"


@dataclass(frozen=True, slots=True)
class ApiRequest:
    """A request to send. With `all_pages`, the continue tokens of a LIST are followed to the end.

    A WATCH is read up to the end of its initial events. `client` is the User-Agent to
    send, "" for ktui's own; `accept` the media type, "" for plain JSON.
    """

    path: str
    all_pages: bool = False
    client: str = ""
    accept: str = ""
    traceparent: str = ""  # asks the server to trace it

    @property
    def headers(self) -> dict[str, str]:
        headers = {"User-Agent": self.client, "Accept": self.accept, "traceparent": self.traceparent}
        return {name: value for name, value in headers.items() if value}


async def pages(
    client: ApiClient, request: ApiRequest, keep: Keep | None
) -> AsyncIterator[tuple[TimedResponse, Body]]:
    """Send the request and yield each page. `keep` is called with every chunk. Raises ClientError."""
    page, last = request.path, ""
    while page:
        response, body = await _send_counted(client, page, request.headers, keep)
        yield response, body
        token = body.envelope().metadata.continue_token
        follow = request.all_pages and token and response.status == 200
        if follow and token == last:
            raise ClientError(f"{client.connection.url} repeats a page: its continue token does not change")
        page, last = (next_page(request.path, token) if follow else ""), token


async def send_measured(client: ApiClient, request: ApiRequest, keep: Keep | None = None) -> Measured:
    """Send a request to a ktui server and return its cost. Raises ClientError."""
    server = KtuiApi(client)
    await server.keep_requests()
    measured = Measured(request.path)
    async for response, body in pages(client, request, keep):
        add_page(measured, response, body)
        account = await server.finished_request(response.request_id) if response.request_id else None
        if account is not None:
            measured.add_account(account)
            continue
        measured.add_cost(response.cost)
        if response.request_id and NO_ACCOUNT not in measured.remarks:
            measured.remarks.append(NO_ACCOUNT)
    return measured


async def _send_counted(
    client: ApiClient, path: str, headers: dict[str, str], keep: Keep | None
) -> tuple[TimedResponse, Body]:
    verb = verb_of(path)
    stream = InitialEvents() if verb == "WATCH" else None
    countable = verb == "LIST" and "protobuf" not in headers.get("Accept", "")
    body: Body = stream or ListBody(collection=countable)

    def receive(chunk: bytes) -> None:
        body.feed(chunk)
        if keep is not None:
            keep(chunk)

    if stream is None:
        return await client.send_timed(path, headers=headers, on_chunk=receive), body
    return await client.send_timed(path, headers=headers, on_chunk=receive, enough=stream.complete), body


def add_page(measured: Measured, fired: TimedResponse, body: Body) -> None:
    """Add what the response of a page contains."""
    envelope = body.envelope()
    measured.pages += 1
    if audit_id := fired.headers.get("audit-id", ""):
        measured.audit_ids.append(audit_id)
    measured.status = fired.status
    measured.first_route = measured.first_route or fired.route
    measured.route = joined_route(measured.route, fired.route)
    if not measured.reason_id:
        measured.reason_id, measured.reason = fired.reason
    measured.retry_after = retry_after(fired.headers)
    measured.first_byte_ms = measured.first_byte_ms or fired.first_byte_ms
    measured.total_ms += fired.total_ms
    measured.body_bytes += fired.body_bytes
    if "seats" in fired.cost:
        measured.seats = max(measured.seats or 0, fired.cost["seats"])
    measured.items += body.items
    metadata = envelope.metadata
    measured.rv = metadata.resource_version or measured.rv
    measured.continue_token, measured.remaining = metadata.continue_token, metadata.remaining
    measured.message = (envelope.message or f"HTTP {fired.status}") if fired.status >= 400 else ""
    if isinstance(body, InitialEvents) and fired.status == 200:
        measured.message = envelope.message or ("" if body.complete() else NO_END)


def next_page(path: str, token: str) -> str:
    """Return the path of the page at `token`, which must not be sent with a resourceVersion."""
    parts = urlsplit(path)
    kept = [
        (key, value)
        for key, value in parse_qsl(parts.query, keep_blank_values=True)
        if key not in ("continue", "resourceVersion", "resourceVersionMatch")
    ]
    return f"{parts.path}?{urlencode([*kept, ('continue', token)], quote_via=quote)}"
