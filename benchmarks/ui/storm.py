"""A server that is nothing but telemetry, in a process of its own: what the dashboard costs by itself.

usage: python -m benchmarks.ui.storm EVENTS-A-SECOND [FASTER]; prints its port, ends when killed
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

TICK = 0.05  # seconds between two batches, as a server's loop makes them
_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/x-ndjson\r\ntransfer-encoding: chunked\r\n\r\n"
_NOTHING = b"HTTP/1.1 404 Not Found\r\ncontent-length: 2\r\ncontent-type: application/json\r\n\r\n{}"


@contextmanager
def storm(a_second: float, faster: float = 1.0) -> Iterator[str]:
    """While the block runs, a server sends events at `rate` a second; its URL.

    `faster`: this many times as much time passes in the events as on the clock.
    """
    words = [sys.executable, "-m", "benchmarks.ui.storm", str(a_second), str(faster)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{int(process.stdout.readline())}"
    finally:
        process.terminate()
        process.wait()


class _Storm:
    def __init__(self, a_second: float, faster: float) -> None:
        self._a_second = a_second
        self._faster = faster

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
            pass  # the reader has gone
        finally:
            writer.close()

    async def _stream(self, writer: asyncio.StreamWriter) -> None:
        writer.write(_HEAD)
        began = time.time()
        writer.write(_chunk(encode_lines(opening(began))))
        coming, sent = events(began, self._a_second / self._faster), 0
        while True:
            due = int((time.time() - began) * self._a_second)
            if due > sent:
                writer.write(_chunk(encode_lines(islice(coming, due - sent))))
                sent = due
            await writer.drain()
            await asyncio.sleep(TICK)


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


if __name__ == "__main__":
    asyncio.run(_Storm(float(sys.argv[1]), float(sys.argv[2])).serve())
