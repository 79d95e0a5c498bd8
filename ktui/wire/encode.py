"""Convert JSON objects to the bytes that kube-apiserver stores.

Every known plain scalar and message is written, even if zero; pointers, lists and maps only if present; maps
by sorted key. Fields that were removed, or that only newer releases have, are written if the JSON has them.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from ktui.wire import jsontext
from ktui.wire.conversion import convert
from ktui.wire.envelope import MAGIC
from ktui.wire.fieldwriters import write_message
from ktui.wire.jsonvalue import stored_as_v1beta1
from ktui.wire.pb import CodecError, put_bytes, unknown_kind
from ktui.wire.scalars import describe
from ktui.wire.schema import message_of

if TYPE_CHECKING:
    from ktui.kube.resources import Resource

Json = Mapping[str, Any]


class Encoded(NamedTuple):
    """The bytes to store, and the paths of fields that no Kubernetes release knows ("spec.foo")."""

    raw: bytes
    unknown: tuple[str, ...]


def encode_object(obj: Json, resource: "Resource") -> bytes:
    """Return the stored form of an object; raise CodecError with the path that does not fit its type."""
    return encode(obj, resource).raw


def encode(obj: Json, resource: "Resource") -> Encoded:
    """Return the stored form and the unknown fields, for which kube-apiserver warns `unknown field "…"`.

    metadata.resourceVersion is stored empty. Objects in another version of a built-in resource are converted
    to the storage version. Raises CodecError as `encode_object` does.
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
    """Return a message in the envelope of protobuf storage."""
    type_meta = put_bytes(1, api_version.encode()) + put_bytes(2, kind.encode())
    return MAGIC + put_bytes(1, type_meta) + put_bytes(2, body) + b"\x1a\0\x22\0"


def encode_message(message: str, obj: Json, unknown: list[str] | None = None) -> bytes:
    """Return a JSON object as one protobuf message; append paths of unknown fields to `unknown`."""
    return write_message(message, obj, "", [] if unknown is None else unknown)


def _in_version(obj: Json, given: str, resource: "Resource", unknown: list[str]) -> Json:
    """The object in the storage version; append fields that its own version does not have to `unknown`."""
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
        return jsontext.sorted_text(whole)
    if resource.kind == "CustomResourceDefinition" and given != resource.storage_version:
        members = msgspec.json.decode(jsontext.text(whole), type=dict[str, msgspec.Raw])
        return msgspec.json.encode(stored_as_v1beta1(members)) + b"\n"
    return jsontext.text(whole)
