"""Render objects in protobuf: complete, or their metadata only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ktui.apiserver.forms.metadata_form import LIST_KIND, Partial
from ktui.apiserver.forms.plain import ObjectForm
from ktui.kube.resources import Resource

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ktui.cacher.watch_events import OutEvent
    from ktui.storage.objects import StoredObject
    from ktui.wire.pieces import Piece
    from ktui.wire.stored_codec import Messages


class Message(ObjectForm):
    """Complete objects. A List's message begins with the size of all its items: see `whole_head`."""

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
        return (self._encoded(obj),) if layout is None else layout.item(obj.raw, obj.rv)

    def item_size(self, obj: StoredObject) -> int:
        """Return the number of bytes of `item`."""
        layout = obj.layout() if self._spliced else None
        return len(self._encoded(obj)) if layout is None else layout.item_size

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
        """Encode a BOOKMARK or an ERROR."""
        return self._messages.document(event.document)


class PartialMessage(Message):
    """PartialObjectMetadata: cut from the stored message, or encoded from its JSON."""

    def __init__(self, resource: Resource, messages: Messages, partial: Partial, api_version: str) -> None:
        super().__init__(resource, messages)
        self._partial = partial
        self._list = (api_version, LIST_KIND)
        self._spliced = partial.spliced

    def whole(self, obj: StoredObject) -> bytes:
        return self._messages.document(self._partial.whole(obj))

    def of_document(self, document: bytes) -> bytes:
        return self._messages.document(self._partial.of_document(document))

    def item(self, obj: StoredObject) -> Sequence[Piece]:
        layout = obj.layout() if self._spliced else None
        return (self._encoded(obj),) if layout is None else layout.metadata(obj.raw, obj.rv)

    def item_size(self, obj: StoredObject) -> int:
        layout = obj.layout() if self._spliced else None
        return len(self._encoded(obj)) if layout is None else layout.metadata_size

    def _encoded(self, obj: StoredObject) -> bytes:
        return self._messages.partial_item(self._partial.whole(obj))

    def _of_event(self, event: OutEvent) -> bytes:
        if event.type == "ERROR":
            return self._messages.document(event.document)
        return self.of_document(event.document)
