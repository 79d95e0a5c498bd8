"""Continue tokens: base64url of `{"v":"meta.k8s.io/v1","rv":N,"start":"KEY"}`."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from ktui.kube.golang import base64text, formatting, jsonscan
from ktui.kube.status import bad_request

_VERSION = "meta.k8s.io/v1"
_JSON_TYPES = {dict: "object", list: "array", str: "string", bool: "bool"}


class ContinueToken(NamedTuple):
    """The start of the next page.

    `start` is relative to the list's key prefix, without a leading slash. A negative `rv` means: continue at
    the current revision.
    """

    rv: int
    start: str


def encode(rv: int, start: str) -> str:
    """Return the token for a page at revision `rv` that begins at `start` (last key + NUL)."""
    compact = json.dumps({"v": _VERSION, "rv": rv, "start": start}, separators=(",", ":"), ensure_ascii=False)
    return base64text.encode(formatting.escaped(compact.encode("utf-8", "surrogatepass")))


def decode(token: str) -> ContinueToken:
    """Decode a token. Raises StatusError 400 with upstream's message for an invalid one."""
    try:
        return _decode(token)
    except ValueError as error:
        raise bad_request(f"invalid continue token: continue key is not valid: {error}") from None


def _decode(token: str) -> ContinueToken:
    data = base64text.decode(token)
    try:
        jsonscan.check(data)
    except ValueError as error:  # Go's own decoder; request bodies use a fork of an older one
        raise ValueError(str(error).replace("in string literal", "in string")) from None
    fields = _members(json.loads(data.decode("utf-8", "replace"), parse_float=_Number, parse_int=_Number))
    version = _string(fields, "v")
    rv = _integer(fields, "rv")
    start = _string(fields, "start")
    if version != _VERSION:
        raise ValueError(f"server does not recognize this encoded version {version}")
    if rv == 0:
        raise ValueError(f"incorrect encoded start resourceVersion (version {_VERSION})")
    if not start:
        raise ValueError(f"encoded start key empty (version {_VERSION})")
    key = start if start.startswith("/") else f"/{start}"
    # A start outside the prefix would let a client read another resource's keys.
    if formatting.clean(key) != key:
        raise ValueError(start)
    return ContinueToken(rv, key[1:] or "\0")  # "/" alone is a valid token: the beginning of the range


class _Number(str):
    """A number as written in the JSON."""


def _members(value: Any) -> dict[str, Any]:
    """Return the object's members by lower-case name, because Go's decoder ignores case."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise ValueError(f"json: cannot unmarshal {_type(value)} into Go value of type storage.continueToken")
    return {key.lower(): member for key, member in value.items()}


def _type(value: Any) -> str:
    return "number" if isinstance(value, _Number) else _JSON_TYPES[type(value)]


def _string(fields: dict[str, Any], name: str) -> str:
    value = fields.get(name)
    if value is None:
        return ""
    if isinstance(value, _Number) or not isinstance(value, str):
        raise ValueError(_mismatch(_type(value), name, "string"))
    # Half a surrogate pair (`\ud800`) is not a character: Go's decoder replaces it.
    return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _integer(fields: dict[str, Any], name: str) -> int:
    value = fields.get(name)
    if value is None:
        return 0
    if not isinstance(value, _Number):
        raise ValueError(_mismatch(_type(value), name, "int64"))
    if not value.lstrip("-").isdecimal() or len(value) > 20 or not -(1 << 63) <= int(value) < 1 << 63:
        raise ValueError(_mismatch(f"number {value}", name, "int64"))
    return int(value)


def _mismatch(found: str, name: str, wanted: str) -> str:
    return f"json: cannot unmarshal {found} into Go struct field continueToken.{name} of type {wanted}"
