"""Convert protobuf messages to JSON text, by generated functions for each message.

Functions are generated when their message is first used; see `ktui.wire.codegen` for their form and
`ktui.wire.transcode_cache` for the shared pieces.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, Protocol

from ktui.kube.golang.formatting import to_json
from ktui.wire import jsontext, scalars
from ktui.wire.codegen import functions_code, spreads, stays_apart
from ktui.wire.envelope import MAGIC, open_value
from ktui.wire.pb import CodecError, canonical, signed32, signed64, varint, walk
from ktui.wire.pieces import Assembler, Pieces
from ktui.wire.schema import BYTES, META, SchemaField, fields, kind_messages, message_of
from ktui.wire.transcode_cache import Budget, PiecesCache, ShortTranscodeCache, TranscodeCache

Text = Callable[[bytes], bytes]
"""Encoded message → its JSON text."""


def map_entry_text(key_text: Text, value_text: Text) -> Text:
    """Map entry {1 key, 2 value} → `"key":value`. A missing value is decoded from no bytes."""

    def text(encoded: bytes) -> bytes:
        # The usual form: both present and in order, a short key, a value of less than 16 KB.
        if encoded[:1] == b"\n" and encoded[1] < 128:
            split = encoded[1] + 2
            if encoded[split : split + 1] == b"\x12" and (size := encoded[split + 1]):
                start = split + 2
                if size > 127:
                    size += (encoded[start] - 1) * 128
                    start += 1
                if start + size == len(encoded):
                    return key_text(encoded[2:split]) + b":" + value_text(encoded[start:])
        key, value = scalars.last_bytes(encoded, 1), scalars.last_bytes(encoded, 2)
        return key_text(key) + b":" + value_text(value)

    return text


def list_text(item_text: Text) -> Text:
    """{1 repeated} → array, never null: all such fields are maps, whose entries upstream begins with []."""

    def text(encoded: bytes) -> bytes:
        items = [
            item_text(value) for number, _, value in walk(encoded) if number == 1 and isinstance(value, bytes)
        ]
        return b"[" + b",".join(items) + b"]"

    return text


def schema_or_text(kind: str, schema_text: Text, string_text: Text) -> Text:
    """Return the text of {1 allows, 2 schema} (schemaOrBool), or {1 schema, 2 repeated schema or string}."""
    item_text = string_text if kind == "schemaOrStrings" else schema_text

    def or_bool(encoded: bytes) -> bytes:
        allows, schema = b"false", None
        for number, _, value in walk(encoded):
            if number == 1 and isinstance(value, int):
                allows = b"true" if value else b"false"
            elif number == 2 and isinstance(value, bytes):
                schema = value
        return allows if schema is None else schema_text(schema)

    def or_several(encoded: bytes) -> bytes:
        one, several = None, []
        for number, _, value in walk(encoded):
            if number == 1 and isinstance(value, bytes):
                one = value
            elif number == 2 and isinstance(value, bytes):
                several.append(item_text(value))
        if several:
            return b"[" + b",".join(several) + b"]"
        return b"null" if one is None else schema_text(one)

    return or_bool if kind == "schemaOrBool" else or_several


RV_MARK = b"\0"
"""Placeholder for the resourceVersion in a template. JSON text has no NUL, so it is unambiguous."""

_CLAIM = b'{"kind":"PersistentVolumeClaim","apiVersion":"v1"'

_UNIQUE = {
    "meta.v1.ObjectMeta": ("name", "uid"),
    "core.v1.ContainerStatus": ("containerID",),
    "core.v1.PodStatus": ("podIP",),
    "core.v1.PodIP": ("ip",),
}
"""Fields whose text differs in every object: caching it would be useless."""


class Parts(Protocol):
    """Encoded message → texts that joined are its members, each with a leading comma.

    `rv` replaces metadata.resourceVersion, at the top level only. The caller owns the list.
    """

    def __call__(self, encoded: bytes, rv: bytes | None = None) -> list[bytes]: ...


class Functions(NamedTuple):
    """The generated functions of one message; `object` joins the parts in braces."""

    parts: Parts
    object: Text


Install = Callable[[Callable[[bytes], Any]], None]
"""Puts the function of a field to where a generated function finds it."""


class Transcoder:
    """All generated functions for one Kubernetes release (None: all fields).

    `served` adds what a server adds to the fields on the wire; without it a message is printed as stored.
    `share_bytes` limits the memory of shared pieces; 0 disables sharing of messages (short strings are always
    shared).
    """

    def __init__(
        self, release: int | None = None, *, served: bool = True, share_bytes: int = 32 << 20
    ) -> None:
        self._release = release
        self._served = served
        self._sharing = share_bytes > 0
        self.budget = Budget(share_bytes or 1 << 20)
        self._functions: dict[str, Functions] = {}
        self._objects: dict[str, Text] = {}
        self._prepared: set[str] = set()
        self._string = self._kept(jsontext.quote, ShortTranscodeCache)
        self._scalars: dict[str, Text] = {
            "string": self._string,
            "bytes": jsontext.base64,
            "time": self._kept(scalars.time),
            "microtime": self._kept(scalars.microtime),
            "quantity": self._kept(scalars.quantity),
            "intstr": self._kept(scalars.intstr),
            "raw": self._raw,
            "rawjson": scalars.raw,
            "fieldsv1": self._shared(scalars.raw),
        }
        self._string_entry = self._kept(map_entry_text(self._string, self._string), ShortTranscodeCache)

    def parts(self, message: str) -> Parts:
        """Return the function for a message's members, each with a leading comma; generate it if needed."""
        return self._of(message).parts

    def prepare(self, message: str) -> None:
        """Generate the functions of a message and of all its submessages."""
        if message not in self._prepared:
            self._prepared.add(message)
            self._of(message)
            for field in fields(message, self._release, served=self._served):
                if field.kind == "message":
                    self.prepare(field.type)

    def members(self, message: str, encoded: bytes) -> bytes:
        """Return the members of a message with leading commas."""
        return b"".join(self._of(message).parts(encoded))

    def object(self, message: str) -> Text:
        """Return a function: encoded message → JSON object, shared between equal messages."""
        found = self._objects.get(message)
        if found is None:
            found = self._objects[message] = self._shared(self._later(message, "object"))
        return found

    def _kept(self, make: Text, memo: type[TranscodeCache[bytes]] = TranscodeCache) -> Text:
        return memo(make, self.budget).__getitem__

    def _shared(self, make: Text) -> Text:
        return self._kept(make) if self._sharing else make

    def _of(self, message: str) -> Functions:
        found = self._functions.get(message)
        if found is None:
            found = self._functions[message] = self._generate(message)
        return found

    def _later(self, message: str, which: str, install: Install | None = None) -> Callable[[bytes], Any]:
        """Return a function of a message that is generated when first called, as messages may be recursive.

        The first call passes the generated function to `install`.
        """
        made: Callable[[bytes], Any] | None = None

        def text(encoded: bytes) -> Any:
            nonlocal made
            if made is None:
                made = getattr(self._of(message), which)
            if install is not None:
                install(made)
            return made(encoded)

        return text

    def _generate(self, message: str) -> Functions:
        rows = fields(message, self._release, served=self._served)
        whole_object = message in kind_messages()
        names: dict[str, Any] = {
            "varint": varint,
            "s32": signed32,
            "s64": signed64,
            "double": jsontext.double,
            "again": partial(self._again, message, rows),
            "again_object": partial(self._again_object, message, rows),
            "meta": self.parts(META) if whole_object else None,
        }
        for row in (row for row in rows if row.wire_type == BYTES):
            name = f"text_{row.number}"
            install = partial(names.__setitem__, name)
            if spreads(row, whole_object):
                names[name] = self._later(row.type, "parts", install)
            elif stays_apart(message, row):
                names[name] = self._apart(row.type)
            elif row.name in _UNIQUE.get(message, ()):
                names[name] = jsontext.quote
            else:
                names[name] = self._text_of(row, whole_object, install)
        exec(functions_code(message, rows, whole_object), names)
        return Functions(names["parts"], names["object"])

    def _again(
        self, message: str, rows: tuple[SchemaField, ...], encoded: bytes, rv: bytes | None
    ) -> list[bytes]:
        ordered = canonical(encoded, rows)
        if ordered == encoded:
            raise CodecError(f"{message} cannot be read: its fields do not fit the message")
        return self._of(message).parts(ordered, rv)

    def _again_object(self, message: str, rows: tuple[SchemaField, ...], encoded: bytes) -> bytes:
        return b"{" + b"".join(self._again(message, rows, encoded, None))[1:] + b"}"

    def _text_of(self, row: SchemaField, whole_object: bool, install: Install) -> Text:
        if row.is_map:
            return self._entry(row)
        if row.has("i"):
            return self._shared(partial(self.members, row.type))
        if row.name == "volumeClaimTemplates" and self._served:
            return self._claim
        if row.kind == "message" and (not self._sharing or (whole_object and not row.repeated)):
            return self._later(row.type, "object", install)
        return self._value_of(row)

    def _apart(self, message: str) -> Callable[[bytes], Pieces]:
        """Return a function: encoded message → JSON object in pieces."""
        parts, assembler = self._later(message, "parts"), Assembler()

        def make(encoded: bytes) -> Pieces:
            texts = parts(encoded)
            if texts:
                texts[0] = texts[0][1:]
            return assembler.pieces((b"{", *texts, b"}"))

        return PiecesCache(make, self.budget).__getitem__ if self._sharing else make

    def _value_of(self, row: SchemaField) -> Text:
        if row.kind == "message":
            return self.object(row.type)
        if row.kind == "list":
            return self._shared(list_text(self._string))
        if row.kind.startswith("schemaOr"):
            return self._shared(schema_or_text(row.kind, self.object(row.type), self._string))
        return self._scalars[row.kind]

    def _entry(self, row: SchemaField) -> Text:
        if row.kind == "string":
            return self._string_entry
        entry = map_entry_text(self._string, self._value_of(row))
        return entry if row.kind == "bytes" else self._shared(entry)

    def _claim(self, encoded: bytes) -> bytes:
        """Return an item of volumeClaimTemplates, with kind and apiVersion, which only the server adds."""
        return _CLAIM + self.members("core.v1.PersistentVolumeClaim", encoded) + b"}"

    def _raw(self, encoded: bytes) -> bytes:
        """Return a RawExtension; a value that is itself an envelope is printed as its object."""
        inner = scalars.last_bytes(encoded, 1)
        if not inner.startswith(MAGIC):
            return jsontext.embed(inner) if inner else scalars.NULL
        envelope = open_value(inner)
        message = message_of(envelope.api_version, envelope.kind)
        if message is None:
            raise CodecError(f"a nested {envelope.kind or 'object'} of an unknown kind")
        names = {"kind": envelope.kind, "apiVersion": envelope.api_version}
        return to_json(names)[:-1] + self.members(message, envelope.body) + b"}"
