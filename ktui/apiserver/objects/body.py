"""Request bodies: media types, and what upstream says about JSON that it cannot use."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from ktui.apiserver.http.yamltext import read_yaml
from ktui.kube.golang.quoting import quote
from ktui.kube.resources import Resource
from ktui.kube.status import StatusError, bad_request, unsupported_media_type

Obj = dict[str, Any]

JSON_TYPES = ("application/json", "application/yaml")
SUMMARY_BYTES = 30


PROTOBUF = "application/vnd.kubernetes.protobuf"
MAGIC = b"k8s\0"

DecodeProtobuf = Callable[[bytes], bytes]


def media_type(content_type: str) -> str:
    """Without parameters, lower case."""
    return content_type.partition(";")[0].strip().lower()


def decode_object(
    body: bytes, content_type: str, resource: Resource, from_protobuf: DecodeProtobuf | None = None
) -> Obj:
    """An object of `resource` from a body; StatusError 400 or 415.

    `from_protobuf` turns an enveloped message into JSON, ValueError if it cannot.
    """
    sent = media_type(content_type)
    if sent == PROTOBUF and from_protobuf is not None and not resource.custom:
        body = _from_protobuf(body, resource, from_protobuf)
    elif sent and sent not in JSON_TYPES:
        raise unsupported_media_type()
    try:
        obj = read_yaml(body) if sent == "application/yaml" else parse_json(body)
    except ValueError as error:
        raise _unrecognized(resource, f"couldn't get version/kind; json parse error: {error}", body) from None
    if not isinstance(obj, dict):
        fault = (
            f"json: cannot unmarshal {json_type(obj)} into Go value of type struct "
            '{ APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'
        )
        raise _unrecognized(resource, f"couldn't get version/kind; json parse error: {fault}", body)
    _check_kind(obj, resource, body)
    return obj


def _from_protobuf(body: bytes, resource: Resource, decode: DecodeProtobuf) -> bytes:
    if not body.startswith(MAGIC):
        why = "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]"
        raise _unrecognized(resource, why, body)
    try:
        return decode(body)
    except ValueError as error:
        raise _unrecognized(resource, str(error), body) from None


def parse_json(body: bytes) -> Any:
    """The document; ValueError says what is wrong in Go's words where they are simple."""
    try:
        return json.loads(body)
    except json.JSONDecodeError as error:
        rest = error.doc[error.pos :].strip()
        if not rest or error.msg.startswith("Unterminated string"):
            raise ValueError("unexpected end of JSON input") from None
        raise ValueError(f"invalid character {_go_char(rest[0])} {_where(error.msg)}") from None
    except UnicodeDecodeError:
        raise ValueError("invalid UTF-8 in JSON input") from None
    except RecursionError:
        raise ValueError("exceeded max depth") from None


def duplicate_fields(body: bytes) -> list[str]:
    """Paths of members that stand twice in one object; [] for a body that is no JSON."""
    if _stands_once(body):
        return []
    twice: dict[int, list[str]] = {}
    kept: list[dict[str, Any]] = []  # keeps the ids of `twice` from being given to others

    def hook(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        built = dict(pairs)
        if len(built) < len(pairs):
            names = [name for name, _ in pairs]
            twice[id(built)] = [name for name in built if names.count(name) > 1]
            kept.append(built)
        return built

    try:
        document = json.loads(body, object_pairs_hook=hook)
    except (ValueError, RecursionError):
        return []
    return list(_duplicates(document, "", twice)) if twice else []


def _stands_once(body: bytes) -> bool:
    """Whether reading loses nothing: what programs send is mostly written as we would write it."""
    try:
        return msgspec.json.encode(msgspec.json.decode(body)) == body.rstrip()
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return False


def _duplicates(value: Any, path: str, twice: dict[int, list[str]]) -> Iterator[str]:
    if isinstance(value, dict):
        for name in twice.get(id(value), ()):
            yield f"{path}.{name}" if path else name
        for name, member in value.items():
            yield from _duplicates(member, f"{path}.{name}" if path else name, twice)
    elif isinstance(value, list):
        for at, item in enumerate(value):
            yield from _duplicates(item, f"{path}[{at}]", twice)


def json_type(value: Any) -> str:
    """What Go's decoder calls a JSON value."""
    if isinstance(value, bool):
        return "bool"
    names = {dict: "object", list: "array", str: "string", int: "number", float: "number"}
    return names.get(type(value), "null")


def _check_kind(obj: Obj, resource: Resource, body: bytes) -> None:
    kind, api_version = obj.get("kind"), obj.get("apiVersion")
    if resource.custom:
        for member, name in ((kind, "Kind"), (api_version, "apiVersion")):
            if not member:
                raise _unrecognized(resource, f"Object '{name}' is missing in '{_text(body)}'", body)
    kind = obj.setdefault("kind", resource.kind)
    api_version = obj.setdefault("apiVersion", resource.api_version)
    if api_version == resource.api_version and kind == resource.kind:
        return
    if api_version != resource.api_version:
        why = (
            f'no kind "{kind}" is registered for version "{api_version}" in scheme '
            '"k8s.io/kubernetes/pkg/api/legacyscheme/scheme.go:30"'
        )
        if resource.custom:
            why = (
                f"the API version in the data ({api_version}) does not match the expected API version "
                f"({resource.api_version})"
            )
            raise bad_request(why)
        kind = resource.kind
    else:
        internal = resource.group.partition(".")[0] or "core"
        why = f"converting ({resource.version}.{kind}) to ({internal}.{resource.kind}): unknown conversion"
    raise bad_request(f'{kind} in version "{resource.version}" cannot be handled as a {resource.kind}: {why}')


def _unrecognized(resource: Resource, why: str, body: bytes) -> StatusError:
    return bad_request(
        f"the object provided is unrecognized (must be of type {resource.kind}): {why} ({summary(body)})"
    )


def summary(body: bytes) -> str:
    """The beginning of a body as upstream quotes it: text when it looks like JSON, hex otherwise."""
    if not body:
        return "<empty>"
    shown = body[:SUMMARY_BYTES]
    more = " ..." if len(body) > SUMMARY_BYTES else ""
    return (_text(shown) if body[0] == ord("{") else shown.hex()) + more


def _text(body: bytes) -> str:
    return body.decode("utf-8", "replace")


def _go_char(char: str) -> str:
    return "'\\''" if char == "'" else f"'{quote(char)[1:-1]}'"


def _where(message: str) -> str:
    if "property name" in message:
        return "looking for beginning of object key string"
    if "delimiter" in message and ":" in message:
        return "after object key"
    if "delimiter" in message:
        return "after object key:value pair"
    if message.startswith("Extra data"):
        return "after top-level value"
    return "looking for beginning of value"
