"""Snapshot files of an etcd, restored into a directory that etcd can be started on."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import shutil
import zlib
from pathlib import Path

from ktui.etcd.binary import Binary, packaged_binary
from ktui.etcd.boltfile import BoltFile, inspect
from ktui.etcd.errors import SnapshotError
from ktui.etcd.etcdlog import EtcdLog

_GZIP = b"\x1f\x8b"


async def restore(file: Path, data_dir: Path, scratch: Path, binary: Binary) -> list[str]:
    """Restore `file` (plain or gzip) into the empty `data_dir`; warnings for people.

    `scratch` is a directory for the unpacked file. A member's `db` file, which
    has no hash, is taken too, with a warning.
    """
    plain = await asyncio.to_thread(_unpacked, file, scratch)
    found = await asyncio.to_thread(inspect, plain, file)
    warnings = _warnings(file, found, binary)
    await asyncio.to_thread(data_dir.rmdir)  # etcdutl wants to make it
    command = [*_tool(binary), str(plain), "--data-dir", str(data_dir)]
    if not found.hashed:
        command.append("--skip-hash-check")
    await _run(command, file, warnings)
    if plain != file:
        plain.unlink()
    return warnings


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
    """`etcdutl` of the same distribution (`etcdctl` up to 3.4), else the packaged one."""
    packaged = packaged_binary()
    for candidate in (binary, packaged):
        for name in ("etcdutl", "etcdctl"):
            if candidate and (path := candidate.sibling(name)):
                return [str(path), "snapshot", "restore"]
    raise SnapshotError("no etcdutl next to the etcd binary: it is needed to restore a snapshot.")


async def _run(command: list[str], file: Path, warnings: list[str]) -> None:
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        output, _ = await process.communicate()
    except BaseException:
        with contextlib.suppress(ProcessLookupError):  # it has ended, and word of it comes late
            process.kill()
        await process.wait()
        raise
    if process.returncode:
        log = EtcdLog()
        for line in output.splitlines():
            log.add(line)
        if log.no_space:
            why = "no space is left on the disk"
        elif log.crash:
            why = f"the database in it is damaged ({log.crash[:400]})"
        else:
            why = log.telling.removeprefix("Error: ")
        notes = "".join(f" ({warning})" for warning in warnings)
        raise SnapshotError(f"snapshot {file} cannot be restored: {why}{notes}.", log.telling)
