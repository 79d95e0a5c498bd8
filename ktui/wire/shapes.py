"""Scan by shape: pods of one ReplicaSet have their fields at the same offsets.

A shape is the bytes that control a scan (tags, lengths, numbers) and their offsets. A value of the same size
with the same bytes there would be scanned in the same steps, so its fields are copied from the known offsets
without scanning. All other values are scanned as usual.
"""

from collections.abc import Callable
from operator import itemgetter
from typing import Any, NamedTuple

from ktui.wire.jsontext import GO_UTF8
from ktui.wire.pb import varint
from ktui.wire.scanned import Scanned, SharedLabels, SharedStrings
from ktui.wire.schema import BYTES, VARINT, fields
from ktui.wire.selectable import Path, Selectable

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
    """The shapes of one scanner, by the size of their values."""

    def __init__(self, message: str, selectable: Selectable) -> None:
        self._paths = selectable.paths
        self._wanted = _wanted(message, (NAME, NAMESPACE, UID, LABELS, *selectable.all_paths()))
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
