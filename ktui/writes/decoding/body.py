"""Decode a request body: media types, and upstream's errors for invalid documents and unknown fields."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from ktui.documents.jsonreader import member_places
from ktui.kube.fielderrors import invalid, invalid_object
from ktui.kube.golang.formatting import quote
from ktui.kube.json_trees import Obj
from ktui.kube.resources import Resource
from ktui.kube.status import SERVED_MEDIA_TYPES, StatusError, bad_request, bare_error, unsupported_media_type

Knows = Callable[[str, str], bool]
"""(apiVersion, kind) → whether there is such a kind."""

SCHEME = "k8s.io/kubernetes/pkg/api/legacyscheme/scheme.go:30"
# Groups whose kinds share an internal type.
FAMILIES = ({"", "events.k8s.io"}, {"apps", "extensions"}, {"extensions", "networking.k8s.io"})


def kind_fault(obj: Obj, resource: Resource, knows: Knows) -> str:
    """Return why the object cannot be decoded as one of `resource`, in any version; "" if it can."""
    api_version, kind = str(obj.get("apiVersion")), str(obj.get("kind"))
    group, _, version = api_version.rpartition("/")
    if resource.custom or (api_version, kind) == (resource.api_version, resource.kind):
        return ""
    if not knows(api_version, kind):
        return unregistered(api_version, kind)
    groups = {group, resource.group}
    if kind == resource.kind and (len(groups) == 1 or any(groups <= family for family in FAMILIES)):
        return ""
    internal = "core" if resource.kind == "Event" else resource.group.partition(".")[0] or "core"
    return f"converting ({version}.{kind}) to ({internal}.{resource.kind}): unknown conversion"


def unregistered(api_version: str, kind: str) -> str:
    return f"no kind {quote(kind)} is registered for version {quote(api_version)} in scheme {quote(SCHEME)}"


def check_custom_kind(obj: Obj, resource: Resource) -> None:
    """Raise the 422 for a custom resource of another kind, which can be decoded but is not valid."""
    if not resource.custom:
        return
    wanted = {"kind": resource.kind, "apiVersion": resource.api_version}
    wrong = [name for name in wanted if obj.get(name) != wanted[name]]
    errors = [invalid(name, str(obj.get(name)), f"must be {wanted[name]}") for name in wrong]
    if not errors:
        return
    metadata = obj.get("metadata")
    name = str(metadata.get("name", "")) if isinstance(metadata, dict) else ""
    raise invalid_object(str(obj.get("kind")), str(obj.get("apiVersion")).rpartition("/")[0], name, errors)


YAML = "application/yaml"
APPLY = "application/apply-patch+yaml"
JSON_TYPES = ("application/json", YAML)
SUMMARY_BYTES = 30
PROTOBUF = "application/vnd.kubernetes.protobuf"
MAGIC = b"k8s\0"
NO_KIND = "couldn't get version/kind; json parse error: "
KIND_STRUCT = (
    'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'
)
NO_MESSAGE = "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]"


def media_type(content_type: str) -> str:
    """Return the media type without parameters, in lower case."""
    return content_type.partition(";")[0].strip().lower()


@dataclass(frozen=True, slots=True)
class SentBody:
    """A body and the result of its parser: a tree, or an error.

    `media_type` is "" if none was sent. `error` is about the text, `message_error` about a protobuf message
    that should have been converted to JSON.
    """

    raw: bytes
    media_type: str
    tree: Any = None
    duplicates: Sequence[str] = ()
    error: ValueError | None = None
    message_error: ValueError | None = None

    def __bool__(self) -> bool:
        return bool(self.raw)

    def document(self) -> Any:
        """Return the tree; raise the parser's ValueError if there is none."""
        if self.error is not None:
            raise self.error
        return self.tree

    def faults(self, resource: Resource, unknown: Sequence[str]) -> list[str]:
        """Return duplicates and unknown fields in the order in which upstream's strict decoder meets them.

        It skips duplicates of unknown fields; YAML becomes JSON sorted by name first, with one error for all
        duplicates. Custom resources are decoded before unknown fields are looked for.
        """
        skipped = {text.replace("unknown", "duplicate", 1) for text in unknown}
        duplicates = [fault for fault in self.duplicates if fault not in skipped]
        if resource.custom or len(duplicates) + len(unknown) < 2:
            return [*duplicates, *unknown]
        if self.media_type == YAML:
            return [*duplicates, *sorted(unknown, key=_steps)]
        times = {"unknown": 1, "duplicate": 2}
        places = member_places(self.raw)

        def place(fault: str) -> int:
            kind, _, path = fault.partition(" field ")
            return places.get((path[1:-1], times[kind]), len(places))

        return sorted([*duplicates, *unknown], key=place)


