"""Snapshot files of an etcd, restored into a directory that etcd can be started on."""

from __future__ import annotations

import asyncio
import gzip
import shutil
import struct
import zlib
from pathlib import Path

from ktui.etcd.binary import Binary, packaged_binary
from ktui.etcd.errors import SnapshotError
from ktui.etcd.etcdlog import EtcdLog

_GZIP = b"\x1f\x8b"
_BOLT_MAGIC = 0xED0CDAED
_HASH_BYTES = 32  # sha256, which `etcdctl snapshot save` appends to the database
_SECTOR = 512
# A bbolt meta page: page header (16 bytes), then magic, version, page size, flags,
# root bucket (16 bytes), free list, high-water mark in pages, transaction id.
_META = struct.Struct("<IIII16xQQQ")


async def restore(file: Path, data_dir: Path, scratch: Path, binary: Binary) -> list[str]:
    """Restore `file` (plain or gzip) into the empty `data_dir`; warnings for people.

    `scratch` is a directory for the unpacked file. A member's `db` file, which
    bears no hash, is taken too, with a warning.
    """
    plain = await asyncio.to_thread(_unpacked, file, scratch)
    hashed = await asyncio.to_thread(_inspect, file, plain)
    await asyncio.to_thread(data_dir.rmdir)  # etcdutl wants to make it
    command = [*_tool(binary), str(plain), "--data-dir", str(data_dir)]
    if not hashed:
        command.append("--skip-hash-check")
    await _run(command, file)
    if plain != file:
        plain.unlink()
    return [] if hashed else [f"{file.name} has no hash (a copy of a member's db?): it is used unchecked."]


def _unpacked(file: Path, scratch: Path) -> Path:
    try:
        with file.open("rb") as source:
            if source.read(2) != _GZIP:
                return file
        plain = scratch / "snapshot.db"
        with gzip.open(file) as source, plain.open("wb") as target:
            shutil.copyfileobj(source, target, 1 << 20)
    except FileNotFoundError:
        raise SnapshotError(f"snapshot {file}: there is no such file.") from None
    except (EOFError, zlib.error) as error:
        raise SnapshotError(f"snapshot {file}: the gzip file is truncated or damaged.", str(error)) from error
    except OSError as error:
        why = error.strerror or str(error)
        raise SnapshotError(f"snapshot {file}: {why}.", str(error)) from error
    return plain


def _inspect(file: Path, plain: Path) -> bool:
    """Whether the database bears a hash; SnapshotError when it is none, or not all of one."""
    size = plain.stat().st_size
    with plain.open("rb") as source:
        pages = _meta_pages(source.read(3 * (64 << 10)))
    if not pages:
        raise SnapshotError(f"snapshot {file}: this is no etcd snapshot (no bbolt database).")
    page_size, high_water, _ = max(pages, key=lambda page: page[2])
    if size < page_size * high_water:
        raise SnapshotError(
            f"snapshot {file}: the file is truncated ({size} of {page_size * high_water} bytes)."
        )
    return size % _SECTOR == _HASH_BYTES


def _meta_pages(head: bytes) -> list[tuple[int, int, int]]:
    """Page size, high-water mark in pages and transaction id of each readable meta page (there are two)."""
    found: list[tuple[int, int, int]] = []
    offset = 0
    while offset + 16 + _META.size <= len(head) and len(found) < 2:
        magic, _, page_size, _, _, high_water, transaction = _META.unpack_from(head, offset + 16)
        if magic != _BOLT_MAGIC or not 512 <= page_size <= 64 << 10:
            break
        found.append((page_size, high_water, transaction))
        offset += page_size
    return found


def _tool(binary: Binary) -> list[str]:
    """`etcdutl` of the same distribution (`etcdctl` up to 3.4), else the packaged one."""
    packaged = packaged_binary()
    for candidate in (binary, packaged):
        for name in ("etcdutl", "etcdctl"):
            if candidate and (path := candidate.sibling(name)):
                return [str(path), "snapshot", "restore"]
    raise SnapshotError("there is no etcdutl beside the etcd binary to restore a snapshot with.")


async def _run(command: list[str], file: Path) -> None:
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        output, _ = await process.communicate()
    except BaseException:
        process.kill()
        await process.wait()
        raise
    if process.returncode:
        log = EtcdLog()
        for line in output.splitlines():
            log.add(line)
        why = "no space is left on the disk" if log.no_space else log.telling.removeprefix("Error: ")
        raise SnapshotError(f"snapshot {file} cannot be restored: {why}.", log.telling)
