"""JSON objects to the bytes that kube-apiserver stores.

The writer emits every plain scalar and message it knows, even when zero;
pointers, lists and maps only when they are there; maps by sorted key. Fields
that were removed, or that only newer releases know, are written when the JSON
has them.
"""

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from ktui.wire import jsonwriter
from ktui.wire.crd import stored_as_v1beta1
from ktui.wire.envelope import MAGIC
from ktui.wire.errors import CodecError, unknown_kind
from ktui.wire.pb import put_bytes, put_number, put_varint
from ktui.wire.scalars import WRITERS, describe
from ktui.wire.schema import FIXED64, Field, fields, kind_messages, message_of
from ktui.wire.versions import convert

if TYPE_CHECKING:
    from ktui.kube.resources import Resource

Json = Mapping[str, Any]

STRUCTURED = frozenset(("message", "list", "schemaOrBool", "schemaOrArray", "schemaOrStrings"))


class Encoded(NamedTuple):
    """What to store, and the paths of fields that no Kubernetes release knows ("spec.foo")."""

    raw: bytes
    unknown: tuple[str, ...]


def encode_object(obj: Json, resource: "Resource") -> bytes:
    """The stored form of an object. CodecError names the path that does not fit its type."""
    return encode(obj, resource).raw


def encode(obj: Json, resource: "Resource") -> Encoded:
    """As `encode_object`, and the unknown fields, about which kube-apiserver warns `unknown field "…"`.

    metadata.resourceVersion is stored empty. Objects in another version of a
    built-in resource are converted to the storage version.
    """
    given = obj.get("apiVersion") or resource.api_version
    if resource.custom or resource.encoding == "json":
        return Encoded(_encode_json(obj, resource, given), ())
    stored = resource.storage_version
    message = message_of(stored, resource.kind)
    if message is None:
        raise unknown_kind(stored, resource.kind)
    unknown: list[str] = []
    if given == stored:
        body = encode_message(message, _unversioned(obj), unknown)
    else:
        body = encode_message(message, _unversioned(_in_version(obj, given, resource, unknown)))
    return Encoded(envelope_of(stored, resource.kind, body), tuple(unknown))


def envelope_of(api_version: str, kind: str, body: bytes) -> bytes:
    """A message in the envelope of protobuf storage."""
    type_meta = put_bytes(1, api_version.encode()) + put_bytes(2, kind.encode())
    return MAGIC + put_bytes(1, type_meta) + put_bytes(2, body) + b"\x1a\0\x22\0"


def encode_message(message: str, obj: Json, unknown: list[str] | None = None) -> bytes:
    """A JSON object as one protobuf message; paths of unknown fields are appended to `unknown`."""
    return _message(message, obj, "", [] if unknown is None else unknown)


def _in_version(obj: Json, given: str, resource: "Resource", unknown: list[str]) -> Json:
    """The object in the storage version; fields that its own version does not know are `unknown`."""
    own, stored = message_of(given, resource.kind), message_of(resource.storage_version, resource.kind)
    if own is None or stored is None:
        raise CodecError(f"apiVersion: no {resource.kind} in {given}")
    encode_message(own, obj, unknown)
    converted = convert(given, resource.kind, resource.storage_version, dict(obj))
    if converted is not None:
        return converted
    unmatched: list[str] = []
    encode_message(stored, obj, unmatched)
    lost = [path for path in unmatched if path not in unknown]
    if lost:
        raise CodecError(f"{lost[0]}: {given} cannot be converted to {resource.storage_version}")
    return obj


def _unversioned(obj: Json) -> Json:
    metadata = obj.get("metadata")
    if not isinstance(metadata, Mapping) or not metadata.get("resourceVersion"):
        return obj
    return {**obj, "metadata": {**metadata, "resourceVersion": ""}}


def _encode_json(obj: Json, resource: "Resource", given: str) -> bytes:
    metadata = obj.get("metadata")
    if metadata is not None and not isinstance(metadata, Mapping):
        raise CodecError(f"metadata: expected an object, got {describe(metadata)}")
    kept = {name: value for name, value in (metadata or {}).items() if name != "resourceVersion"}
    whole = {**obj, "apiVersion": resource.storage_version, "metadata": kept}
    whole.setdefault("kind", resource.kind)
    if resource.custom:
        return jsonwriter.sorted_text(whole)
    if resource.kind == "CustomResourceDefinition" and given != resource.storage_version:
        members = msgspec.json.decode(jsonwriter.text(whole), type=dict[str, msgspec.Raw])
        return msgspec.json.encode(stored_as_v1beta1(members)) + b"\n"
    return jsonwriter.text(whole)


