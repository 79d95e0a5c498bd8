"""Which form of an object a client wants, and whether it may have it.

kube-apiserver asks twice: its HTTP router compares bare media types first (not
for custom resources), then the API machinery looks at parameters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ktui.apiserver.http.accept import Clause, mime_types, parse_accept
from ktui.kube.status import SERVED_MEDIA_TYPES, WATCH_MEDIA_TYPES, not_acceptable, not_acceptable_form

JSON = "application/json"
YAML = "application/yaml"
PROTOBUF = "application/vnd.kubernetes.protobuf"
PRODUCED = (JSON, YAML, PROTOBUF)

Target = Literal["", "Table", "PartialObjectMetadata", "PartialObjectMetadataList"]
TARGETS: tuple[Target, ...] = ("Table", "PartialObjectMetadata", "PartialObjectMetadataList")
META_VERSIONS = ("v1", "v1beta1")


@dataclass(frozen=True, slots=True)
class Form:
    """How the answer is to look. `target` "" is the object itself."""

    media_type: str = JSON
    target: Target = ""
    meta_version: str = "v1"
    pretty: bool = False

    @property
    def as_is(self) -> bool:
        """Stored pieces can be sent as they are."""
        return self.media_type == JSON and not self.target and not self.pretty

    @property
    def meta_api_version(self) -> str:
        return f"meta.k8s.io/{self.meta_version}"


def negotiate(
    accept: str, *, custom: bool, stream: bool = False, pretty: bool = False, protobuf: bool = False
) -> Form:
    """The best form that the Accept header allows; StatusError 406 when none is.

    `protobuf`: the answer can be made in it (of custom resources only the metadata ever is).
    """
    if not accept.strip():
        return Form(pretty=pretty)
    if not custom:
        _route_by_mime_type(accept, stream)
    for clause in parse_accept(accept):
        form = _form_of(clause, stream)
        if form is not None and (form.media_type != PROTOBUF or (protobuf and _has_message(form, custom))):
            return Form(form.media_type, form.target, form.meta_version, form.pretty or pretty)
    raise not_acceptable_form()


def error_media_type(accept: str) -> str:
    """In what a Status is sent: the first of what the client accepts that anything can be sent in."""
    for clause in parse_accept(accept):
        media_type = next((m for m in PRODUCED if _matches(clause, m)), None)
        if media_type is not None:
            return media_type
    return JSON


def _has_message(form: Form, custom: bool) -> bool:
    return form.target.startswith("PartialObjectMetadata") or not (form.target or custom)


def _route_by_mime_type(accept: str, stream: bool) -> None:
    wanted = mime_types(accept)
    if "*/*" not in wanted and not any(mime in SERVED_MEDIA_TYPES for mime in wanted):
        raise not_acceptable(WATCH_MEDIA_TYPES if stream else SERVED_MEDIA_TYPES)


def _form_of(clause: Clause, stream: bool) -> Form | None:
    media_type = next((m for m in PRODUCED if _matches(clause, m)), None)
    if media_type is None or (stream and media_type == YAML):
        return None
    pretty = clause.parameters.get("pretty") == "1"
    wanted = clause.parameters.get("as", "")
    if not wanted:
        return Form(media_type, pretty=pretty)
    version = clause.parameters.get("v", "")
    if clause.parameters.get("g") != "meta.k8s.io" or version not in META_VERSIONS:
        return None
    target = next((t for t in TARGETS if t == wanted), None)
    return None if target is None else Form(media_type, target, version, pretty)


def _matches(clause: Clause, media_type: str) -> bool:
    type_, _, subtype = media_type.partition("/")
    return clause.type in ("*", type_) and clause.subtype in ("*", subtype)
