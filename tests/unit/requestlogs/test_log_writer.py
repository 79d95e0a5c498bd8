"""Lines of a log: written by a thread, from a bounded queue."""

from __future__ import annotations

import asyncio
import logging
import re
import threading

import pytest

from ktui.requestlogs.log_writer import AT_ONCE, QUEUED_BYTES, LogWriter, PartlyWritten

pytestmark = pytest.mark.anyio


class Sink:
    """What was written; the first write waits for `go`."""

    def __init__(self) -> None:
        self.data = b""
        self.begun, self.go = threading.Event(), threading.Event()

    def write(self, data: bytes) -> None:
        self.begun.set()
        self.go.wait()
        self.data += data


def put(writer: LogWriter, *lines: bytes) -> None:
    for line in lines:
        writer.put(lambda line=line: line)


async def test_lines_are_written_in_order() -> None:
    sink = Sink()
    sink.go.set()
    writer = LogWriter("x.log", sink.write)
    writer.start()
    lines = [b"%d\n" % number for number in range(AT_ONCE * 2 + 3)]
    put(writer, *lines)
    await writer.stop()
    assert sink.data == b"".join(lines)


async def test_a_request_waits_while_the_queue_is_full() -> None:
    sink = Sink()
    writer = LogWriter("x.log", sink.write, queued=2)
    writer.start()
    put(writer, b"first\n")
    await asyncio.to_thread(sink.begun.wait)
    put(writer, b"a\n", b"b\n", b"c\n")
    waiting = asyncio.create_task(writer.wait_for_room())
    await asyncio.sleep(0)
    assert not waiting.done()
    sink.go.set()
    async with asyncio.timeout(60):
        await waiting
    await writer.stop()
    assert sink.data == b"first\na\nb\nc\n"


async def test_lines_are_dropped_and_counted_if_nothing_may_wait(caplog: pytest.LogCaptureFixture) -> None:
    sink = Sink()
    writer = LogWriter("x.log", sink.write, blocking=False, queued=2)
    put(writer, *[b"line\n"] * 5)
    await writer.wait_for_room()
    sink.go.set()
    writer.start()
    await writer.stop()
    assert (writer.dropped, sink.data) == (3, b"line\n" * 2)
    assert "3 lines of x.log were dropped" in caplog.text


async def test_a_full_disk_is_said_once(caplog: pytest.LogCaptureFixture) -> None:
    def write(data: bytes) -> None:
        raise OSError(28, "No space left on device")

    writer = LogWriter("x.log", write)
    writer.start()
    put(writer, *[b"line\n"] * (AT_ONCE * 3))
    with caplog.at_level(logging.ERROR):
        await writer.stop()
    (said,) = caplog.messages
    assert said == "x.log cannot be written, its lines are lost: No space left on device"


async def test_lost_lines_are_counted_and_the_end_of_the_gap_is_said(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The disk is full for two batches; of the second the first line fits."""
    written, states = [], []

    def write(data: bytes) -> None:
        written.append(data)
        if len(written) in (2, 3):
            raise PartlyWritten(OSError(28, "No space left on device"), len(written) - 2)

    writer = LogWriter("x.log", write, changed=lambda: states.append(writer.warnings()))
    put(writer, *[b"line\n"] * (AT_ONCE * 3 + 1))
    writer.start()
    await writer.stop()
    await asyncio.sleep(0)  # what the thread told the loop
    assert writer.lost == AT_ONCE * 2 - 1 and not writer.problem
    (gap,) = writer.warnings()
    assert re.fullmatch(
        r"x\.log lacks 799 lines: it could not be written from \d\d:\d\d:\d\d to \d\d:\d\d:\d\d "
        r"\(No space left on device\)",
        gap,
    )
    assert caplog.messages == ["x.log cannot be written, its lines are lost: No space left on device", gap]
    assert len(states) == 2 and states[-1] == [gap]


async def test_a_line_that_cannot_be_encoded_is_left_out(caplog: pytest.LogCaptureFixture) -> None:
    sink = Sink()
    sink.go.set()
    writer = LogWriter("x.log", sink.write)

    def broken() -> bytes:
        return "\ud800".encode()

    put(writer, b"a\n")
    writer.put(broken)
    put(writer, b"b\n")
    writer.start()
    await writer.stop()
    assert sink.data == b"a\nb\n"
    assert caplog.messages == ["a line of x.log cannot be encoded, it is lost"]
    assert writer.lost == 1


async def test_a_queue_is_full_of_a_few_large_lines_too() -> None:
    """An Event of the level RequestResponse may have 20 MB."""
    sink = Sink()
    writer = LogWriter("x.log", sink.write)
    writer.start()
    put(writer, b"first\n")
    await asyncio.to_thread(sink.begun.wait)
    writer.put(lambda: b"a\n", QUEUED_BYTES // 2)
    first = asyncio.create_task(writer.wait_for_room())
    await first
    writer.put(lambda: b"b\n", QUEUED_BYTES // 2)
    waiting = asyncio.create_task(writer.wait_for_room())
    await asyncio.sleep(0)
    assert not waiting.done()
    sink.go.set()
    async with asyncio.timeout(60):
        await waiting
    await writer.stop()
    assert sink.data == b"first\na\nb\n"
