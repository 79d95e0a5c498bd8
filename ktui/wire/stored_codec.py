"""The parts of `ktui.wire` that the API server needs, in one object."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import msgspec

from ktui.wire import encode, gotypes, misfits
from ktui.wire.codec import Codec
from ktui.wire.encode import encode_message, envelope_of
from ktui.wire.envelope import MAGIC
from ktui.wire.pb import CodecError, put_bytes, put_varint, unknown_kind
from ktui.wire.schema import META, message_of

ITEM = 2  # the field of a List's items


class Messages:
    """Responses in protobuf: complete ones, items of Lists, and events.

    A response has the envelope of storage (`k8s\\0`, typeMeta, message). A List's items are the bare messages
    of its objects. All methods raise CodecError for invalid input.
    """

    list_tail = b"\x1a\0\x22\0"  # the part of a List after its last item

    def __init__(self, codec: Codec) -> None:
        self._codec = codec

    def list_head(self, api_version: str, kind: str, metadata: dict[str, Any], item_bytes: int) -> bytes:
        """Return a List up to its first item; `item_bytes` is the size of all items together."""
        type_meta = put_bytes(1, api_version.encode()) + put_bytes(2, kind.encode())
        list_meta = put_bytes(1, encode_message("meta.v1.ListMeta", metadata))
        size = put_varint(len(list_meta) + item_bytes)
        return MAGIC + put_bytes(1, type_meta) + b"\x12" + size + list_meta

    def frame(self, event_type: str, document: bytes) -> bytes:
        """Return one event of a WATCH: four bytes of length, then a WatchEvent with a complete response."""
        event = put_bytes(1, event_type.encode()) + put_bytes(2, put_bytes(1, document))
        return len(event).to_bytes(4, "big") + event

    def object(self, raw: bytes, rv: int, api_version: str, kind: str) -> bytes:
        """Return a stored object as a complete response in `api_version`."""
        return envelope_of(api_version, kind, self._message(raw, rv, api_version, kind))

    def item(self, raw: bytes, rv: int, api_version: str, kind: str) -> bytes:
        """Return a stored object as an item of a List."""
        return put_bytes(ITEM, self._message(raw, rv, api_version, kind))

    def document(self, document: bytes) -> bytes:
        """Return a JSON object (a Status, a bookmark, a PartialObjectMetadata) as a complete response."""
        obj = msgspec.json.decode(document)
        api_version, kind = obj.get("apiVersion", ""), obj.get("kind", "")
        if kind == "PartialObjectMetadata":
            return envelope_of(api_version, kind, metadata_of_json(obj.get("metadata") or {}))
        return envelope_of(api_version, kind, _encoded(api_version, kind, obj))

    def partial_item(self, document: bytes) -> bytes:
        """Return the JSON of a PartialObjectMetadata as an item of a List."""
        return put_bytes(ITEM, metadata_of_json(msgspec.json.decode(document).get("metadata") or {}))

    def _message(self, raw: bytes, rv: int, api_version: str, kind: str) -> bytes:
        if raw.startswith(MAGIC):
            return self._codec.message(raw, rv, api_version)
        return _encoded(api_version, kind, msgspec.json.decode(self._codec.object_json(raw, rv, api_version)))


def metadata_of_json(metadata: dict[str, Any]) -> bytes:
    """Return the message of a PartialObjectMetadata: metadata and nothing else."""
    return put_bytes(1, encode_message(META, metadata))


# The core group's discovery documents have no apiVersion.
OF_NO_GROUP = ("Status", "APIVersions", "APIResourceList")


def _encoded(api_version: str, kind: str, obj: dict[str, Any]) -> bytes:
    message = message_of("v1" if kind in OF_NO_GROUP else api_version, kind)
    if message is None:
        raise unknown_kind(api_version, kind)
    try:
        return encode_message(message, obj)
    except RecursionError:
        raise CodecError("nested too deeply") from None


# Kinds with many objects in every cluster, or with frequent writes.
COMMON = (
    ("v1", "ConfigMap"), ("v1", "Event"), ("v1", "Namespace"), ("v1", "Node"), ("v1", "Pod"),
    ("v1", "Secret"), ("v1", "Service"), ("apps/v1", "Deployment"), ("apps/v1", "ReplicaSet"),
    ("coordination.k8s.io/v1", "Lease"), ("discovery.k8s.io/v1", "EndpointSlice"),
)  # fmt: skip


def prepare(*codecs: Codec) -> None:
    """Generate the functions of common kinds in advance, as generating them would delay other requests."""
    for codec in codecs:
        for api_version, kind in COMMON:
            codec.prepare(api_version, kind)


class StoredCodec(Codec):
    """Stored bytes to JSON and protobuf of any served version, and back."""

    @cached_property
    def messages(self) -> Messages:
        """The same codec for protobuf responses."""
        return Messages(self)

    encode_object = staticmethod(encode.encode_object)
    go_mismatch = staticmethod(misfits.go_mismatch)
    clear_nulls = staticmethod(gotypes.clear_nulls)
    unknown_fields = staticmethod(gotypes.unknown_fields)
    drop_unknown = staticmethod(gotypes.drop_unknown)

    @staticmethod
    def knows(api_version: str, kind: str) -> bool:
        return message_of(api_version, kind) is not None
