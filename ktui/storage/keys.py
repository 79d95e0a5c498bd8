"""Keys of etcd (a resource's, and any key as text), and values of any origin, decoded."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from ktui.contract.etcd_documents import FieldSize
from ktui.kube.resources import Resource
from ktui.wire.codec import Codec
from ktui.wire.envelope import open_value
from ktui.wire.field_sizes import field_sizes
from ktui.wire.pb import CodecError


class ResourceKeys:
    """Keys of one resource: `<--etcd-prefix>/<resource>[/<namespace>]/<name>`.

    `prefix` ends with a slash, so that `/a` does not match `/ab`. `root` is the same without the slash:
    normally no such key exists, so reading it for etcd's revision is cheap.
    """

    def __init__(self, resource: Resource, etcd_prefix: str = "/registry") -> None:
        self.prefix = f"{etcd_prefix.rstrip('/')}/{resource.prefix}"
        self.root = self.prefix.rstrip("/").encode()

    def collection(self, namespace: str | None) -> str:
        """Return the common prefix of all keys of a namespace (None: of all namespaces)."""
        return f"{self.prefix}{namespace}/" if namespace else self.prefix

    def of(self, namespace: str | None, name: str) -> bytes:
        return f"{self.collection(namespace)}{name}".encode()


def range_end(prefix: bytes) -> bytes:
    """Return the end of the range of all keys with this prefix: the prefix with its last byte plus one.

    Bytes 0xff at the end are dropped first; an empty prefix (or only 0xff) ends at b"\\0", etcd's "no end".
    """
    stem = prefix.rstrip(b"\xff")
    return stem[:-1] + bytes([stem[-1] + 1]) if stem else b"\0"


_ESCAPE = re.compile(rb"\\(?:x([0-9a-f]{2})|\\)")


def key_text(key: bytes) -> str:
    r"""A key as text: bytes that are not UTF-8 as `\xff`, a backslash doubled; others unchanged."""
    return key.replace(b"\\", b"\\\\").decode("utf-8", "backslashreplace")


def key_bytes(text: str) -> bytes:
    """Return the key for a text from `key_text`."""
    return _ESCAPE.sub(lambda escape: bytes([int(escape[1], 16)]) if escape[1] else b"\\", text.encode())


class DecodedValue(NamedTuple):
    """A decoded value. `json` is None for a value that is not an object."""

    encoding: str
    api_version: str
    kind: str
    json: dict[str, Any] | None
    error: str  # why the value is not an object
    sizes: Sequence[FieldSize] = ()  # the stored bytes by field, the largest first


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
