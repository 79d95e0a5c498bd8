"""The interfaces of the forms, and complete objects, as JSON or in protobuf."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from operator import attrgetter
from typing import Any

from ktui.apiserver.framing import LIST_TAIL, custom_list_head, custom_list_tail, list_head
from ktui.cacher.watch_events import OutEvent
from ktui.kube.resources import Resource
from ktui.storage.objects import StoredObject
from ktui.telemetry.meter import decoding
from ktui.telemetry.off_loop import LARGE_BYTES
from ktui.wire.pieces import Layout, Piece
from ktui.wire.stored_codec import Messages, StoredCodec


class EventForm(ABC):
    """Renders the events of a WATCH. `large_bytes`: from this size an object takes milliseconds to render."""

    large_bytes = LARGE_BYTES

    @abstractmethod
    def event(self, event: OutEvent, *, first: bool) -> bytes:
        """Return a line, encoded once for all watchers with this form. UnfitEventError ends the stream."""

    def second(self) -> int:
        """Return the second (Unix) for which a line is right; 0 if it has no ages."""
        return 0


class UnfitEventError(Exception):
    """The negotiated form cannot represent an event."""


class ObjectForm(EventForm):
    """Renders objects of one resource, as JSON or as protobuf messages."""

    def whole(self, obj: StoredObject) -> bytes:
        return b"".join(self.item(obj))

    @abstractmethod
    def of_document(self, document: bytes) -> bytes:
        """Render an object given as JSON: the result of a dry run, or the final state of a deleted object."""

    @abstractmethod
    def list_head(self, metadata: dict[str, Any]) -> bytes:
        """Render a List up to its first item."""

    def list_tail(self, metadata: dict[str, Any]) -> bytes:
        """Render a List's end, after the last item."""
        return LIST_TAIL

    def empty_list(self, metadata: dict[str, Any]) -> bytes:
        """Render a List without items; where upstream's slice is nil, it is null."""
        return self.list_head(metadata) + self.list_tail(metadata)

    @abstractmethod
    def item(self, obj: StoredObject) -> Sequence[Piece]:
        """Render one item of a List, in pieces to be joined."""

    def kept(self, obj: StoredObject) -> Sequence[Piece] | None:
        """Return the pieces of `item` if that is fast however large the object is, else None."""
        return None


def event_line(event_type: str, document: bytes) -> bytes:
    """Return an event as a line of JSON: `{"type":…,"object":…}` and a newline."""
    return b'{"type":"%b","object":%b}\n' % (event_type.encode(), document)


class Plain(ObjectForm):
    """Objects in the stored version, from cached pieces."""

    def __init__(self, resource: Resource) -> None:
        self._resource = resource

    def whole(self, obj: StoredObject) -> bytes:
        return obj.full_json()

    def of_document(self, document: bytes) -> bytes:
        return document

    def list_head(self, metadata: dict[str, Any]) -> bytes:
        if self._resource.custom:
            return custom_list_head(self._resource.api_version)
        return list_head(self._resource.list_kind, self._resource.api_version, metadata)

    def list_tail(self, metadata: dict[str, Any]) -> bytes:
        return custom_list_tail(self._resource.list_kind, metadata) if self._resource.custom else LIST_TAIL

    def item(self, obj: StoredObject) -> Sequence[bytes]:
        return obj.item_pieces()

    def kept(self, obj: StoredObject) -> Sequence[bytes] | None:
        pieces = obj.transcoded
        if pieces is not None:
            obj.used = True
        return pieces

    def event(self, event: OutEvent, *, first: bool) -> bytes:
        return event.line()


class Converted(Plain):
    """Objects in another version than the stored one, converted for each response."""

    def __init__(self, resource: Resource, codec: StoredCodec) -> None:
        super().__init__(resource)
        self._codec = codec
        self._version = resource.api_version

    def whole(self, obj: StoredObject) -> bytes:
        decoding(obj.size)
        return self._codec.object_json(obj.raw, obj.rv, self._version)

    def item(self, obj: StoredObject) -> Sequence[bytes]:
        decoding(obj.size)
        return self._codec.item_pieces(obj.raw, obj.rv, self._version)

    def kept(self, obj: StoredObject) -> Sequence[bytes] | None:
        return None

    def event(self, event: OutEvent, *, first: bool) -> bytes:
        return event.encoding(self._version, self._line)

    def _line(self, event: OutEvent) -> bytes:
        return event_line(event.type, event.document if event.object is None else self.whole(event.object))


class Message(ObjectForm):
    """Complete objects. A List's message begins with the size of all its items: see `whole_head`."""

    # How a stored message becomes an item, and that item's size.
    _cut = staticmethod(Layout.item)
    _size = staticmethod(attrgetter("item_size"))

    def __init__(self, resource: Resource, messages: Messages) -> None:
        self._messages = messages
        self._api_version = resource.api_version
        self._kind = resource.kind
        self._list = (resource.api_version, resource.list_kind)
        self._spliced = resource.served_as_stored

    def whole(self, obj: StoredObject) -> bytes:
        return self._messages.object(obj.raw, obj.rv, self._api_version, self._kind)

    def of_document(self, document: bytes) -> bytes:
        return self._messages.document(document)

    def whole_head(self, metadata: dict[str, Any], item_bytes: int) -> bytes:
        """Return a List's message up to its first item; `item_bytes` is the size of all items."""
        return self._messages.list_head(*self._list, metadata, item_bytes)

    def list_head(self, metadata: dict[str, Any]) -> bytes:
        """Return the head of an empty List."""
        return self.whole_head(metadata, 0)

    def list_tail(self, metadata: dict[str, Any]) -> bytes:
        return self._messages.list_tail

    def item(self, obj: StoredObject) -> Sequence[Piece]:
        layout = obj.layout() if self._spliced else None
        return (self._encoded(obj),) if layout is None else self._cut(layout, obj.raw, obj.rv)

    def item_size(self, obj: StoredObject) -> int:
        layout = obj.layout() if self._spliced else None
        return len(self._encoded(obj)) if layout is None else self._size(layout)

    def ready(self, obj: StoredObject) -> bool:
        """Whether the object's message can be cut from stored bytes, without encoding."""
        return self._spliced and obj.layout() is not None

    def kept(self, obj: StoredObject) -> Sequence[Piece] | None:
        return self.item(obj) if self.ready(obj) else None

    def event(self, event: OutEvent, *, first: bool) -> bytes:
        return event.encoding(("protobuf", *self._list), self._frame)

    def _encoded(self, obj: StoredObject) -> bytes:
        return self._messages.item(obj.raw, obj.rv, self._api_version, self._kind)

    def _frame(self, event: OutEvent) -> bytes:
        answer = self._of_event(event) if event.object is None else self.whole(event.object)
        return self._messages.frame(event.type, answer)

    def _of_event(self, event: OutEvent) -> bytes:
        return self._messages.document(event.document)
