"""Change stored values without decoding them: set default labels, drop managedFields."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from ktui.wire.envelope import MAGIC
from ktui.wire.pb import TRUNCATED, CodecError, put_bytes, spans
from ktui.wire.schema import fields, message_of

if TYPE_CHECKING:
    from ktui.kube.resources import Resource

LABELLED_BY_TEMPLATE = frozenset({"jobs.batch", "replicationcontrollers"})
_METADATA = 1  # field number in every object and every pod template
_SPEC = 2


class TemplateLabels:
    """Sets the missing labels of one resource's stored values: those of its pod template.

    A Job or a ReplicationController that is stored without labels is decoded and selected with the labels of
    its template (SetDefaults_Job, SetDefaults_ReplicationController).
    """

    def __init__(self, resource: Resource) -> None:
        message = message_of(resource.storage_version, resource.kind)
        assert message is not None
        spec = next(field for field in fields(message) if field.name == "spec")
        self._template = next(field.number for field in fields(spec.type) if field.name == "template")
        self._labels = next(field.number for field in fields("meta.v1.ObjectMeta") if field.name == "labels")

    def set(self, raw: bytes) -> bytes:
        """Return the value with its template's labels if it has no labels of its own, else unchanged."""
        try:
            return self._set(raw) if raw.startswith(MAGIC) else _set_json(raw)
        except (CodecError, IndexError):
            return raw  # decoding it reports the error

    def _set(self, raw: bytes) -> bytes:
        for number, at, start, end in spans(raw, len(MAGIC), len(raw)):
            if number == 2:  # the object in its envelope
                body = self._object(raw[start:end])
                return raw[:at] + put_bytes(2, body) + raw[end:] if body else raw
        return raw

    def _object(self, body: bytes) -> bytes:
        """Return the message with labels; empty if it has labels or its template has none."""
        found = {number: (at, start, end) for number, at, start, end in spans(body, 0, len(body))}
        if _METADATA not in found or _SPEC not in found:
            return b""
        at, start, end = found[_METADATA]
        metadata = body[start:end]
        later = len(metadata)
        for number, begin, _, _ in spans(metadata, 0, len(metadata)):
            if number == self._labels:
                return b""
            if number > self._labels:
                later = min(later, begin)
        labels = self._template_labels(body, *found[_SPEC][1:])
        if not labels:
            return b""
        return body[:at] + put_bytes(_METADATA, metadata[:later] + labels + metadata[later:]) + body[end:]

    def _template_labels(self, body: bytes, start: int, end: int) -> bytes:
        """Return the encoded entries of `spec.template.metadata.labels`."""
        for wanted in (self._template, _METADATA):
            inner = [(s, e) for number, _, s, e in spans(body, start, end) if number == wanted]
            if not inner:
                return b""
            start, end = inner[-1]
        entries = [body[at:e] for number, at, _, e in spans(body, start, end) if number == self._labels]
        return b"".join(entries)


def _set_json(raw: bytes) -> bytes:
    try:
        obj = msgspec.json.decode(raw, type=dict[str, msgspec.Raw])
        tree = msgspec.json.decode(raw)
        labels = tree["spec"]["template"]["metadata"]["labels"]
    except (msgspec.MsgspecError, KeyError, TypeError, UnicodeDecodeError, RecursionError):
        return raw
    metadata = tree.get("metadata")
    if not labels or not isinstance(metadata, dict) or metadata.get("labels"):
        return raw
    return msgspec.json.encode({**obj, "metadata": {**metadata, "labels": labels}})


_PATH = 2, 1, 17
"""runtime.Unknown's raw, an object's metadata, ObjectMeta's managedFields."""

_MEMBER = b',"managedFields":['
_members = msgspec.json.Decoder(dict[str, msgspec.Raw])


def without_managed_fields(raw: bytes) -> bytes:
    """Return a stored value without its managedFields; raise CodecError if it is damaged."""
    if raw.startswith(MAGIC):
        try:
            return MAGIC + _without(raw[len(MAGIC) :], _PATH)
        except IndexError:
            raise CodecError(TRUNCATED) from None
    return document_without(raw) if raw.startswith(b"{") else raw


def document_without(document: bytes) -> bytes:
    """Return an object's JSON without its managedFields, all other texts as they are; raise CodecError."""
    try:
        members = _members.decode(document)
        if "metadata" not in members:
            return document
        metadata = _members.decode(members["metadata"])
        if metadata.pop("managedFields", None) is None:
            return document
        return msgspec.json.encode({**members, "metadata": metadata})
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise CodecError(f"the value begins like JSON and is not: {error}") from None


def metadata_without(metadata: bytes) -> bytes:
    """Return `"metadata":{…}` of a built-in object's JSON without its managedFields, the last member.

    The text is found without decoding: inside a string its quotes would be escaped, and no member before it
    has a list of that name.
    """
    at = metadata.find(_MEMBER)
    return metadata if at < 0 else metadata[:at] + b"}"


def _without(message: bytes, path: tuple[int, ...]) -> bytes:
    """Return a message without the field at `path`, numbers from the outside in."""
    wanted, *inner = path
    parts = []
    for number, began, start, end in spans(message, 0, len(message)):
        if number != wanted:
            parts.append(message[began:end])
        elif inner:
            parts.append(put_bytes(number, _without(message[start:end], tuple(inner))))
    return b"".join(parts)
