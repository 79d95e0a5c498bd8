"""Content negotiation: the form of an object that a client requests, and whether it is available.

kube-apiserver negotiates twice: its HTTP router compares bare media types first (not for custom resources),
then the API machinery evaluates parameters.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Literal

from ktui.kube.status import (
    COLLECTION_MEDIA_TYPES,
    SERVED_MEDIA_TYPES,
    STREAM_MEDIA_TYPES,
    not_acceptable,
    not_acceptable_form,
)


@dataclass(frozen=True, slots=True)
class Clause:
    """One media range: `application/json;as=Table;v=v1;g=meta.k8s.io;q=0.5`."""

    type: str
    subtype: str
    quality: float = 1.0
    parameters: dict[str, str] = field(default_factory=dict)

    @property
    def mime(self) -> str:
        return f"{self.type}/{self.subtype}"


def parse_accept(header: str) -> list[Clause]:
    """Return the clauses, best first: by quality, then the more specific; equal clauses keep their order.

    The order is goautoneg's, which is undefined for clauses that differ in both: `application/yaml;q=0.1`
    after `*/*` comes before it. (Go sorts at most 12 by insertion; of more the order is undefined anyway.)
    Clauses after MOST_CLAUSES are ignored: the header may have 400 KB, and is read without credentials.
    """
    parts = header.split(",", MOST_CLAUSES)[:MOST_CLAUSES]
    found = [clause for part in parts if (clause := _parse_clause(part)) is not None]
    if len(found) > _INSERTED:
        return sorted(found, key=lambda each: (-each.quality, each.type == "*", each.subtype == "*"))
    clauses: list[Clause] = []
    for clause in found:
        at = len(clauses)
        while at and _before(clause, clauses[at - 1]):
            at -= 1
        clauses.insert(at, clause)
    return clauses


_INSERTED = 12
MOST_CLAUSES = 4096


def _before(one: Clause, other: Clause) -> bool:
    return (
        one.quality > other.quality
        or (one.type != "*" and other.type == "*")
        or (one.subtype != "*" and other.subtype == "*")
    )


def mime_types(header: str) -> list[str]:
    """Return the media ranges without parameters, in the order sent."""
    return [part.split(";")[0].strip() for part in header.split(",")]


def _parse_clause(part: str) -> Clause | None:
    head, *rest = part.split(";")
    type_, slash, subtype = head.strip().partition("/")
    type_, subtype = type_.strip(), subtype.strip()
    if not slash and type_ == "*":
        subtype = "*"
    elif not type_ or not subtype or "/" in subtype:
        return None
    quality = 1.0
    parameters: dict[str, str] = {}
    for item in rest:
        name, given, value = item.partition("=")
        name, value = name.strip(), value.strip()
        if given and name == "q":
            quality = _quality(value)
        elif given:
            parameters[name] = value
    return Clause(type_, subtype, quality, parameters)


def _quality(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0


JSON = "application/json"
YAML = "application/yaml"
PROTOBUF = "application/vnd.kubernetes.protobuf"
PRODUCED = (JSON, YAML, PROTOBUF)
# Media types of a WATCH.
STREAMED = (JSON, PROTOBUF)

Target = Literal["", "Table", "PartialObjectMetadata", "PartialObjectMetadataList"]
TARGETS: tuple[Target, ...] = ("Table", "PartialObjectMetadata", "PartialObjectMetadataList")
META_VERSIONS = ("v1", "v1beta1")
# Parameters that request another kind than the resource's own.
CONVERSION = ("as", "g", "v")
DROPPABLE = "metadata.managedFields"
"""The only field that `drop=` may name; several would be joined with `+`."""


@dataclass(frozen=True, slots=True)
class Form:
    """The form of the response. `target` "" is the object itself; `drop`: without managedFields."""

    media_type: str = JSON
    target: Target = ""
    meta_version: str = "v1"
    pretty: bool = False
    drop: bool = False

    @property
    def meta_api_version(self) -> str:
        return f"meta.k8s.io/{self.meta_version}"


@lru_cache(maxsize=256)
def negotiate(
    accept: str,
    *,
    custom: bool,
    stream: bool = False,
    collection: bool = False,
    pretty: bool = False,
    drops: bool = False,
) -> Form:
    """Return the best form that the Accept header allows; raise StatusError 406 if there is none.

    `stream`: for a WATCH; `collection`: for a WATCH or a LIST. `drops`: the gate ManagedFieldsOptOut is on;
    without it the parameter `drop` is ignored, as in upstream. Of custom resources only the metadata is
    available as protobuf.
    """
    if not accept.strip():
        return Form(pretty=pretty)
    if not custom:
        route_by_mime_type(accept, collection or stream)
    for clause in parse_accept(accept):
        for media_type in PRODUCED:
            if not _matches(clause, media_type):
                continue
            form = _form_of(clause, media_type, drops)
            if form is None or (custom and media_type == PROTOBUF and not form.target):
                continue
            if stream and media_type not in STREAMED:
                raise not_acceptable_form(STREAM_MEDIA_TYPES)
            return replace(form, pretty=form.pretty or pretty)
    raise not_acceptable_form()


def whole_form(accept: str) -> Form | None:
    """The form of a Status or a list of APIs: the first accepted form that any object can have, or None."""
    if not accept.strip():
        return Form()
    for clause in parse_accept(accept):
        if not _whole_objects(clause):
            continue
        media_type = next((m for m in PRODUCED if _matches(clause, m)), None)
        if media_type is not None:
            return Form(media_type, pretty=clause.parameters.get("pretty") == "1")
    return None


def check_whole(accept: str, *, routed: bool) -> None:
    """Raise 406 if a list of APIs has no accepted form. `routed`: bare media types are compared first."""
    if routed and accept.strip():
        route_by_mime_type(accept, collection=False)
    if whole_form(accept) is None:
        raise not_acceptable_form()


def acceptable(accept: str, media_type: str) -> bool:
    """Return the result of the HTTP router's check alone, for a document with only one media type."""
    wanted = mime_types(accept)
    return not accept.strip() or "*/*" in wanted or media_type in wanted


