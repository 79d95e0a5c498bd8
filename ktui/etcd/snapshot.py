"""Restore snapshot files of an etcd into a data directory."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import os
import re
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, NamedTuple, cast

from ktui.etcd.binary import Binary, output_of, packaged_binary
from ktui.etcd.bolttree import BoltTree, DamagedError
from ktui.etcd.errors import SnapshotError
from ktui.etcd.server_log import EtcdLog

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
    """A bbolt file."""

    hashed: bool  # etcd saved it as a snapshot; it is not a copy of a member's file
    version: tuple[int, int] | None  # the cluster's (major, minor), None if the file does not have it


class _Meta(NamedTuple):
    page_size: int
    root: int
    free_list: int
    pages: int
    transaction: int


def inspect(file: Path, named: Path) -> BoltFile:
    """Return whether a bbolt database has a hash, and which etcd wrote it.

    Raise SnapshotError, with the path `named`, if `file` is not a complete database. Its pages are
    checked here first: etcd and its tools follow a page that points to itself until memory is full.
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
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return value


_GZIP = b"\x1f\x8b"
_PIECE = 1 << 20
# A snapshot's compression ratio is 5 to 20; a file with a much higher ratio is not a snapshot, and would fill
# the disk.
MOST_RATIO = 200
MOST_UNPACKED = 1 << 30  # bytes that every file may have, whatever its ratio
RESTORE_SECONDS = 600.0  # for the largest database that etcd allows (8 GiB), on a slow disk


async def restore(file: Path, data_dir: Path, scratch: Path, binary: Binary) -> list[str]:
    """Restore `file` (plain or gzip) into the empty `data_dir`; return warnings for the user.

    `scratch` is a directory for the unpacked file. A member's `db` file, which has no hash, is accepted too,
    with a warning.
    """
    plain = await asyncio.to_thread(_unpacked, file, scratch)
    found = await asyncio.to_thread(inspect, plain, file)
    warnings = _warnings(file, found, binary)
    await asyncio.to_thread(data_dir.rmdir)  # etcdutl creates the directory
    command = [*_tool(binary), str(plain), "--data-dir", str(data_dir)]
    if not found.hashed:
        command.append("--skip-hash-check")
    await _run(command, file, warnings)
    if plain != file:
        plain.unlink()
    return warnings


def check(file: Path) -> None:
    """Raise SnapshotError unless the file can be read and begins as a snapshot does. Fast."""
    with _errors_of(file), _opened(file) as source:
        _newest_meta(source.read(HEAD_BYTES), file)


def _unpacked(file: Path, scratch: Path) -> Path:
    """Return the plain file; a packed one is unpacked into `scratch` if it begins as a snapshot does."""
    check(file)
    with _errors_of(file):
        size = file.stat().st_size
        most = max(MOST_UNPACKED, MOST_RATIO * size)
        with _opened(file) as source:
            if not isinstance(source, gzip.GzipFile):
                return file
            plain = scratch / "snapshot.db"
            with plain.open("wb") as target:
                while piece := source.read(_PIECE):
                    target.write(piece)
                    if target.tell() > most:
                        raise SnapshotError(
                            f"snapshot {file}: unpacked it has more than {MOST_RATIO} times its {size} bytes."
                        )
    return plain


@contextlib.contextmanager
def _opened(file: Path) -> Iterator[IO[bytes]]:
    """Open the file's content, unpacked if it is packed; refuse pipes and devices, which may never end."""
    if file.exists() and not file.is_file():
        raise SnapshotError(f"snapshot {file}: this is {'a directory' if file.is_dir() else 'not a file'}.")
    with file.open("rb") as source:
        packed = source.read(2) == _GZIP
        source.seek(0)
        if not packed:
            yield source
            return
        with gzip.open(source) as plain:
            yield cast(IO[bytes], plain)


@contextlib.contextmanager
def _errors_of(file: Path) -> Iterator[None]:
    """Turn errors of the file itself into a SnapshotError."""
    try:
        yield
    except FileNotFoundError:
        raise SnapshotError(f"snapshot {file}: there is no such file.") from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise SnapshotError(f"snapshot {file}: the gzip file is truncated or damaged.", str(error)) from error
    except OSError as error:
        why = error.strerror or str(error)
        raise SnapshotError(f"snapshot {file}: {why}.", str(error)) from error


def _warnings(file: Path, found: BoltFile, binary: Binary) -> list[str]:
    warnings = []
    if not found.hashed:
        warnings.append(f"{file.name} has no hash (a copy of a member's db?): it is used unchecked")
    if found.version is not None and found.version > binary.numbers[:2]:
        theirs = ".".join(map(str, found.version))
        warnings.append(
            f"{file.name} is from etcd {theirs} and is read with etcd {binary.version or 'unknown'}: "
            f"should something be missing, name an etcd {theirs} with --etcd-binary"
        )
    return warnings


def _tool(binary: Binary) -> list[str]:
    """Return `etcdutl` of the same distribution (`etcdctl` up to 3.4), else the packaged one."""
    packaged = packaged_binary()
    for candidate in (binary, packaged):
        for name in ("etcdutl", "etcdctl"):
            if candidate and (path := candidate.sibling(name)):
                return [str(path), "snapshot", "restore"]
    raise SnapshotError("no etcdutl next to the etcd binary: it is needed to restore a snapshot.")


async def _run(command: list[str], file: Path, warnings: list[str]) -> None:
    try:
        status, output = await output_of(command, RESTORE_SECONDS)
    except TimeoutError:
        raise SnapshotError(f"snapshot {file} is not restored after {RESTORE_SECONDS:.0f} s.") from None
    if status:
        log = EtcdLog()
        for line in output.splitlines():
            log.add(line)
        if log.no_space:
            why = "no space is left on the disk"
        elif log.crash:
            raise damaged(file, log)
        else:
            why = log.cause.removeprefix("Error: ")
        notes = "".join(f" ({warning})" for warning in warnings)
        raise SnapshotError(f"snapshot {file} cannot be restored: {why}{notes}.", log.cause)


def damaged(file: Path, log: EtcdLog) -> SnapshotError:
    """Return the error for a snapshot whose content made etcd or its tool crash."""
    return SnapshotError(f"snapshot {file}: the database in it is damaged ({log.crash[:400]}).", log.cause)
