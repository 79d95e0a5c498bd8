"""Convert stored bytes to the JSON that kube-apiserver serves, and back.

A caller that caches an object caches its template: the JSON with a placeholder for the resourceVersion, so
that a new revision never decodes the object again.
"""

from functools import cache
from typing import NamedTuple

import msgspec

from ktui.wire.conversion import convert, same_fields
from ktui.wire.encode import encode_message, encode_object
from ktui.wire.envelope import MAGIC, Envelope, open_value
from ktui.wire.jsontext import quote
from ktui.wire.jsonvalue import json_object
from ktui.wire.pb import TRUNCATED, CodecError, unknown_kind, varint
from ktui.wire.pieces import Assembler, Layout, Layouts, Pieces, with_resource_version
from ktui.wire.schema import message_of
from ktui.wire.transcode import RV_MARK, Parts, Transcoder

__all__ = ["Codec", "CodecError", "codec_for", "encode_object", "fill"]

_BAD_BYTES = (IndexError, ValueError, RecursionError, OverflowError)
"""Exceptions that bytes which are not a Kubernetes value can raise; all become CodecError."""

_TAILS = (b"\x1a\0\x22\0", b"", b"\x1a\0", b"\x22\0")


class StoredKind(NamedTuple):
    """A kind in an envelope: its names, its top-level members, and its generated function."""

    api_version: str
    kind: str
    type_meta: bytes
    parts: Parts