def _message(message: str, obj: Any, path: str, unknown: list[str]) -> bytes:
    if not isinstance(obj, Mapping):
        raise CodecError(f"{path or 'the object'}: expected an object, got {describe(obj)}")
    known = _names(message)
    unknown.extend(_join(path, name) for name in obj if name not in known)
    return _fields(message, obj, path, unknown)


def _fields(message: str, obj: Json, path: str, unknown: list[str]) -> bytes:
    parts = []
    for field, absent in _plan(message):
        value = obj.get(field.name)
        if value is not None:
            parts.append(_present(field, value, _join(path, field.name), unknown))
        elif absent is not None:
            parts.append(absent)
        else:
            parts.append(put_bytes(field.number, _fields(field.type, obj, path, unknown)))
    return b"".join(parts)


@cache
def _plan(message: str) -> tuple[tuple[Field, bytes | None], ...]:
    """The fields of a message with what is written when the JSON has none; None: it is inlined."""
    return tuple((field, None if field.has("i") else _absent(field)) for field in fields(message))


def _absent(field: Field) -> bytes:
    if field.repeated or field.has("p") or field.has("x") or field.has("a") or field.kind == "bytes":
        return b""
    return _single(field, None, field.name, [])


def _present(field: Field, value: Any, path: str, unknown: list[str]) -> bytes:
    if field.is_map:
        return _map(field, value, path, unknown)
    if not field.repeated:
        return _single(field, value, path, unknown)
    if not isinstance(value, list):
        raise CodecError(f"{path}: expected an array, got {describe(value)}")
    return b"".join(_single(field, item, f"{path}[{at}]", unknown) for at, item in enumerate(value))


def _map(field: Field, value: Any, path: str, unknown: list[str]) -> bytes:
    if not isinstance(value, Mapping):
        raise CodecError(f"{path}: expected an object, got {describe(value)}")
    parts = []
    for key in sorted(value, key=lambda key: key.encode("utf-8", "surrogatepass")):
        entry = put_bytes(1, WRITERS["string"](key, path))
        entry += put_bytes(2, _payload(field, value[key], _join(path, key), unknown))
        parts.append(put_bytes(field.number, entry))
    return b"".join(parts)


def _single(field: Field, value: Any, path: str, unknown: list[str]) -> bytes:
    if field.wire_type == 0:
        return put_number(field.number, _number(field, value, path))
    payload = _payload(field, value, path, unknown)
    if field.wire_type == FIXED64:
        return put_varint(field.number << 3 | FIXED64) + payload
    return put_bytes(field.number, payload)


_RANGES = {"int32": 1 << 31, "int64": 1 << 63}


def _number(field: Field, value: Any, path: str) -> int:
    if field.kind == "bool":
        if value is not None and not isinstance(value, bool):
            raise CodecError(f"{path}: expected true or false, got {describe(value)}")
        return int(bool(value))
    limit = _RANGES[field.kind]
    if value is None:
        return 0
    if not isinstance(value, int) or isinstance(value, bool) or not -limit <= value < limit:
        raise CodecError(f"{path}: expected a number that fits {field.kind}, got {describe(value)}")
    return value


def _payload(field: Field, value: Any, path: str, unknown: list[str]) -> bytes:
    """The bytes of a value that is no varint. None is the kind's zero."""
    if field.kind not in STRUCTURED:
        return WRITERS[field.kind](value, path)
    if field.kind == "message":
        return _message(field.type, {} if value is None else value, path, unknown)
    if field.kind == "list":
        return _strings(1, value or [], path)
    return _schema_or(field, value, path, unknown)


def _schema_or(field: Field, value: Any, path: str, unknown: list[str]) -> bytes:
    if field.kind == "schemaOrBool":
        if isinstance(value, bool) or value is None:
            return put_number(1, int(bool(value)))
        return put_number(1, 1) + put_bytes(2, _message(field.type, value, path, unknown))
    if not isinstance(value, list):
        return b"" if value is None else put_bytes(1, _message(field.type, value, path, unknown))
    if field.kind == "schemaOrStrings":
        return _strings(2, value, path)
    return b"".join(
        put_bytes(2, _message(field.type, item, f"{path}[{at}]", unknown)) for at, item in enumerate(value)
    )


def _strings(number: int, value: Any, path: str) -> bytes:
    if not isinstance(value, list):
        raise CodecError(f"{path}: expected an array, got {describe(value)}")
    text = WRITERS["string"]
    return b"".join(put_bytes(number, text(item, f"{path}[{at}]")) for at, item in enumerate(value))


@cache
def _names(message: str) -> frozenset[str]:
    """JSON names that an object of this message may have."""
    names = {"kind", "apiVersion"} if message in kind_messages() else set()
    for field in fields(message):
        names |= _names(field.type) if field.has("i") else {field.name}
    return frozenset(names)


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
