"""The envelope of a stored value: protobuf, JSON, encrypted, CBOR, or unknown.

protobuf is `k8s\\0` and one runtime.Unknown {1 typeMeta {1 apiVersion, 2 kind},
2 raw, 3 contentEncoding, 4 contentType}; 3 and 4 are empty in storage.
"""

from dataclasses import dataclass
from typing import Literal

import msgspec

from ktui.wire.jsontext import utf8
from ktui.wire.pb import TRUNCATED, CodecError, walk

MAGIC = b"k8s\0"
ENCRYPTED = b"k8s:enc:"
CBOR = b"\xd9\xd9\xf7"

Encoding = Literal["protobuf", "json", "encrypted", "cbor", "unknown"]


@dataclass(frozen=True, slots=True)
class Envelope:
    """A value split as far as possible without its schema.

    `body` is the message (protobuf), the document (json), the ciphertext (encrypted) or the value itself.
    `reason` is why a value that is neither protobuf nor JSON cannot be decoded.
    """

    encoding: Encoding
    api_version: str
    kind: str
    body: bytes
    reason: str = ""


class _TypeMeta(msgspec.Struct):
    apiVersion: str = ""
    kind: str = ""


_type_meta = msgspec.json.Decoder(_TypeMeta)


def open_value(raw: bytes) -> Envelope:
    """Split a stored value; raise CodecError if it begins like protobuf or JSON but is invalid."""
    if raw.startswith(MAGIC):
        return _open_protobuf(raw)
    if raw.startswith(b"{"):
        try:
            meta = _type_meta.decode(raw)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise CodecError(f"the value begins like JSON and is not: {error}") from None
        return Envelope("json", meta.apiVersion, meta.kind, raw)
    if raw.startswith(ENCRYPTED):
        parts = raw.split(b":", 5)
        if len(parts) < 6:
            return Envelope("encrypted", "", "", b"", reason="encrypted at rest, and truncated")
        reason = f"encrypted ({utf8(parts[2])}, {utf8(parts[4])})"
        return Envelope("encrypted", "", "", parts[5], reason=reason)
    if raw.startswith(CBOR):
        return Envelope("cbor", "", "", raw, reason="CBOR: ktui does not decode it")
    return Envelope("unknown", "", "", raw, reason=_why_unknown(raw))


def _open_protobuf(raw: bytes) -> Envelope:
    api_version = kind = b""
    body: bytes | None = None
    for number, _, value in walk(raw[len(MAGIC) :]):
        if isinstance(value, int):
            continue
        if number == 1:
            for inner, _, text in walk(value):
                if isinstance(text, bytes):
                    api_version, kind = (text, kind) if inner == 1 else (api_version, text)
        elif number == 2:
            body = value
        elif number in (3, 4) and value:
            name = "contentEncoding" if number == 3 else "contentType"
            raise CodecError(f"the envelope has a {name}: storage never writes one")
    if body is None:  # storage writes the message even for an object without fields
        raise CodecError(TRUNCATED)
    return Envelope("protobuf", utf8(api_version), utf8(kind), body)


def _why_unknown(raw: bytes) -> str:
    if not raw:
        return "the value is empty"
    if raw.startswith(b"/"):
        key, newline, rest = raw.partition(b"\n")
        if newline and rest.startswith((MAGIC, b"{", ENCRYPTED)) and len(key) < 1024:
            return "the key precedes the value, as etcdctl prints them: use `etcdctl get --print-value-only`"
    if MAGIC.startswith(raw[:4]):
        return "the value is truncated within its first four bytes"
    return "neither protobuf, JSON, an encrypted value nor CBOR"
