"""Stored values and documents without metadata.managedFields."""

from __future__ import annotations

import msgspec

from ktui.wire.envelope import MAGIC
from ktui.wire.pb import TRUNCATED, CodecError, put_bytes, spans

_PATH = 2, 1, 17
"""runtime.Unknown's raw, an object's metadata, ObjectMeta's managedFields."""

_MEMBER = b',"managedFields":['
_members = msgspec.json.Decoder(dict[str, msgspec.Raw])


def without_managed_fields(raw: bytes) -> bytes:
    """Return a stored value without its managedFields; unchanged if it is neither protobuf nor JSON.

    Raises CodecError for a value that begins like one of them and is not.
    """
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
