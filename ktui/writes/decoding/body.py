"""Request bodies: media types, and what upstream says about JSON that it cannot use."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from ktui.apiserver.http.yamltext import read_yaml
from ktui.kube.golang import jsonscan
from ktui.kube.resources import Resource
from ktui.kube.status import SERVED_MEDIA_TYPES, StatusError, bad_request, unsupported_media_type
from ktui.writes.decoding.kinds import Knows, kind_fault, wrong_custom_kind

Obj = dict[str, Any]

JSON_TYPES = ("application/json", "application/yaml")
SUMMARY_BYTES = 30


PROTOBUF = "application/vnd.kubernetes.protobuf"
MAGIC = b"k8s\0"
NO_KIND = "couldn't get version/kind; json parse error: "
KIND_STRUCT = (
    'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'
)
NO_MESSAGE = "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]"

_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
DecodeProtobuf = Callable[[bytes], bytes]


def media_type(content_type: str) -> str:
    """Without parameters, lower case."""
    return content_type.partition(";")[0].strip().lower()


def decode_object(
    body: bytes,
    content_type: str,
    resource: Resource,
    knows: Knows,
    from_protobuf: DecodeProtobuf | None = None,
) -> Obj:
    """An object of `resource` from a body; StatusError 400 or 415.

    `knows` tells whether an apiVersion has a kind, `from_protobuf` turns an enveloped message into
    JSON, ValueError if it cannot.
    """
    sent = media_type(content_type)
    if sent == PROTOBUF and from_protobuf is not None and not resource.custom:
        body = _from_protobuf(body, resource, from_protobuf)
    elif sent and sent not in JSON_TYPES:
        raise unsupported_media_type()
    try:
        obj = _document(body, sent)
    except ValueError as error:
        raise _unrecognized(resource, str(error), body) from None
    _check_kind(obj, resource, body, knows)
    return obj


def _document(body: bytes, sent: str) -> Obj:
    """The JSON object that a body of JSON or YAML holds, null being an empty one; ValueError as Go says it.

    Upstream looks for the kind first: nothing but an object can have one, nor can it be a number.
    """
    if sent == "application/yaml":
        document = read_yaml(body)
    else:
        try:
            document = parse_json(body)
        except ValueError as error:
            raise ValueError(f"{NO_KIND}{error}") from None
    if document is None:
        return {}
    if not isinstance(document, dict):
        raise _no_kind(document, f"value of type {KIND_STRUCT}")
    for name in ("apiVersion", "kind"):
        if not isinstance(document.get(name) or "", str):
            raise _no_kind(document[name], f"struct field .{name} of type string")
    if str(document.get("apiVersion") or "").count("/") > 1:
        raise ValueError(f"unexpected GroupVersion string: {document['apiVersion']}")
    return document


def _no_kind(value: Any, where: str) -> ValueError:
    return ValueError(f"{NO_KIND}json: cannot unmarshal {json_type(value)} into Go {where}")


def decode_document(body: bytes, content_type: str, from_protobuf: DecodeProtobuf) -> Obj:
    """The JSON object that any body holds; StatusError 400 or 415."""
    sent = media_type(content_type)
    if sent and sent not in SERVED_MEDIA_TYPES:
        raise unsupported_media_type()
    try:
        if sent == PROTOBUF:
            body = from_protobuf(body)
        return _document(body, sent)
    except ValueError as error:
        raise bad_request(str(error)) from None


def _from_protobuf(body: bytes, resource: Resource, decode: DecodeProtobuf) -> bytes:
    try:
        return decode(body)
    except ValueError as error:
        raise _unrecognized(resource, str(error), body) from None


def parse_json(body: bytes) -> Any:
    """The document; ValueError says what is wrong in Go's words. What is no UTF-8 is replaced, as in Go."""
    text = body.decode("utf-8", "replace")
    try:
        document = json.loads(text, parse_constant=_no_constant)
        return _without_surrogates(document) if _SURROGATE.search(text) else document
    except RecursionError:
        raise ValueError("exceeded max depth") from None
    except ValueError:
        jsonscan.check(body)
        raise


def _without_surrogates(document: Any) -> Any:
    """Halves of pairs that stand alone become U+FFFD."""
    text = json.dumps(document, ensure_ascii=False)
    return json.loads(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))


def _no_constant(name: str) -> None:
    raise ValueError(f"JSON has no {name}")


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


def _check_kind(obj: Obj, resource: Resource, body: bytes, knows: Knows) -> None:
    kind, api_version = obj.get("kind"), obj.get("apiVersion")
    if resource.custom:
        if not kind:
            raise _unrecognized(resource, f"Object 'Kind' is missing in '{_text(body)}'", body)
        obj.setdefault("apiVersion", "")
    kind = obj.setdefault("kind", resource.kind)
    api_version = obj.setdefault("apiVersion", resource.api_version)
    if fault := kind_fault(obj, resource, knows):
        version = str(api_version).rpartition("/")[2]
        raise bad_request(f'{kind} in version "{version}" cannot be handled as a {resource.kind}: {fault}')
    if api_version != resource.api_version:
        raise bad_request(
            f"the API version in the data ({api_version}) does not match the expected API version "
            f"({resource.api_version})"
        )
    if wrong := wrong_custom_kind(obj, resource):
        raise wrong


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
