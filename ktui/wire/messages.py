"""Build protobuf responses for any stored object."""

from typing import Any

import msgspec

from ktui.wire import protobuf
from ktui.wire.codec import Codec
from ktui.wire.encode import encode_message, envelope_of
from ktui.wire.envelope import MAGIC
from ktui.wire.errors import CodecError, unknown_kind
from ktui.wire.schema import message_of

PARTIAL = "PartialObjectMetadata"


class Messages:
    """Complete responses, items of Lists, and events. All methods raise CodecError for invalid input."""

    def __init__(self, codec: Codec) -> None:
        self._codec = codec

    def object(self, raw: bytes, rv: int, api_version: str, kind: str) -> bytes:
        """Return a stored object as a complete response in `api_version`."""
        return envelope_of(api_version, kind, self._message(raw, rv, api_version, kind))

    def item(self, raw: bytes, rv: int, api_version: str, kind: str) -> bytes:
        """Return a stored object as an item of a List."""
        return protobuf.item_field(self._message(raw, rv, api_version, kind))

    def document(self, document: bytes) -> bytes:
        """Return a JSON object (a Status, a bookmark, a PartialObjectMetadata) as a complete response."""
        obj = msgspec.json.decode(document)
        api_version, kind = obj.get("apiVersion", ""), obj.get("kind", "")
        if kind == PARTIAL:
            return envelope_of(api_version, kind, protobuf.metadata_of_json(obj.get("metadata") or {}))
        return envelope_of(api_version, kind, _encoded(api_version, kind, obj))

    def partial_item(self, document: bytes) -> bytes:
        """Return the JSON of a PartialObjectMetadata as an item of a List."""
        metadata = msgspec.json.decode(document).get("metadata") or {}
        return protobuf.item_field(protobuf.metadata_of_json(metadata))

    def list_head(self, api_version: str, kind: str, metadata: dict[str, Any], item_bytes: int) -> bytes:
        """Return a List up to its first item; `item_bytes` is the size of all items together."""
        return protobuf.list_head(api_version, kind, metadata, item_bytes)

    def list_tail(self) -> bytes:
        return protobuf.list_tail()

    def frame(self, event_type: str, answer: bytes) -> bytes:
        """Return one event of a WATCH, with a complete response as its object."""
        return protobuf.watch_frame(event_type, answer)

    def _message(self, raw: bytes, rv: int, api_version: str, kind: str) -> bytes:
        if raw.startswith(MAGIC):
            return self._codec.message(raw, rv, api_version)
        return _encoded(api_version, kind, msgspec.json.decode(self._codec.object_json(raw, rv, api_version)))


def _encoded(api_version: str, kind: str, obj: dict[str, Any]) -> bytes:
    message = protobuf.STATUS if kind == "Status" else message_of(api_version, kind)
    if message is None:
        raise unknown_kind(api_version, kind)
    try:
        return encode_message(message, obj)
    except RecursionError:
        raise CodecError("nested too deeply") from None
