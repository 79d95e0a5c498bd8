"""A bbolt database file, looked at from outside: whole or not, hashed or not, of which etcd."""

from __future__ import annotations

import mmap
import re
import struct
from pathlib import Path
from typing import NamedTuple

from ktui.etcd.errors import SnapshotError

_MAGIC = 0xED0CDAED
_HASH_BYTES = 32  # sha256, which `etcdctl snapshot save` appends to the database
_SECTOR = 512
# A meta page: page header (16 bytes), then magic, version, page size, flags,
# root bucket (16 bytes), free list, high-water mark in pages, transaction id.
_META = struct.Struct("<IIII16xQQQ")
# Bucket "cluster", key "clusterVersion": etcd 3.5+ notes there what all members can do. Pages that were
# freed may hold older copies: versions only rise.
_CLUSTER_VERSION = re.compile(rb"clusterVersion(\d{1,3})\.(\d{1,3})\.\d")


class BoltFile(NamedTuple):
    """`hashed`: it is a snapshot as saved by etcd, not a copy of a member's file.

    `version` is the cluster's (major, minor), None where the file does not say.
    """

    hashed: bool
    version: tuple[int, int] | None


def inspect(file: Path, named: Path) -> BoltFile:
    """Look at `file`; SnapshotError, about `named`, when it is not a whole database."""
    size = file.stat().st_size
    with file.open("rb") as source:
        pages = _meta_pages(source.read(3 * (64 << 10)))
        if not pages:
            raise SnapshotError(f"snapshot {named}: this is not an etcd snapshot (not a bbolt database).")
        page_size, high_water, _ = max(pages, key=lambda page: page[2])
        if size < page_size * high_water:
            raise SnapshotError(
                f"snapshot {named}: the file is truncated ({size} of {page_size * high_water} bytes)."
            )
        with mmap.mmap(source.fileno(), 0, access=mmap.ACCESS_READ) as content:
            version = max(
                ((int(found[1]), int(found[2])) for found in _CLUSTER_VERSION.finditer(content)), default=None
            )
    return BoltFile(size % _SECTOR == _HASH_BYTES, version)


def _meta_pages(head: bytes) -> list[tuple[int, int, int]]:
    """Page size, high-water mark in pages and transaction id of each readable meta page (there are two)."""
    found: list[tuple[int, int, int]] = []
    offset = 0
    while offset + 16 + _META.size <= len(head) and len(found) < 2:
        magic, _, page_size, _, _, high_water, transaction = _META.unpack_from(head, offset + 16)
        if magic != _MAGIC or not 512 <= page_size <= 64 << 10:
            break
        found.append((page_size, high_water, transaction))
        offset += page_size
    return found
