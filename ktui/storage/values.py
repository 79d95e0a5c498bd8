"""Decode a stored value of any origin, as far as possible."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from ktui.contract.etcd_documents import FieldSize
from ktui.wire.codec import Codec
from ktui.wire.envelope import open_value
from ktui.wire.field_sizes import field_sizes
from ktui.wire.pb import CodecError


class DecodedValue(NamedTuple):
    """A decoded value. `json` is None for a value that is not an object; then `error` is the reason.

    `sizes` are the stored bytes by field.
    """

    encoding: str
    api_version: str
    kind: str
    json: dict[str, Any] | None
    error: str
    sizes: Sequence[FieldSize] = ()


def read_value(raw: bytes, rv: int, codec: Codec) -> DecodedValue:
    """Decode `raw` if it is a Kubernetes object. Never raises for invalid bytes."""
    try:
        envelope = open_value(raw)
    except CodecError as error:
        return DecodedValue("unknown", "", "", None, error.reason)
    about = (envelope.encoding, envelope.api_version, envelope.kind)
    if envelope.encoding not in ("protobuf", "json"):
        return DecodedValue(*about, None, envelope.reason)
    try:
        document = msgspec.json.decode(codec.object_json(raw, rv) if envelope.kind else raw)
    except CodecError as error:
        return DecodedValue(*about, None, error.reason)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        return DecodedValue(*about, None, f"not readable as JSON: {error}")
    return DecodedValue(*about, document, "", _sizes(raw))


def _sizes(raw: bytes) -> Sequence[FieldSize]:
    try:
        return [FieldSize(field.path, field.size, round(field.share, 4)) for field in field_sizes(raw)]
    except CodecError:  # such as a JSON array or number, which has no fields
        return ()
