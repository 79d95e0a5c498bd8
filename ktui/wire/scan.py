"""Read names, labels and field-selector fields of a stored object, without decoding the rest.

Filters need a dozen of an object's hundreds of fields. The scanner of a resource reads exactly those and
skips everything else by its length.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from ktui.wire.envelope import MAGIC, open_value
from ktui.wire.jsontext import GO_UTF8
from ktui.wire.pb import TRUNCATED, CodecError, put_bytes, unknown_kind, varint
from ktui.wire.scanpb import (
    Path,
    ProtobufScan,
    Scanned,
    Selectable,
    SharedLabels,
    SharedStrings,
    all_paths,
    as_selected,
    combined,
    compile_scan,
    selectable_of,
    tree_of,
)
from ktui.wire.schema import BYTES, VARINT, fields, message_of

if TYPE_CHECKING:
    from ktui.kube.resources import Resource

NAME, NAMESPACE, UID, LABELS = (("metadata", name) for name in ("name", "namespace", "uid", "labels"))

_MOST_SHAPES = 2000
_LEARN_AT = 2
_RELEARN_EVERY = 64

Wanted = dict[int, tuple[Path, "Wanted | None"]]
"""Field number → its path, and the wanted fields below it."""


class ValueShape(NamedTuple):
    """Values of one size and structure. A value has this shape if `steering` returns `expected`."""

    steering: Callable[[bytes], Any]
    expected: Any
    cut: Callable[[bytes], Any]
    cut_fields: tuple[str, ...]
    constant: dict[str, str]


class Shapes:
    """The shapes of one scanner, by the size of their values: pods of a ReplicaSet have the same one.

    A shape is the bytes that control a scan (tags, lengths, numbers) and their offsets. A value of the same
    size with the same bytes there would be scanned in the same steps, so its fields are copied from the known
    offsets without scanning. All other values are scanned as usual.
    """

    def __init__(self, message: str, selectable: Selectable) -> None:
        self._paths = selectable
        self._wanted = _wanted(message, (NAME, NAMESPACE, UID, LABELS, *all_paths(selectable)))
        self._by_size: dict[int, ValueShape] = {}
        self._misses: dict[int, int] = {}
        self._text = SharedStrings().__getitem__
        self._labels = SharedLabels().__getitem__

    def scan(self, raw: bytes) -> Scanned | None:
        """Return the scan of a value with a known shape, None for all others."""
        shape = self._by_size.get(len(raw))
        if shape is None or shape.steering(raw) != shape.expected:
            return None
        name, uid, run, *rest = shape.cut(raw)
        found = shape.constant.copy()
        found.update(zip(shape.cut_fields, map(self._text, rest), strict=True))
        found["metadata.name"] = text = name.decode("utf-8", GO_UTF8)
        return Scanned(
            found["metadata.namespace"], text, uid.decode("utf-8", GO_UTF8), self._labels(run), found
        )

    def missed(self, raw: bytes, start: int, end: int, scanned: Scanned) -> None:
        """Learn the shape of a scanned value if its size occurred before."""
        size = len(raw)
        misses = self._misses[size] = self._misses.get(size, 0) + 1
        if misses != _LEARN_AT and misses % _RELEARN_EVERY:
            return
        if len(self._misses) > 10 * _MOST_SHAPES:
            self._misses.clear()
        if len(self._by_size) > _MOST_SHAPES:
            self._by_size.clear()
        shape = self._learn(raw, start, end, scanned)
        if shape is not None:
            self._by_size[size] = shape

    def _learn(self, raw: bytes, start: int, end: int, scanned: Scanned) -> ValueShape | None:
        steering: list[int] = []
        spans: dict[Path, slice] = {}
        if not _walk(raw, start, end, self._wanted, steering, spans):
            return None
        cut = {}
        for field, paths in self._paths.items():
            span = next((spans[path] for path in paths if spans.get(path, _NOTHING) != _NOTHING), None)
            if span is not None and field != "metadata.name":
                cut[field] = span
        whole = [spans.get(path, _NOTHING) for path in (NAME, UID, LABELS)]
        places = itemgetter(slice(0, start), *steering)
        return ValueShape(places, places(raw), itemgetter(*whole, *cut.values()), tuple(cut), scanned.fields)


_NOTHING = slice(0, 0)


def _wanted(message: str, paths: tuple[Path, ...], above: Path = ()) -> Wanted:
    wanted: Wanted = {}
    for field in fields(message):
        path = (*above, field.name)
        if path in paths:
            wanted[field.number] = (path, None)
        elif not field.has("i") and any(longer[: len(path)] == path for longer in paths):
            wanted[field.number] = (path, _wanted(field.type, paths, path))
    return wanted


def _walk(
    raw: bytes, at: int, end: int, wanted: Wanted, steering: list[int], spans: dict[Path, slice]
) -> bool:
    """Record the control bytes of a scan of one message, and the spans of its texts.

    Ends where the scan ends: after the last wanted field. Returns False for messages that have to be scanned
    each time: fields in another order, numbers of fixed width.
    """
    last, before = max(wanted), 0
    while at < end and before <= last:
        begin = at
        tag, at = varint(raw, at)
        size, at = varint(raw, at)
        steering.extend(range(begin, at))
        number, wire = tag >> 3, tag & 7
        if number < before or wire not in (BYTES, VARINT):
            return False
        if wire == BYTES:
            path, below = wanted.get(number, (None, None))
            if path == LABELS:
                spans[LABELS] = slice(spans.get(LABELS, slice(begin)).start or begin, at + size)
            elif path is not None and number != before:
                if below is None:
                    spans[path] = slice(at, at + size) if size else _NOTHING
                elif not _walk(raw, at, at + size, below, steering, spans):
                    return False
            at += size
        before = number
    return at <= end


class JsonScan:
    """Scans values stored as JSON: decodes the wanted members and their parents; msgspec skips others."""

    def __init__(self, selectable: Selectable) -> None:
        self._selectable = selectable
        self._paths = all_paths(selectable)
        tree = tree_of({path: {} for path in (NAME, NAMESPACE, UID, LABELS, *self._paths)})
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

    def __init__(self, resource: Resource) -> None:
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
