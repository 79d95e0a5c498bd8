"""A server that sends only telemetry, in a separate process, to measure the cost of the dashboard alone.

usage: python -m benchmarks.ui.storm EVENTS-A-SECOND SPEED; prints its port, runs until killed
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice

from benchmarks.ui.traffic import events, opening
from ktui.contract.recording import encode_lines

TICK = 0.05  # seconds between two batches, about the same as ktui's server
_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/x-ndjson\r\ntransfer-encoding: chunked\r\n\r\n"
_NOTHING = b"HTTP/1.1 404 Not Found\r\ncontent-length: 2\r\ncontent-type: application/json\r\n\r\n{}"


@contextmanager
def storm(rate: float, speed: float = 1.0) -> Iterator[str]:
    """Run a server that sends `rate` events a second, until the block ends; yield its URL.

    `speed`: how many times faster than real time the events' times advance.
    """
    words = [sys.executable, "-m", "benchmarks.ui.storm", str(rate), str(speed)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{int(process.stdout.readline())}"
    finally:
        process.terminate()
        process.wait()


class _Storm:
    def __init__(self, rate: float, speed: float) -> None:
        self._rate = rate
        self._speed = speed

    async def serve(self) -> None:
        server = await asyncio.start_server(self._answer, "127.0.0.1", 0)
        print(server.sockets[0].getsockname()[1], flush=True)
        await server.serve_forever()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                if head.startswith(b"GET /telemetry "):
                    await self._stream(writer)
                writer.write(_NOTHING)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # the client has disconnected
        finally:
            writer.close()

    async def _stream(self, writer: asyncio.StreamWriter) -> None:
        writer.write(_HEAD)
        began = time.time()
        writer.write(_chunk(encode_lines(opening(began))))
        coming, sent = events(began, self._rate / self._speed), 0
        while True:
            due = int((time.time() - began) * self._rate)
            if due > sent:
                writer.write(_chunk(encode_lines(islice(coming, due - sent))))
                sent = due
            await writer.drain()
            await asyncio.sleep(TICK)


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


if __name__ == "__main__":
    asyncio.run(_Storm(float(sys.argv[1]), float(sys.argv[2])).serve())
