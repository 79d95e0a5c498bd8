"""Count the initial events of a WATCH while they are received, without decoding or keeping them.

With sendInitialEvents a WATCH begins with the objects that a LIST would return; a bookmark
with an annotation ends that part.
"""

from __future__ import annotations

import contextlib

import msgspec

from ktui.client.connection import ClientError
from ktui.client.list_stream import ListEnvelope, ListMeta
from ktui.documents.limits import DocumentError
from ktui.documents.typed import decode_json

LONGEST = 16 << 20  # bytes of one event: no object in etcd is larger than a few megabytes
_EVENT = b'{"type":'
_BOOKMARK = b'{"type":"BOOKMARK"'
_ERROR = b'{"type":"ERROR"'
_END = b"k8s.io/initial-events-end"


class _Metadata(msgspec.Struct, frozen=True):
    resource_version: str = msgspec.field(default="", name="resourceVersion")


class _Object(msgspec.Struct, frozen=True):
    metadata: _Metadata = _Metadata()
    message: str = ""


class _Event(msgspec.Struct, frozen=True):
    object: _Object = _Object()


class InitialEvents:
    """Takes a stream's chunks until `complete`. `items` counts the objects."""

    def __init__(self) -> None:
        self.items = 0
        self._rest = bytearray()
        self._refusal = b""  # a Status instead of events
        self._end = _Event()
        self._done = False

    def complete(self) -> bool:
        """True once the initial events are over, or the stream has failed."""
        return self._done

    def feed(self, chunk: bytes) -> None:
        """Raises ClientError for a line longer than any event."""
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
            self._take(line)

    def envelope(self) -> ListEnvelope:
        """The resourceVersion at the end of the initial events; the message of an ERROR or a Status."""
        refusal = self._refusal or (b"" if self.items or self._done else bytes(self._rest))
        if refusal:
            return _status(refusal)
        last = self._end.object
        return ListEnvelope(message=last.message, metadata=ListMeta(last.metadata.resource_version))

    def _take(self, line: bytes) -> None:
        if line.startswith(_ERROR) or (line.startswith(_BOOKMARK) and _END in line):
            self._done = True
            with contextlib.suppress(DocumentError):  # it ends all the same, without its revision
                self._end = decode_json(line, _Event)
        elif not line.startswith(_EVENT):
            self._refusal = self._refusal or line
        elif not line.startswith(_BOOKMARK):
            self.items += 1


def _status(text: bytes) -> ListEnvelope:
    try:
        return decode_json(text, ListEnvelope)
    except DocumentError:
        return ListEnvelope(message=text[:300].decode("utf-8", "replace").strip())
