"""Check the pages of a bbolt database: each is referenced once, and exists.

Pages are read by position (a file that is truncated meanwhile raises an error, not a signal), and only their
header and elements: a check reads a small part of the file.
"""

from __future__ import annotations

import os
import struct

_HEADER = struct.Struct("<QHHI")  # page number, flags, number of elements, further pages
_BRANCH, _LEAF, _FREE_LIST = 0x01, 0x02, 0x10
_BRANCH_ELEMENT = struct.Struct("<IIQ")  # position of the key, its size, child page
_LEAF_ELEMENT = struct.Struct("<IIII")  # flags, position of the key, its size, the value's size
_IS_BUCKET = 0x01
_BUCKET = struct.Struct("<QQ")  # root page (0: the page follows immediately), sequence
_FIRST = 2  # pages 0 and 1 are the meta pages
_LONG = 0xFFFF  # of a free list: its first element is the number of elements
_NO_FREE_LIST = (1 << 64) - 1
_MOST_KEPT = 64 << 10  # bytes of one page


class DamagedError(Exception):
    """A page is damaged; the message says how."""


class BoltTree:
    """A database of `pages` pages, read from an open file."""

    def __init__(self, descriptor: int, page_size: int, pages: int) -> None:
        self._descriptor = descriptor
        self._page_size = page_size
        self._pages = pages
        self._seen = bytearray(pages)

    def check_free_list(self, page: int) -> None:
        """Raise DamagedError unless the free list fits into its pages."""
        if page == _NO_FREE_LIST:
            return
        count, room = self._open(page, {_FREE_LIST})[1:]
        if count == _LONG:
            (count,) = struct.unpack("<Q", self._read(page * self._page_size + _HEADER.size, 8))
            count += 1
        if count * 8 > room:
            raise DamagedError(f"the free list on page {page} is longer than its pages")

    def walk(self, root: int, keep: bytes) -> bytes:
        """Visit every page of every bucket from the root bucket's page; return the leaves of the bucket
        `keep`.

        Raises DamagedError for a page that does not exist, is referenced twice, or is of a wrong kind.
        """
        kept = bytearray()
        for leaf, count in self._leaves(root):
            for name, page, inline in self._buckets(leaf, count):
                if page:
                    leaves = [number for number, _ in self._leaves(page)]
                    most = min(self._page_size, _MOST_KEPT)
                    starts = (self._read(number * self._page_size, most) for number in leaves)
                    inline = b"".join(starts) if name == keep else b""
                if name == keep:
                    kept += inline
        return bytes(kept)

    def _leaves(self, root: int) -> list[tuple[int, int]]:
        """Return the number of each leaf page below a page, with its number of elements."""
        found, open_pages = [], [root]
        while open_pages:
            page = open_pages.pop()
            flags, count, room = self._open(page, {_BRANCH, _LEAF})
            if count * _BRANCH_ELEMENT.size > room:
                raise DamagedError(f"page {page} has more elements than room")
            if flags == _LEAF:
                found.append((page, count))
                continue
            elements = self._elements(page, count)
            open_pages += [child for _, _, child in _BRANCH_ELEMENT.iter_unpack(elements)]
        return found

    def _buckets(self, page: int, count: int) -> list[tuple[bytes, int, bytes]]:
        """The buckets in a leaf: name, root page, and the content of a bucket without a page of its own."""
        found = []
        start = page * self._page_size + _HEADER.size
        for index, element in enumerate(_LEAF_ELEMENT.iter_unpack(self._elements(page, count))):
            flags, position, key_size, value_size = element
            if not flags & _IS_BUCKET or value_size < _BUCKET.size:
                continue
            key = start + index * _LEAF_ELEMENT.size + position
            content = self._read(key, min(key_size + value_size, _MOST_KEPT))
            if len(content) < key_size + _BUCKET.size:
                raise DamagedError(f"a bucket on page {page} has a name of {key_size} bytes")
            root, _ = _BUCKET.unpack_from(content, key_size)
            found.append((content[:key_size], root, content[key_size + _BUCKET.size :]))
        return found

    def _open(self, page: int, kinds: set[int]) -> tuple[int, int, int]:
        """Return flags, number of elements and size in bytes (after the header) of a page not yet visited."""
        if not _FIRST <= page < self._pages:
            raise DamagedError(f"page {page} does not exist")
        own, flags, count, further = _HEADER.unpack(self._read(page * self._page_size, _HEADER.size))
        end = page + 1 + further
        if own != page or flags not in kinds or end > self._pages:
            raise DamagedError(f"page {page} is not what it is referenced as")
        if any(self._seen[page:end]):
            raise DamagedError(f"page {page} is referenced twice")
        self._seen[page:end] = b"\1" * (1 + further)
        return flags, count, (1 + further) * self._page_size - _HEADER.size

    def _elements(self, page: int, count: int) -> bytes:
        return self._read(page * self._page_size + _HEADER.size, count * _LEAF_ELEMENT.size)

    def _read(self, offset: int, size: int) -> bytes:
        content = os.pread(self._descriptor, size, offset)
        if len(content) < size:
            raise DamagedError("it ends within a page")
        return content