def _steps(fault: str) -> list[str | int]:
    """Return the path of an unknown field, to sort by: its names, and its places in lists as numbers."""
    return [int(step) if step.isdigit() else step for step in re.split(r"[.\[\]]+", fault)]


Faults = Callable[[Sequence[str]], list[str]]
"""(unknown fields) → all faults of the body that a write reports."""


def first(faults: Sequence[str]) -> Faults:
    """Report these faults before unknown fields, as upstream does of patches."""
    return lambda unknown: [*faults, *unknown]


def decode_object(body: SentBody, resource: Resource, knows: Knows) -> Obj:
    """Return the object of `resource` in a body; raise StatusError 400 or 415."""
    sent = body.media_type
    if sent and sent not in JSON_TYPES and (sent != PROTOBUF or resource.custom):
        raise unsupported_media_type()
    try:
        obj = _object(body)
    except ValueError as error:
        raise _unrecognized(resource, str(error), body.raw) from None
    _check_kind(obj, resource, body.raw, knows)
    return obj


def decode_document(body: SentBody) -> Obj:
    """Return the JSON object in any body; raise StatusError 400 or 415."""
    if body.media_type and body.media_type not in SERVED_MEDIA_TYPES:
        raise unsupported_media_type()
    try:
        return _object(body)
    except ValueError as error:
        raise bad_request(str(error)) from None


def _object(body: SentBody) -> Obj:
    """Return the JSON object in a body; null counts as an empty one. Raises ValueError with Go's message.

    Upstream reads the kind first: only an object can have one, and it cannot be a number.
    """
    if body.message_error is not None:
        raise body.message_error
    try:
        document = body.document()
    except ValueError as error:
        raise error if body.media_type == YAML else ValueError(f"{NO_KIND}{error}") from None
    if document is None:
        return {}
    if not isinstance(document, dict):
        raise no_kind(document, f"value of type {KIND_STRUCT}")
    check_texts(document)
    if str(document.get("apiVersion") or "").count("/") > 1:
        raise ValueError(f"unexpected GroupVersion string: {document['apiVersion']}")
    return document


def check_texts(obj: Obj) -> None:
    """Raise ValueError for an apiVersion or a kind that is no text."""
    for name in ("apiVersion", "kind"):
        if not isinstance(value := obj.get(name), str | None):
            raise no_kind(value, f"struct field .{name} of type string")


def no_kind(value: Any, where: str) -> ValueError:
    """Return the error of a document whose kind cannot be read."""
    return ValueError(f"{NO_KIND}json: cannot unmarshal {json_type(value)} into Go {where}")


def json_type(value: Any) -> str:
    """Return Go's name for the type of a JSON value."""
    if isinstance(value, bool):
        return "bool"
    names = {dict: "object", list: "array", str: "string", int: "number", float: "number"}
    return names.get(type(value), "null")


def name_kind(obj: Obj, resource: Resource) -> None:
    """Set the path's kind and apiVersion on an object of a built-in kind that lacks them."""
    for name, wanted in (("kind", resource.kind), ("apiVersion", resource.api_version)):
        if obj.get(name) in (None, ""):
            obj[name] = wanted


def _check_kind(obj: Obj, resource: Resource, body: bytes, knows: Knows) -> None:
    if resource.custom:
        if not obj.get("kind"):
            raise _unrecognized(resource, f"Object 'Kind' is missing in '{_text(body)}'", body)
        obj.setdefault("apiVersion", "")
    else:
        name_kind(obj, resource)
    kind, api_version = obj.get("kind"), obj.get("apiVersion")
    if fault := kind_fault(obj, resource, knows):
        version = str(api_version).rpartition("/")[2]
        raise bad_request(f'{kind} in version "{version}" cannot be handled as a {resource.kind}: {fault}')
    if api_version != resource.api_version:
        why = f"does not match the expected API version ({resource.api_version})"
        raise bad_request(f"the API version in the data ({api_version}) {why}")
    check_custom_kind(obj, resource)


