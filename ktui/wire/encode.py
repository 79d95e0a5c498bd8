"""Convert JSON objects to the bytes that kube-apiserver stores.

Every known plain scalar and message is written, even if zero; pointers, lists and maps only if present; maps
by sorted key. Fields that were removed, or that only newer releases have, are written if the JSON has them.
"""

import marshal
from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from ktui.kube.json_trees import copied, in_order
from ktui.wire import jsontext
from ktui.wire.conversion import convert
from ktui.wire.envelope import MAGIC
from ktui.wire.gotypes import drop_unknown
from ktui.wire.jsonvalue import stored_as_v1beta1
from ktui.wire.pb import CodecError, put_bytes, put_number, put_varint, unknown_kind
from ktui.wire.scalars import WRITERS, describe, resource_quantity
from ktui.wire.schema import (
    BYTES,
    FIXED64,
    VARINT_KINDS,
    SchemaField,
    fields,
    fields_by_name,
    kind_messages,
    message_of,
    named_types,
)
from ktui.wire.transcode_cache import OVERHEAD, Budget
from ktui.wire.type_order import as_go_writes, in_type_order

if TYPE_CHECKING:
    from ktui.kube.resources import Resource

Json = Mapping[str, Any]


def encode_object(obj: Json, resource: "Resource") -> bytes:
    """Return the stored form of an object; raise CodecError with the path that does not fit its type.

    metadata.resourceVersion is stored empty. Objects in another version of a built-in resource are converted
    to the storage version.
    """
    given = obj.get("apiVersion") or resource.api_version
    if resource.custom or resource.encoding == "json":
        return _encode_json(obj, resource, given)
    stored = resource.storage_version
    message = message_of(stored, resource.kind)
    if message is None:
        raise unknown_kind(stored, resource.kind)
    if given != stored:
        obj = _in_version(obj, given, resource)
    return envelope_of(stored, resource.kind, encode_message(message, _unversioned(obj)))


def envelope_of(api_version: str, kind: str, body: bytes) -> bytes:
    """Return a message in the envelope of protobuf storage."""
    type_meta = put_bytes(1, api_version.encode()) + put_bytes(2, kind.encode())
    return MAGIC + put_bytes(1, type_meta) + put_bytes(2, body) + b"\x1a\0\x22\0"


def encode_message(message: str, obj: Json, unknown: list[str] | None = None) -> bytes:
    """Return a JSON object as one protobuf message; append paths of unknown fields to `unknown`."""
    return write_message(message, obj, "", [] if unknown is None else unknown)


def _in_version(obj: Json, given: str, resource: "Resource") -> Json:
    """Return the object in the storage version."""
    own, stored = message_of(given, resource.kind), message_of(resource.storage_version, resource.kind)
    if own is None or stored is None:
        raise CodecError(f"apiVersion: no {resource.kind} in {given}")
    unknown: list[str] = []
    encode_message(own, obj, unknown)
    known = copied(dict(obj))
    if unknown:  # another version may know them
        drop_unknown(known, given, resource.kind, None)
    converted = convert(given, resource.kind, resource.storage_version, known)
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
        return jsontext.text(whole, "sorted")
    whole = in_type_order(whole, given, whole["kind"])
    message = message_of(given, whole["kind"])
    if message is not None and isinstance(spec := whole.get("spec"), Mapping):
        whole["spec"] = as_go_writes(spec, fields_by_name(message)["spec"].type)
    if resource.kind == "CustomResourceDefinition" and given != resource.storage_version:
        members = msgspec.json.decode(jsontext.text(whole), type=dict[str, msgspec.Raw])
        return msgspec.json.encode(stored_as_v1beta1(members)) + b"\n"
    return jsontext.text(whole)


Unknown = list[str]
"""Collects the paths of members that no Kubernetes release knows."""

FieldWriter = Callable[[Any, str, Unknown], bytes]
"""(value, its path, unknown) → the whole field with its tag, or its payload; CodecError names the path."""

LONGEST = 16 << 10
"""Maximum bytes of a cached value: larger ones hardly ever repeat."""

_BUDGET = Budget(8 << 20)
# marshal's last format without references: equal values have equal bytes, and 1, 1.0 and true differ.
_FORMAT = 2


