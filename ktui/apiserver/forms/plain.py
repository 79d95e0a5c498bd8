"""Render complete objects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ktui.apiserver.forms.base import event_line
from ktui.apiserver.framing import LIST_TAIL, custom_list_head, custom_list_tail, list_head
from ktui.kube.resources import Resource
from ktui.telemetry.meter import decoding

if TYPE_CHECKING:
    from ktui.cacher.events import OutEvent
    from ktui.storage.objects import StoredObject
    from ktui.wire.stored_codec import StoredCodec


class Plain:
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