def _unrecognized(resource: Resource, why: str, body: bytes) -> StatusError:
    what = f"the object provided is unrecognized (must be of type {resource.kind})"
    return bad_request(f"{what}: {why} ({summary(body)})")


def summary(body: bytes) -> str:
    """Return the beginning of a body as upstream quotes it: text if it looks like JSON, else hex."""
    if not body:
        return "<empty>"
    shown = body[:SUMMARY_BYTES]
    more = " ..." if len(body) > SUMMARY_BYTES else ""
    return (_text(shown) if body[0] == ord("{") else shown.hex()) + more


def _text(body: bytes) -> str:
    return body.decode("utf-8", "replace")


MAX_STRICT_ERRORS = 100  # sigs.k8s.io/json keeps no more

STRICT, WARN, IGNORE = "Strict", "Warn", "Ignore"


class Unfit(Exception):
    """A member with another type than the kind's; str() is the reason, with the path."""


class Unconvertible(Unfit):
    """An object that fits its type and cannot be converted to the internal one."""


def check_metadata(obj: Obj) -> None:
    """Labels and annotations must be maps of strings, finalizers a list of strings; raises Unfit."""
    metadata = obj.get("metadata")
    if metadata is not None and not isinstance(metadata, dict):
        raise Unfit(no_metadata(metadata))
    for name in ("labels", "annotations"):
        texts = (metadata or {}).get(name)
        if texts is None:
            continue
        if not isinstance(texts, dict) or not all(isinstance(text, str | None) for text in texts.values()):
            raise Unfit(f"metadata.{name}: expected texts by name")
    if not isinstance((metadata or {}).get("finalizers") or [], list):
        raise Unfit("metadata.finalizers: expected a list")


def no_metadata(value: Any) -> str:
    """Go's error for a custom resource whose metadata is not an object."""
    return f"json: cannot unmarshal {json_type(value)} into Go value of type v1.ObjectMeta"


def refused(resource: Resource, reason: str) -> StatusError:
    """400 of a create or an update."""
    return misfit(resource.kind, resource.version, reason)


def misfit(kind: str, version: str, reason: str) -> StatusError:
    """400 for a document whose kind follows from its path."""
    version = version.rpartition("/")[2]
    return bad_request(f'{kind} in version "{version}" cannot be handled as a {kind}: {reason}')


def refused_patch(text: str, reason: str) -> StatusError:
    """422 of a patch: the JSON `text` of the patched object is quoted, as upstream does."""
    return invalid_object("", "", "", [invalid("patch", text, reason)])


def unconverted(config: Obj, resource: Resource, unfit: Unfit) -> StatusError:
    """500 of an applied configuration that cannot be typed (upstream: managedfields/structuredmerge.go)."""
    if isinstance(unfit, Unconvertible):
        return bare_error(f"failed to convert to unversioned ({described(config, resource)}): {unfit}")
    kind = f"{resource.group}/{resource.version}, Kind={resource.kind}"
    why = f"unable to convert unstructured object to {kind}: {unfit}"
    return bare_error(
        f"failed to convert new object ({described(config, resource)}) to proper version: {why}"
    )


def described(config: Obj, resource: Resource) -> str:
    """Return an applied configuration as errors name it: `shop/web; apps/v1, Kind=Deployment`."""
    metadata = config.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    texts = (metadata.get(name) for name in ("namespace", "name"))
    named = "/".join(text if isinstance(text, str) else "" for text in texts)
    return f"{named}; {resource.group}/{resource.version}, Kind={resource.kind}"


def strict_error(faults: Iterable[str]) -> str:
    """The error of `fieldValidation=Strict`, with the first MAX_STRICT_ERRORS."""
    return f"strict decoding error: {', '.join(islice(faults, MAX_STRICT_ERRORS))}"


def unknown_texts(paths: Iterable[str]) -> list[str]:
    return [f'unknown field "{path}"' for path in paths]