def _whole_objects(clause: Clause) -> bool:
    """Return True if a clause requests untransformed objects, as a Status is never transformed."""
    parameters = clause.parameters
    plain = not any(name in parameters for name in CONVERSION) and not parameters.get("sv")
    return plain and parameters.get("stream", "") in ("", "watch")


def route_by_mime_type(accept: str, collection: bool) -> None:
    """Apply the HTTP router's check (406). LIST and WATCH are one route, which has the stream types too."""
    wanted = mime_types(accept)
    if "*/*" not in wanted and not any(mime in SERVED_MEDIA_TYPES for mime in wanted):
        raise not_acceptable(COLLECTION_MEDIA_TYPES if collection else SERVED_MEDIA_TYPES)


def _form_of(clause: Clause, media_type: str, drops: bool) -> Form | None:
    """The form that a clause requests with a matching media type; None if the object has no such form.

    A `drop` with another value makes the clause unacceptable (kubernetes#139561, TestManagedFieldsOptOut).
    """
    parameters = clause.parameters
    drop = drops and "drop" in parameters
    if drop and parameters["drop"] != DROPPABLE:
        return None
    if (stream := parameters.get("stream")) and (stream != "watch" or media_type not in STREAMED):
        return None
    if parameters.get("sv", "") not in ("", META_VERSIONS[0]):
        return None
    pretty = parameters.get("pretty") == "1"
    if not any(name in parameters for name in CONVERSION):
        return Form(media_type, pretty=pretty, drop=drop)
    version = parameters.get("v", "")
    if parameters.get("g") != "meta.k8s.io" or version not in META_VERSIONS:
        return None
    target = next((t for t in TARGETS if t == parameters.get("as")), None)
    if target is None or (target == "Table" and media_type == PROTOBUF):
        return None
    return Form(media_type, target, version, pretty, drop)


def _matches(clause: Clause, media_type: str) -> bool:
    type_, _, subtype = media_type.partition("/")
    return clause.type in ("*", type_) and clause.subtype in ("*", subtype)
