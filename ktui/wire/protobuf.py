"""Responses in protobuf: messages and their envelopes.

A response has the envelope of storage (`k8s\\0`, typeMeta, message). A List's items are the bare messages of
its objects.
"""

from typing import Any

from ktui.wire.encode import encode_message
from ktui.wire.envelope import MAGIC
from ktui.wire.pb import put_bytes, put_varint
from ktui.wire.schema import META

STATUS = "meta.v1.Status"
LIST_META = "meta.v1.ListMeta"

_TAIL = b"\x1a\0\x22\0"


def metadata_of_json(metadata: dict[str, Any]) -> bytes:
    """Return the message of a PartialObjectMetadata: metadata and nothing else."""
    return put_bytes(1, encode_message(META, metadata))


def item_field(message: bytes) -> bytes:
    """Return an object's message as an item of its List."""
    return put_bytes(2, message)


def list_head(api_version: str, kind: str, metadata: dict[str, Any], item_bytes: int) -> bytes:
    """Return a List up to its first item; `item_bytes` is the size of all `item_field`s."""
    type_meta = put_bytes(1, api_version.encode()) + put_bytes(2, kind.encode())
    list_meta = put_bytes(1, encode_message(LIST_META, metadata))
    size = put_varint(len(list_meta) + item_bytes)
    return MAGIC + put_bytes(1, type_meta) + b"\x12" + size + list_meta


def list_tail() -> bytes:
    """Return the part of a List after its last item."""
    return _TAIL


def watch_frame(event_type: str, document: bytes) -> bytes:
    """Return one event of a WATCH: four bytes of length, then a WatchEvent with a complete response."""
    event = put_bytes(1, event_type.encode()) + put_bytes(2, put_bytes(1, document))
    return len(event).to_bytes(4, "big") + event
