"""Protobuf messages to JSON text, by one generated function a message.

A function is generated when its message is first met and kept; see
`ktui.wire.codegen` for its shape and `ktui.wire.memo` for what is shared.
"""

from collections.abc import Callable
from typing import Any, Protocol

import msgspec

from ktui.wire import jsontext, wellknown
from ktui.wire.codegen import source
from ktui.wire.envelope import MAGIC, open_value
from ktui.wire.errors import CodecError
from ktui.wire.memo import Budget, Memo, ShortMemo, Unshared
from ktui.wire.pb import canonical, signed32, signed64, varint, walk
from ktui.wire.schema import META, Field, fields, kind_messages, message_of

RV_MARK = b"\0"
"""Stands for the resourceVersion in a template. JSON text holds no NUL, so it is unmistakable."""

SERVED_AS = 36
"""Whose zero values a server of no stated release prints; see `ktui.wire.schema.fields`."""

_CLAIM = b'{"kind":"PersistentVolumeClaim","apiVersion":"v1"'

Text = Callable[[bytes], bytes]


class Members(Protocol):
    """Encoded message → its members as text, each led by a comma.

    `rv` replaces what metadata.resourceVersion holds, at the top level only.
    """

    def __call__(self, encoded: bytes, rv: bytes | None = None) -> bytes: ...


class Lookup(Protocol):
    def __getitem__(self, encoded: bytes, /) -> bytes: ...


class Transcoder:
    """All generated functions for one Kubernetes release (None: whatever the bytes hold).

    `served` adds what a server adds to the fields on the wire; without it a
    message prints as it was stored. `share_bytes` bounds the memory of shared
    pieces; 0 turns sharing off.
    """

    def __init__(self, release: int | None = None, *, served: bool = True, share_bytes: int = 32 << 20) -> None:
        self._release = release
        self._served = served
        self.budget = Budget(share_bytes)
        self._sharing = share_bytes > 0
        self._members: dict[str, Members] = {}
        self._objects: dict[str, Lookup] = {}
        self._string: Lookup = self._lookup(jsontext.quote, ShortMemo)
        self._scalars: dict[str, Lookup] = {
            "string": self._string,
            "bytes": Unshared(jsontext.base64),
            "time": self._lookup(wellknown.time),
            "microtime": self._lookup(wellknown.microtime),
            "quantity": self._lookup(wellknown.quantity),
            "intstr": self._lookup(wellknown.intstr),
            "raw": Unshared(self._raw),
            "rawjson": Unshared(wellknown.raw),
            "fieldsv1": self._lookup(wellknown.raw),
        }

    def members(self, message: str) -> Members:
        """The function of a message, generated now if need be."""
        found = self._members.get(message)
        if found is None:
            found = self._members[message] = self._generate(message)
        return found

    def object(self, message: str) -> Lookup:
        """Encoded message → JSON object, shared between equal ones."""
        found = self._objects.get(message)
        if found is None:
            found = self._objects[message] = self._lookup(self._braced(message, b"{"))
        return found

    def _lookup(self, make: Text, memo: type[Memo] = Memo) -> Lookup:
        return memo(make, self.budget) if self._sharing else Unshared(make)

    def _braced(self, message: str, opening: bytes) -> Text:
        def text(encoded: bytes) -> bytes:
            inside = self.members(message)(encoded)
            return opening + (inside[1:] if opening == b"{" else inside) + b"}"

        return text

    def _generate(self, message: str) -> Members:
        rows = fields(message, self._release, SERVED_AS if self._served else 0)
        whole_object = message in kind_messages()
        names: dict[str, Any] = {
            "varint": varint,
            "s32": signed32,
            "s64": signed64,
            "double": jsontext.double,
            "again": self._again(message, rows),
            "meta": self._meta,
        }
        for row in rows:
            names[f"text_{row.number}"] = self._text_of(message, row, whole_object)
        exec(compile(source(message, rows, whole_object), f"<{message}>", "exec"), names)
        members: Members = names["members"]
        return members

    def _meta(self, encoded: bytes, rv: bytes | None) -> bytes:
        return self.members(META)(encoded, rv)

    def _again(self, message: str, rows: tuple[Field, ...]) -> Members:
        def again(encoded: bytes, rv: bytes | None = None) -> bytes:
            ordered = canonical(encoded, rows)
            if ordered == encoded:
                raise CodecError(f"{message} cannot be read: its fields do not fit the message")
            return self.members(message)(ordered, rv)

        return again

    def _text_of(self, message: str, row: Field, whole_object: bool) -> Lookup:
        if row.is_map:
            return self._lookup(self._entry(row))
        if row.has("i"):
            return self._lookup(self._members_later(row.type))
        if row.kind == "message":
            if whole_object and not row.repeated:
                return Unshared(self._braced(row.type, b"{"))
            if row.name == "volumeClaimTemplates" and self._served:
                return self._lookup(self._braced(row.type, _CLAIM))
        return self._value_of(row)

    def _members_later(self, message: str) -> Text:
        return lambda encoded: self.members(message)(encoded)

    def _value_of(self, row: Field) -> Lookup:
        if row.kind == "message":
            return self.object(row.type)
        if row.kind == "list":
            return self._lookup(self._list(row))
        if row.kind.startswith("schemaOr"):
            return self._lookup(self._schema_or(row))
        return self._scalars.get(row.kind, self._string)

    def _entry(self, row: Field) -> Text:
        """A map entry {1 key, 2 value} → `"key":value`."""
        value_of = self._value_of(row)
        quote = self._string
        # A missing value is the kind's zero, which is what no bytes decode to.
        def text(encoded: bytes) -> bytes:
            key = value = b""
            for number, _, payload in walk(encoded):
                if isinstance(payload, int):
                    continue
                if number == 1:
                    key = payload
                elif number == 2:
                    value = payload
            return quote[key] + b":" + value_of[value]

        return text

    def _list(self, row: Field) -> Text:
        quote = self._string

        def text(encoded: bytes) -> bytes:
            items = [quote[v] for number, _, v in walk(encoded) if number == 1 and isinstance(v, bytes)]
            return b"[" + b",".join(items) + b"]" if items else b"null"

        return text

    def _schema_or(self, row: Field) -> Text:
        schema = self.object(row.type)
        quote = self._string

        def text(encoded: bytes) -> bytes:
            allows, one, many = False, None, []
            for number, _, value in walk(encoded):
                if isinstance(value, int):
                    allows = bool(value) if number == 1 else allows
                elif number == 2 and row.kind != "schemaOrBool":
                    many.append(schema[value] if row.kind == "schemaOrArray" else quote[value])
                else:
                    one = schema[value]
            if many:
                return b"[" + b",".join(many) + b"]"
            if one is not None:
                return one
            return (b"true" if allows else b"false") if row.kind == "schemaOrBool" else b"null"

        return text

    def _raw(self, encoded: bytes) -> bytes:
        """A RawExtension; a value that is itself an envelope prints as the object in it."""
        inner = wellknown.last_bytes(encoded, 1)
        if inner.startswith(MAGIC):
            return self._nested(inner)
        return jsontext.embed(inner) if inner else wellknown.NULL

    def _nested(self, raw: bytes) -> bytes:
        envelope = open_value(raw)
        message = message_of(envelope.api_version, envelope.kind)
        if message is None:
            raise CodecError(f"a nested {envelope.kind or 'object'} of an unknown kind")
        names = {"kind": envelope.kind, "apiVersion": envelope.api_version}
        return msgspec.json.encode(names)[:-1] + self.members(message)(envelope.body) + b"}"
