"""Inspect a bbolt database file: whether it is complete, whether it has a hash, and which etcd wrote it."""

from __future__ import annotations

import os
import re
import struct
from pathlib import Path
from typing import NamedTuple

from ktui.etcd.bolttree import BoltTree, DamagedError
from ktui.etcd.errors import SnapshotError

HEAD_BYTES = 3 * (64 << 10)  # bytes at the beginning that hold both meta pages
_MAGIC, _VERSION = 0xED0CDAED, 2
_HASH_BYTES = 32  # sha256, which `etcdctl snapshot save` appends to the database
_SECTOR = 512
# A meta page: page header (16 bytes), then magic, version, page size, flags,
# root bucket (page, sequence), free list, high-water mark in pages, transaction id, checksum.
_META = struct.Struct("<IIIIQ8xQQQQ")
_PAGE_HEADER_BYTES = 16
# Bucket "cluster", key "clusterVersion": there etcd 3.5+ stores the version that all members support.
_CLUSTER_VERSION = re.compile(rb"clusterVersion(\d{1,3})\.(\d{1,3})\.\d")


class BoltFile(NamedTuple):
    """A bbolt file. `hashed`: etcd saved it as a snapshot; it is not a copy of a member's file.

    `version` is the cluster's (major, minor), None if the file does not have it.
    """

    hashed: bool
    version: tuple[int, int] | None


class _Meta(NamedTuple):
    page_size: int
    root: int
    free_list: int
    pages: int
    transaction: int


def check_head(head: bytes, named: Path) -> None:
    """Raise SnapshotError, with the path `named`, unless `head` (HEAD_BYTES) begins a bbolt database."""
    _newest_meta(head, named)


def inspect(file: Path, named: Path) -> BoltFile:
    """Inspect `file`; raise SnapshotError, with the path `named`, if it is not a complete database.

    Its pages are checked here first: etcd and its tools follow a page that points to itself until memory is
    full.
    """
    size = file.stat().st_size
    with file.open("rb") as source:
        meta = _newest_meta(source.read(HEAD_BYTES), named)
        if size < meta.page_size * meta.pages:
            raise SnapshotError(
                f"snapshot {named}: the file is truncated ({size} of {meta.page_size * meta.pages} bytes)."
            )
        tree = BoltTree(source.fileno(), meta.page_size, meta.pages)
        try:
            tree.check_free_list(meta.free_list)
            cluster = tree.walk(meta.root, keep=b"cluster")
        except DamagedError as error:
            raise SnapshotError(f"snapshot {named}: the database in it is damaged ({error}).") from error
        except OSError as error:
            raise SnapshotError(f"snapshot {named}: {error.strerror or os.strerror(5)}.") from error
    found = _CLUSTER_VERSION.search(cluster)
    return BoltFile(size % _SECTOR == _HASH_BYTES, (int(found[1]), int(found[2])) if found else None)


def _newest_meta(head: bytes, named: Path) -> _Meta:
    """Return the meta page that bbolt uses: of the two, the valid one with the higher transaction id."""
    found: list[_Meta] = []
    offset = 0
    for _ in range(2):
        start = offset + _PAGE_HEADER_BYTES
        if len(head) < start + _META.size:
            break
        magic, version, page_size, _, *rest, checksum = _META.unpack_from(head, start)
        if magic != _MAGIC or version != _VERSION or not 512 <= page_size <= 64 << 10:
            break
        if _fnv(head[start : start + _META.size - 8]) == checksum:
            found.append(_Meta(page_size, *rest))
        offset += page_size
    if not found:
        raise SnapshotError(f"snapshot {named}: this is not an etcd snapshot (not a bbolt database).")
    return max(found, key=lambda meta: meta.transaction)


def _fnv(data: bytes) -> int:
    """Return the 64-bit FNV-1a hash."""
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return value
