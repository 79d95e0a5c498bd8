"""Measure what sending bytes costs without other work: ktui's HTTP server sends ready bytes.

`GET /SIZE` is answered with SIZE bytes, in chunks as those of a LIST.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import uvloop

from benchmarks.http import Client
from ktui.apiserver.framing import CHUNK_BYTES
from ktui.apiserver.http import Receive, Scope, Send
from ktui.apiserver.http.listener import HttpServer
from ktui.apiserver.http.tls import ensure_certificate
from ktui.cli.server.runtime import shorten_thread_switches

_READY = os.urandom(CHUNK_BYTES)


@contextmanager
def transferring() -> Iterator[Client]:
    """Yield a client of such a server, which is a separate process."""
    with TemporaryDirectory() as directory:
        words = [sys.executable, "-m", "benchmarks.transfer", directory]
        process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        try:
            assert process.stdout is not None
            client = Client(int(process.stdout.readline()), "")
            yield client
            client.close()
        finally:
            process.terminate()
            process.wait()


async def _send(scope: Scope, receive: Receive, send: Send) -> None:
    left = int(scope["path"].strip("/"))
    await send({"type": "http.response.start", "status": 200, "headers": []})
    while left > 0:
        body = _READY[:left]
        left -= len(body)
        await send({"type": "http.response.body", "body": body, "more_body": left > 0})


async def _serve(directory: Path) -> None:
    server = HttpServer(_send, "127.0.0.1:0", ensure_certificate(directory, "127.0.0.1"))
    await server.start()
    print(server.port, flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    shorten_thread_switches()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve(Path(sys.argv[1])))
