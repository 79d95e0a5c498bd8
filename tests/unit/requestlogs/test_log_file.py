"""A log file: written by a thread from a bounded queue, rotated by size."""

from __future__ import annotations

import asyncio
import os
import re
import threading
from pathlib import Path

import pytest

from ktui.requestlogs.log_file import LogFile, Rotation

pytestmark = pytest.mark.anyio


async def test_lines_are_appended_in_order(tmp_path: Path) -> None:
    path = tmp_path / "audit.log"
    path.write_bytes(b"before\n")
    file = LogFile(str(path))
    file.start()
    for number in range(1000):
        file.put(lambda number=number: b"%d\n" % number)
    await file.stop()
    assert path.read_bytes() == b"before\n" + b"".join(b"%d\n" % number for number in range(1000))


async def test_a_new_file_is_for_its_owner_only(tmp_path: Path) -> None:
    file = LogFile(str(tmp_path / "audit.log"))
    file.start()
    await file.stop()
    assert (tmp_path / "audit.log").stat().st_mode & 0o777 == 0o600


async def test_a_request_waits_while_the_queue_is_full(tmp_path: Path) -> None:
    file = LogFile(str(tmp_path / "audit.log"), queued=2)
    file.start()
    slow = threading.Event()
    file.put(lambda: b"slow\n" if slow.wait() else b"")
    for _ in range(3):
        file.put(lambda: b"line\n")
    waiting = asyncio.create_task(file.room())
    await asyncio.sleep(0)
    assert not waiting.done()
    slow.set()
    async with asyncio.timeout(60):
        await waiting
    await file.stop()
    assert (tmp_path / "audit.log").read_bytes() == b"slow\n" + b"line\n" * 3


async def test_lines_are_dropped_and_counted_if_nothing_may_wait(tmp_path: Path) -> None:
    file = LogFile(str(tmp_path / "audit.log"), blocking=False, queued=2)
    for _ in range(5):
        file.put(lambda: b"line\n")
    await file.room()
    assert file.dropped == 3
    file.start()
    await file.stop()
    assert (tmp_path / "audit.log").read_bytes() == b"line\n" * 2


async def test_a_full_file_is_rotated_and_old_ones_are_deleted(tmp_path: Path) -> None:
    path = tmp_path / "audit.log"
    outdated = tmp_path / "audit-2020-01-01T00-00-00.000.log"
    other = tmp_path / "audit-of-another.log"
    for old in (outdated, other):
        old.write_bytes(b"old")
        os.utime(old, (0, 0))
    path.write_bytes(b"x" * (1 << 20))
    file = LogFile(str(path), Rotation(megabytes=1, days=30))
    file.start()
    file.put(lambda: b"new\n")
    await file.stop()
    assert path.read_bytes() == b"new\n"
    (rotated,) = set(tmp_path.iterdir()) - {path, other}
    assert re.fullmatch(r"audit-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}\.log", rotated.name)
    assert rotated.stat().st_size == 1 << 20


async def test_a_directory_is_not_opened(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="Is a directory"):
        LogFile(str(tmp_path))