class Codec:
    """Decodes values as a server of Kubernetes 1.`release` would serve them (None: all fields).

    `as_stored` omits what a server adds to the stored fields (the kind of volumeClaimTemplates), as auger
    prints values.

    `rv` is always the key's mod_revision, None to keep the stored text; `api_version` is the version to serve
    ("autoscaling/v1"), None for the stored one. An object that cannot be converted is served in its stored
    version.
    """

    def __init__(
        self, release: int | None = None, *, as_stored: bool = False, share_bytes: int = 32 << 20
    ) -> None:
        self.release = release
        self.transcoder = Transcoder(release, served=not as_stored, share_bytes=share_bytes)
        self._kinds: dict[bytes, StoredKind] = {}
        self._assembler = Assembler()
        self._layouts = Layouts()

    def prepare(self, api_version: str, kind: str) -> None:
        """Generate the functions of a kind, which otherwise delays its first object by up to 100 ms."""
        message = message_of(api_version, kind)
        if message is not None:
            self.transcoder.prepare(message)

    def object_json(self, raw: bytes, rv: int | None, api_version: str | None = None) -> bytes:
        """Return an object's complete JSON, with kind and apiVersion."""
        return self._joined(raw, None if rv is None else b"%d" % rv, api_version)

    def message(self, raw: bytes, rv: int | None, api_version: str | None = None) -> bytes:
        """Return the object as a bare protobuf message; raise CodecError if it is stored as JSON."""
        try:
            if not raw.startswith(MAGIC):
                raise CodecError("stored as JSON, not as protobuf")
            kind, body = self._opened(raw)
            if api_version is not None and api_version != kind.api_version:
                kind, body = self._converted(kind, body, api_version) or (kind, body)
            return body if rv is None else with_resource_version(body, rv)
        except _BAD_BYTES as error:
            raise _reason(error) from None

    def item_pieces(self, raw: bytes, rv: int | None, api_version: str | None = None) -> Pieces:
        """Return an object's JSON in a List, in pieces, which are shared with equal parts of other objects.

        Built-ins come without kind and apiVersion, custom resources with them.
        """
        texts = self._guarded(raw, None if rv is None else b"%d" % rv, api_version, True)
        return self._assembler.pieces(texts)

    def item_parts(self, raw: bytes, rv: int) -> tuple[Pieces, int]:
        """Return `item_pieces`, and `end`: pieces[1:end] are `"metadata":{…}`; 0 if it is stored as JSON."""
        texts = self._guarded(raw, b"%d" % rv, None, True)
        if b"" not in texts:
            return self._assembler.pieces(texts), 0
        end = texts.index(b"")
        metadata = self._assembler.pieces(texts[1:end])
        return (texts[0], *metadata, *self._assembler.pieces(texts[end + 1 :])), len(metadata) + 1

    def with_type(self, raw: bytes, item: Pieces) -> bytes:
        """Return `object_json` of a stored message from its `item_parts`."""
        kind = self._kinds.get(raw[4 : 6 + raw[5]]) or self._opened(raw)[0]
        return b"".join((item[0], kind.type_meta, b",", *item[1:]))

    def layout(self, raw: bytes, rv: int, api_version: str) -> Layout | None:
        """Return where `rv` goes in the stored message; None for another version or an unusual envelope."""
        if not raw.startswith(MAGIC):
            return None
        try:
            usual = self._usual(raw) or (self._opened(raw) and self._usual(raw))
            if usual is None or usual[0].api_version != api_version:
                return None
            return self._layouts.of(raw, *usual[1:], rv)
        except _BAD_BYTES as error:
            raise _reason(error) from None

    def object_template(self, raw: bytes, api_version: str | None = None) -> bytes:
        """Return `object_json` with a placeholder for `fill`."""
        return self._joined(raw, RV_MARK, api_version)

    def message_json(self, api_version: str, kind: str, message: bytes) -> bytes:
        """The JSON, without kind, of a bare message of a known kind, as in an envelope without typeMeta."""
        try:
            return b"{" + _members(self._kind(api_version, kind), message)[1:] + b"}"
        except _BAD_BYTES as error:
            raise _reason(error) from None

    def _joined(self, raw: bytes, rv: bytes | None, api_version: str | None) -> bytes:
        return b"".join(self._guarded(raw, rv, api_version, False))

    def _guarded(self, raw: bytes, rv: bytes | None, api_version: str | None, item: bool) -> list[bytes]:
        try:
            if raw.startswith(MAGIC):
                return self._protobuf(raw, rv, api_version, item)
            if raw.startswith(b"{"):
                return [json_object(raw, rv, api_version, bare=item)]
            raise CodecError(open_value(raw).reason)
        except _BAD_BYTES as error:
            raise _reason(error) from None

    def _protobuf(self, raw: bytes, rv: bytes | None, api_version: str | None, item: bool) -> list[bytes]:
        kind, body = self._opened(raw)
        if api_version is not None and api_version != kind.api_version:
            converted = self._converted(kind, body, api_version)
            item = item and converted is not None
            kind, body = converted or (kind, body)
        texts = kind.parts(body, rv)
        if item:
            texts[:1] = [b"{", *(text[1:] for text in texts[:1])]
        else:
            texts[:0] = [b"{", kind.type_meta]
        texts.append(b"}")
        return texts

    def _converted(self, stored: StoredKind, body: bytes, wanted: str) -> tuple[StoredKind, bytes] | None:
        """Return the object as a message of the wanted version, None if it cannot be converted."""
        message = message_of(wanted, stored.kind)
        if message is None:
            return None
        kind = self._kind(wanted, stored.kind)
        if same_fields(stored.api_version, wanted, stored.kind):
            return kind, body
        obj = msgspec.json.decode(b"{" + _members(stored, body)[1:] + b"}")
        changed = convert(stored.api_version, stored.kind, wanted, obj)
        unknown: list[str] = []
        try:
            body = encode_message(message, changed or obj, unknown)
        except CodecError:
            return None
        return None if unknown else (kind, body)

    def _opened(self, raw: bytes) -> tuple[StoredKind, bytes]:
        """Return kind and message of an envelope."""
        if usual := self._usual(raw):
            kind, start, end = usual
            return kind, raw[start:end]
        start = 6 + raw[5]
        envelope = open_value(raw)
        kind = self._kind(envelope.api_version, envelope.kind)
        if raw[4] == 0x0A and raw[5] < 128 and len(self._kinds) < 1000:
            self._remember(raw[4:start], envelope, kind)
        return kind, envelope.body

    def _usual(self, raw: bytes) -> tuple[StoredKind, int, int] | None:
        """The kind, and the start and end of the message, if `_remember` has seen the envelope's head."""
        start = 6 + raw[5]
        kind = self._kinds.get(raw[4:start])
        if kind is not None and raw[start] == 0x12:
            size, at = varint(raw, start + 1)
            if raw[at + size :] in _TAILS and at + size <= len(raw):
                return kind, at, at + size
        return None

    def _remember(self, head: bytes, envelope: Envelope, kind: StoredKind) -> None:
        first, second = envelope.api_version.encode(), envelope.kind.encode()
        usual = b"\x0a%c%b\x12%c%b" % (len(first), first, len(second), second)
        if head == b"\x0a%c" % len(usual) + usual:
            self._kinds[head] = kind

    def _kind(self, api_version: str, kind: str) -> StoredKind:
        if not kind:
            raise CodecError("the envelope names no kind")
        message = message_of(api_version, kind)
        if message is None:
            raise unknown_kind(api_version, kind)
        type_meta = b'"kind":' + quote(kind.encode()) + b',"apiVersion":' + quote(api_version.encode())
        return StoredKind(api_version, kind, type_meta, self.transcoder.parts(message))


def _members(kind: StoredKind, message: bytes) -> bytes:
    return b"".join(kind.parts(message))


def _reason(error: Exception) -> CodecError:
    if isinstance(error, IndexError):
        return CodecError(TRUNCATED)
    if isinstance(error, RecursionError):
        return CodecError("the value is nested too deeply")
    return CodecError(f"the value cannot be read: {error}")


def fill(template: bytes, rv: int) -> bytes:
    """Return a template with its resourceVersion filled in."""
    return template.replace(RV_MARK, b"%d" % rv, 1)


@cache
def codec_for(release: int | None = None, *, as_stored: bool = False) -> Codec:
    """Return the process's codec for Kubernetes 1.`release`."""
    return Codec(release, as_stored=as_stored)
