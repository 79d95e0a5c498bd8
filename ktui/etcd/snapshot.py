"""Restore snapshot files of an etcd into a data directory."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, cast

from ktui.etcd.binary import Binary, packaged_binary
from ktui.etcd.boltfile import HEAD_BYTES, BoltFile, check_head, inspect
from ktui.etcd.errors import SnapshotError
from ktui.etcd.etcdlog import EtcdLog

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
        check_head(source.read(HEAD_BYTES), file)


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
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        async with asyncio.timeout(RESTORE_SECONDS):
            output, _ = await process.communicate()
    except TimeoutError:
        process.kill()
        await process.wait()
        raise SnapshotError(f"snapshot {file} is not restored after {RESTORE_SECONDS:.0f} s.") from None
    except BaseException:
        # the process has ended, and the notification comes late
        with contextlib.suppress(ProcessLookupError):
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
            raise damaged(file, log)
        else:
            why = log.cause.removeprefix("Error: ")
        notes = "".join(f" ({warning})" for warning in warnings)
        raise SnapshotError(f"snapshot {file} cannot be restored: {why}{notes}.", log.cause)


def damaged(file: Path, log: EtcdLog) -> SnapshotError:
    """Return the error for a snapshot whose content made etcd or its tool crash."""
    return SnapshotError(f"snapshot {file}: the database in it is damaged ({log.crash[:400]}).", log.cause)
