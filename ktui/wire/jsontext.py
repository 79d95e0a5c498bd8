"""JSON text of protobuf scalars, as Kubernetes prints them: bytes in, bytes out.

The output is always valid JSON, escaped as by Go: control characters, characters that are special in HTML or
JavaScript, and each byte that is not UTF-8 (as U+FFFD).
"""

from __future__ import annotations

import codecs
import math
import re
import struct
from base64 import b64encode
from collections.abc import Mapping
from json.encoder import encode_basestring
from typing import Any, Literal

import msgspec

from ktui.kube.golang.formatting import escaped, json_number, to_json
from ktui.wire.pb import CodecError

_PLAIN = re.compile(rb"[^ !#-%'-;=?-\[\]-~]").search
_INVALID = re.compile("[\udc80-\udcff]")

GO_UTF8 = "ktui-go-utf8"
"""Codec error handler that decodes as Go does: every invalid byte is one U+FFFD."""


def _replace_one_byte(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError)
    return "\ufffd", error.start + 1


codecs.register_error(GO_UTF8, _replace_one_byte)


def utf8(data: bytes) -> str:
    """Decode stored bytes; like Go, replace every invalid byte (Python would group them)."""
    return data.decode("utf-8", GO_UTF8)


def quote(data: bytes) -> bytes:
    """Return a JSON string with its quotes."""
    if _PLAIN(data) is None:
        return b'"' + data + b'"'
    text = encode_basestring(data.decode("utf-8", "surrogateescape"))
    try:
        return escaped(text.encode())
    except UnicodeEncodeError:  # invalid bytes
        return escaped(_INVALID.sub(r"\\ufffd", text).encode())


def base64(data: bytes) -> bytes:
    return b'"' + b64encode(data) + b'"'


def double(data: bytes) -> bytes:
    """Decode 8 bytes little endian to a number, whole values without a fraction, as Go prints them."""
    return float_text(struct.unpack("<d", data)[0])


def float_text(value: float) -> bytes:
    """Format a float as Go's encoding/json does; raise CodecError for infinities and NaN."""
    if not math.isfinite(value):
        raise CodecError("a number is infinite or NaN: JSON has no such value")
    return json_number(value).encode()


def embed(data: bytes) -> bytes:
    """Return stored JSON as part of other JSON: validated and compact; numbers keep their digits."""
    try:
        text = msgspec.json.format(data, indent=-1)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise CodecError(f"embedded JSON is not valid: {error}") from None
    return escaped(text if text.isascii() else utf8(text).encode())


def text(value: Any, order: Literal["sorted"] | None = None) -> bytes:
    """Return compact JSON with a trailing newline; Go sorts the members of unstructured objects."""
    try:
        return to_json(_plain(value), order) + b"\n"
    except (TypeError, ValueError, RecursionError, msgspec.MsgspecError) as error:
        raise CodecError(f"the object cannot be written as JSON: {error}") from None


def _plain(value: Any) -> Any:
    """Convert numbers as in Go: int64, or float64 for everything else."""
    kind = type(value)
    if kind is str:
        return value
    if kind is dict:
        return {name: _plain(item) for name, item in value.items()} if value else value
    if isinstance(value, float):
        return msgspec.Raw(float_text(value))
    if isinstance(value, int) and not -(1 << 63) <= value < 1 << 63:
        return msgspec.Raw(float_text(float(value)))
    if isinstance(value, Mapping):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value
