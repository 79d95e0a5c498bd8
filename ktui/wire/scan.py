"""Read names, labels and field-selector fields of a stored object, without decoding the rest.

Filters need a dozen of an object's hundreds of fields. The scanner of a resource reads exactly those and
skips everything else by its length.
"""

from typing import TYPE_CHECKING, Any

import msgspec

from ktui.wire.envelope import MAGIC, open_value
from ktui.wire.errors import CodecError, unknown_kind
from ktui.wire.pb import TRUNCATED, put_bytes, varint
from ktui.wire.scanned import Scanned
from ktui.wire.scanpb import ProtobufScan, compile_scan
from ktui.wire.schema import message_of
from ktui.wire.selectable import Path, Selectable, as_selected, combined, selectable_of
from ktui.wire.shapes import Shapes

if TYPE_CHECKING:
    from ktui.kube.resources import Resource

# Read names, labels and field-selector fields of values stored as JSON, by a typed, partial decode.

_ALWAYS: tuple[Path, ...] = tuple(("metadata", name) for name in ("name", "namespace", "uid", "labels"))


class JsonScan:
    """Decodes only the wanted members and their parents; msgspec skips the others."""

    def __init__(self, selectable: Selectable) -> None:
        self._selectable = selectable
        self._paths = selectable.all_paths()
        tree: dict[str, Any] = {}
        for path in (*_ALWAYS, *self._paths):
            node = tree
            for part in path[:-1]:
                node = node.setdefault(part, {})
            node.setdefault(path[-1], {})
        self._decoder: msgspec.json.Decoder[Any] = msgspec.json.Decoder(_struct("Object", tree))

    def scan(self, raw: bytes) -> Scanned:
        """Scan a document; raise ValueError (msgspec's) if it is not a JSON object."""
        try:
            found = self._decoder.decode(raw)
        except msgspec.ValidationError:
            found = msgspec.json.decode(raw)  # a value on the path is not an object: read the whole document
        labels = _at(found, ("metadata", "labels"))
        values = {path: as_selected(_at(found, path)) for path in self._paths}
        return Scanned(
            as_selected(_at(found, ("metadata", "namespace"))),
            as_selected(_at(found, ("metadata", "name"))),
            as_selected(_at(found, ("metadata", "uid"))),
            {key: as_selected(value) for key, value in labels.items()} if isinstance(labels, dict) else {},
            combined(values, self._selectable),
        )


def _struct(name: str, tree: dict[str, Any]) -> type:
    members = []
    for at, below in enumerate(tree.values()):
        kind = _struct(f"{name}{at}", below) | None if below else Any
        members.append((f"m{at}", kind, None))
    rename = {f"m{at}": json_name for at, json_name in enumerate(tree)}
    return msgspec.defstruct(name, members, rename=rename)


def _at(found: Any, path: Path) -> Any:
    for part in path:
        if isinstance(found, msgspec.Struct):
            names = found.__struct_encode_fields__
            found = getattr(found, found.__struct_fields__[names.index(part)]) if part in names else None
        elif isinstance(found, dict):
            found = found.get(part)
        else:
            return None
    return found


class Scanner:
    """Scans the stored values of one resource.

    Relies on the ascending order of fields, in which every Kubernetes server writes: a field after one with a
    higher number is not seen.
    """

    def __init__(self, resource: "Resource") -> None:
        self._selectable = selectable_of(resource)
        self._json = JsonScan(self._selectable)
        self._by_message: dict[str, ProtobufScan] = {}
        self._head = b""
        self._shapes: Shapes | None = None
        message = message_of(resource.storage_version, resource.kind)
        if resource.encoding == "protobuf" and message is not None:
            type_meta = put_bytes(1, resource.storage_version.encode()) + put_bytes(2, resource.kind.encode())
            self._head = MAGIC + put_bytes(1, type_meta) + b"\x12"
            self._usual = self._scan_of(message)
            self._shapes = Shapes(message, self._selectable)

    def scan(self, raw: bytes) -> Scanned:
        """Return the names, labels and fields of a stored value; raise CodecError if it cannot be decoded."""
        try:
            if self._shapes is None:
                return self._other(raw)
            return self._shapes.scan(raw) or self._walked(raw, self._shapes)
        except IndexError:
            raise CodecError(TRUNCATED) from None
        except (ValueError, RecursionError) as error:
            raise CodecError(f"the value cannot be read: {error}") from None

    def _walked(self, raw: bytes, shapes: Shapes) -> Scanned:
        if not raw.startswith(self._head):
            return self._other(raw)
        size, start = varint(raw, len(self._head))
        if start + size > len(raw):
            raise CodecError(TRUNCATED)
        scanned = self._usual(raw, start, start + size)
        shapes.missed(raw, start, start + size, scanned)
        return scanned

    def _other(self, raw: bytes) -> Scanned:
        if raw.startswith(b"{"):
            return self._json.scan(raw)
        envelope = open_value(raw)
        if envelope.encoding != "protobuf":
            raise CodecError(envelope.reason)
        message = message_of(envelope.api_version, envelope.kind)
        if message is None:
            raise unknown_kind(envelope.api_version, envelope.kind)
        return self._scan_of(message)(envelope.body, 0, len(envelope.body))

    def _scan_of(self, message: str) -> ProtobufScan:
        found = self._by_message.get(message)
        if found is None:
            found = self._by_message[message] = compile_scan(message, self._selectable)
        return found


__all__ = ["Scanned", "Scanner"]
