"""Stored objects in pieces: JSON whose long pieces are shared, and messages cut at the resourceVersion."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from ktui.wire.pb import TRUNCATED, CodecError, put_bytes, put_varint, varint

Pieces = tuple[bytes, ...]
"""Joined, the pieces are the JSON."""

Piece = bytes | memoryview
"""A piece to be joined; a memoryview avoids a copy of a long part of a stored value."""

_WORTH_SHARING = 128
"""Texts of at least this many bytes stay separate; a place in the tuple takes about 50 bytes."""

_OFTEN_EQUAL = 64
"""Runs up to this size are mostly punctuation between shared texts, and equal in all objects."""

_MOST_RUNS = 10_000


class Assembler:
    """Joins the texts of an object's JSON into a few pieces, the long ones shared with other objects.

    Transcoding yields about sixty texts per object, most of them short. Long texts from a cache are shared by
    many objects and stay separate; the texts between them are joined. A pod with a dozen siblings then takes
    a tuple and about one kilobyte of its own instead of nine. Short runs are cached, so that equal ones are
    shared.
    """

    def __init__(self) -> None:
        self._runs: dict[bytes, bytes] = {}

    def pieces(self, texts: Iterable[bytes]) -> Pieces:
        """Return the same text in fewer pieces."""
        pieces: list[bytes] = []
        run: list[bytes] = []
        for text in texts:
            if len(text) < _WORTH_SHARING:
                run.append(text)
            else:
                if run:
                    pieces.append(self._joined(run))
                    run = []
                pieces.append(text)
        if run:
            pieces.append(self._joined(run))
        return tuple(pieces)

    def _joined(self, run: list[bytes]) -> bytes:
        text = b"".join(run)
        if len(text) > _OFTEN_EQUAL:
            return text
        if len(self._runs) > _MOST_RUNS:
            self._runs.clear()
        return self._runs.setdefault(text, text)


_METADATA = 0x0A  # the tag of every object's first field
_RESOURCE_VERSION = 0x32  # its tag in ObjectMeta; the fields before it have smaller tags
_ITEM = b"\x12"  # the tag of a List's items

_MOST = 20_000


class Layout(msgspec.Struct, frozen=True, gc=False):
    """Where a stored message is cut for the resourceVersion, to send it as an item of a protobuf List.

    Storage leaves the resourceVersion empty; everything else is sent as stored. The cuts depend on lengths
    only, so objects of equal lengths share a layout. The metadata begins at `start`; from `rv_at` to `rv_end`
    is a resourceVersion, which is left out.

    `metadata_head` and `item_head` are the bytes before the metadata in an item, of the metadata only and of
    the whole object; the sizes are those of such items. `rv_head` precedes the resourceVersion.
    """

    start: int
    rv_at: int
    rv_end: int
    metadata_end: int
    end: int
    rv_head: bytes
    metadata_head: bytes
    item_head: bytes
    metadata_size: int
    item_size: int

    def metadata(self, raw: bytes, rv: int) -> Sequence[Piece]:
        """Return an item of a List of PartialObjectMetadata, in pieces."""
        return (
            self.metadata_head,
            raw[self.start : self.rv_at],
            b"%b%d" % (self.rv_head, rv),
            memoryview(raw)[self.rv_end : self.metadata_end],
        )

    def item(self, raw: bytes, rv: int) -> Sequence[Piece]:
        """Return an item of a List of whole objects, in pieces."""
        return (
            self.item_head,
            raw[self.start : self.rv_at],
            b"%b%d" % (self.rv_head, rv),
            memoryview(raw)[self.rv_end : self.end],
        )


class Layouts(dict[tuple[int, ...], Layout]):
    """A cache in which equal layouts exist once."""

    def of(self, raw: bytes, start: int, end: int, rv: int) -> Layout:
        """The layout of the message in raw[start:end]; raise IndexError or CodecError if it is not one."""
        cuts = (*_cuts(raw, start, end), end, len(b"%d" % rv))
        found = self.get(cuts)
        if found is None:
            if len(self) > _MOST:
                self.clear()
            found = self[cuts] = _layout(*cuts)
        return found


def with_resource_version(message: bytes, rv: int) -> bytes:
    """An object's message with `rv` in its metadata; raise IndexError or CodecError for other bytes."""
    start, rv_at, rv_end, metadata_end = _cuts(message, 0, len(message))
    text = b"%d" % rv
    own = b"%c%c%b" % (_RESOURCE_VERSION, len(text), text)
    return put_bytes(1, message[start:rv_at] + own + message[rv_end:metadata_end]) + message[metadata_end:]


def _cuts(raw: bytes, start: int, end: int) -> tuple[int, int, int, int]:
    """The metadata's start, the resourceVersion's start and end (or its place), and the metadata's end."""
    metadata_end = start
    if start < end and raw[start] == _METADATA:
        size, start = varint(raw, start + 1)
        metadata_end = start + size
    at = start
    while at < metadata_end and raw[at] < _RESOURCE_VERSION:
        size, value = varint(raw, at + 1)
        at = value + size
    rv_end = at
    if at < metadata_end and raw[at] == _RESOURCE_VERSION:
        size, value = varint(raw, at + 1)
        rv_end = value + size
    if not rv_end <= metadata_end <= end:
        raise CodecError(TRUNCATED)
    return start, at, rv_end, metadata_end


def _layout(start: int, rv_at: int, rv_end: int, metadata_end: int, end: int, rv_size: int) -> Layout:
    rv_head = b"%c%c" % (_RESOURCE_VERSION, rv_size)
    metadata = metadata_end - start - (rv_end - rv_at) + len(rv_head) + rv_size
    opening = b"%c%b" % (_METADATA, put_varint(metadata))
    rest = end - metadata_end
    metadata_head = _ITEM + put_varint(len(opening) + metadata) + opening
    item_head = _ITEM + put_varint(len(opening) + metadata + rest) + opening
    sizes = len(metadata_head) + metadata, len(item_head) + metadata + rest
    return Layout(start, rv_at, rv_end, metadata_end, end, rv_head, metadata_head, item_head, *sizes)