def remembering(write: FieldWriter) -> FieldWriter:
    """Return the same writer with a cache: (value, its path, paths of unknown members) → bytes.

    Between the two encodings of a write, and between the pods of a ReplicaSet, most parts are equal, so a
    part is looked up by its value before it is written field by field. Values with unknown members are not
    cached, because their paths are reported each time.
    """
    written: dict[bytes, bytes] = {}
    _BUDGET.register(written.clear)

    def look_up(value: Any, path: str, unknown: Unknown) -> bytes:
        if _has_many(value):
            return write(value, path, unknown)
        try:
            key = marshal.dumps(value, _FORMAT)
        except ValueError:  # not a plain JSON value, or nested too deeply: the writer raises the right error
            return write(value, path, unknown)
        found = written.get(key)
        if found is None:
            reported = len(unknown)
            found = write(value, path, unknown)
            if len(unknown) == reported and len(key) <= LONGEST:
                _BUDGET.spend(len(key) + len(found) + OVERHEAD)
                written[key] = found
        return found

    return look_up


def _has_many(value: Any) -> bool:
    """Return True if the value is certainly longer than LONGEST, as computing its length would take long."""
    if not isinstance(value, dict | list):
        return False
    parts = value.values() if isinstance(value, dict) else value
    return len(value) > LONGEST or any(isinstance(p, dict | list) and len(p) > LONGEST // 8 for p in parts)


def forget() -> None:
    """Clear the cache, to measure the cost of writing, and for tests."""
    _BUDGET.drop()


_RANGES = {"int32": 1 << 31, "int64": 1 << 63}
_LENGTHS = [put_varint(length) for length in range(1 << 14)]
_PARTS = ("spec", "status")


class MessageLayout(NamedTuple):
    """How a message is written: `blank` has its fields, in order, as they are written without members.

    `slots` has a member's field number and writer by its name; `inlined` are messages whose members are among
    those of their parent, by index.
    """

    blank: list[bytes]
    slots: dict[str, tuple[int, FieldWriter]]
    inlined: tuple[tuple[int, SchemaField], ...]
    elsewhere: frozenset[str]  # known names without a slot


def write_message(message: str, obj: Any, path: str, unknown: Unknown) -> bytes:
    """Return a JSON object as one message."""
    if not isinstance(obj, dict) and not isinstance(obj, Mapping):
        raise CodecError(f"{path or 'the object'}: expected an object, got {describe(obj)}")
    blank, slots, inlined, elsewhere = _plan(message)
    below = f"{path}." if path else ""
    parts = blank.copy()
    for name, value in obj.items():
        slot = slots.get(name)
        if slot is None:
            if name not in elsewhere:
                unknown.append(below + name)
        elif value is not None:
            parts[slot[0]] = slot[1](value, below + name, unknown)
    for at, field in inlined:
        names = _names(field.type)
        members = {name: value for name, value in obj.items() if name in names}
        parts[at] = put_bytes(field.number, write_message(field.type, members, path, unknown))
    return b"".join(parts)


@cache
def _plan(message: str) -> MessageLayout:
    rows = list(enumerate(fields(message)))
    inlined = tuple((at, field) for at, field in rows if field.has("i"))
    parts = _PARTS if message in kind_messages() else ()
    rounds = not message.startswith("node.")  # upstream generates no defaults for this group
    lists = {name for name, type_ in named_types(message).items() if rounds and type_ == "v1.ResourceList"}
    slots = {
        field.name: (at, _writer(field, repeats=field.name in parts, rounds=field.name in lists))
        for at, field in rows
        if not field.has("i")
    }
    return MessageLayout(
        [_absent(field) for _, field in rows], slots, inlined, _names(message) - slots.keys()
    )


def _absent(field: SchemaField) -> bytes:
    """Return the encoding of a member that is missing or null."""
    if field.has("i") or field.repeated or field.kind == "bytes":
        return b""
    optional = field.has("p") or field.has("x") or field.has("a")
    return b"" if optional else _writer(field)(None, field.name, [])


def _writer(field: SchemaField, *, repeats: bool = False, rounds: bool = False) -> FieldWriter:
    """Return the writer of a field; with `repeats` its values are cached. `rounds`: it is a ResourceList."""
    if field.is_map:
        return _map_writer(field, rounds=rounds)
    single = _single_writer(field, repeats or field.repeated)
    if not field.repeated:
        return single

    def write(value: Any, path: str, unknown: Unknown) -> bytes:
        if not isinstance(value, list):
            raise CodecError(f"{path}: expected an array, got {describe(value)}")
        return b"".join([single(item, f"{path}[{at}]", unknown) for at, item in enumerate(value)])

    return write


def _map_writer(field: SchemaField, *, rounds: bool) -> FieldWriter:
    tag, payload = put_varint(field.number << 3 | BYTES), _payload_writer(field)
    if rounds:
        payload = lambda value, path, _unknown: resource_quantity(value, path)  # noqa: E731

    def write(value: Any, path: str, unknown: Unknown) -> bytes:
        if not isinstance(value, Mapping):
            raise CodecError(f"{path}: expected an object, got {describe(value)}")
        parts = []
        for key in in_order(value):  # ordered by code points, which is the order of their UTF-8
            entry = put_bytes(1, WRITERS["string"](key, path))
            entry += put_bytes(2, payload(value[key], f"{path}.{key}" if path else key, unknown))
            parts.append(_framed(tag, entry))
        return b"".join(parts)

    return write


def _single_writer(field: SchemaField, repeats: bool) -> FieldWriter:
    if field.kind in VARINT_KINDS:
        start = put_varint(field.number << 3)
        number = _boolean if field.kind == "bool" else _integer(field.kind)
        return lambda value, path, _unknown: start + put_varint(number(value, path))
    tag, payload = put_varint(field.number << 3 | field.wire_type), _payload_writer(field)
    if repeats and field.kind == "message":
        payload = remembering(payload)
    if field.wire_type == FIXED64:
        return lambda value, path, unknown: tag + payload(value, path, unknown)
    return lambda value, path, unknown: _framed(tag, payload(value, path, unknown))


def _framed(tag: bytes, payload: bytes) -> bytes:
    """Return a length-delimited field; most are short."""
    size = len(payload)
    return tag + (_LENGTHS[size] if size < len(_LENGTHS) else put_varint(size)) + payload


def _boolean(value: Any, path: str) -> int:
    if value is not None and not isinstance(value, bool):
        raise CodecError(f"{path}: expected true or false, got {describe(value)}")
    return int(bool(value))


def _integer(kind: str) -> Callable[[Any, str], int]:
    limit = _RANGES[kind]

    def number(value: Any, path: str) -> int:
        if value is None:
            return 0
        if not isinstance(value, int) or isinstance(value, bool) or not -limit <= value < limit:
            raise CodecError(f"{path}: expected a number that fits {kind}, got {describe(value)}")
        return value

    return number


def _payload_writer(field: SchemaField) -> FieldWriter:
    """Return the writer of a value's bytes (not a varint); None is written as the kind's zero."""
    message = field.type
    match field.kind:
        case "message":
            return lambda value, path, unknown: write_message(
                message, {} if value is None else value, path, unknown
            )
        case "list":
            return lambda value, path, _unknown: _strings(1, value or [], path)
        case "schemaOrBool":
            return lambda value, path, unknown: _schema_or_bool(message, value, path, unknown)
        case "schemaOrArray" | "schemaOrStrings":
            texts = field.kind == "schemaOrStrings"
            return lambda value, path, unknown: _schema_or_list(message, value, path, unknown, texts)
    scalar = WRITERS[field.kind]
    return lambda value, path, _unknown: scalar(value, path)


def _schema_or_bool(message: str, value: Any, path: str, unknown: Unknown) -> bytes:
    if isinstance(value, bool) or value is None:
        return put_number(1, int(bool(value)))
    return put_number(1, 1) + put_bytes(2, write_message(message, value, path, unknown))


def _schema_or_list(message: str, value: Any, path: str, unknown: Unknown, texts: bool) -> bytes:
    if not isinstance(value, list):
        return b"" if value is None else put_bytes(1, write_message(message, value, path, unknown))
    if texts:
        return _strings(2, value, path)
    return b"".join(
        put_bytes(2, write_message(message, item, f"{path}[{at}]", unknown)) for at, item in enumerate(value)
    )


def _strings(number: int, value: Any, path: str) -> bytes:
    if not isinstance(value, list):
        raise CodecError(f"{path}: expected an array, got {describe(value)}")
    text = WRITERS["string"]
    return b"".join(put_bytes(number, text(item, f"{path}[{at}]")) for at, item in enumerate(value))


@cache
def _names(message: str) -> frozenset[str]:
    """Return the JSON names that an object of this message may have."""
    names = {"kind", "apiVersion"} if message in kind_messages() else set()
    for field in fields(message):
        names |= _names(field.type) if field.has("i") else {field.name}
    return frozenset(names)
