"""One page of `ktui web`: run a dashboard process and connect it with the browser."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Sequence

from aiohttp import web
from textual_serve.app_service import AppService
from textual_serve.download_manager import DownloadManager

from ktui.cli.logs import log_of
from ktui.core.format import safe

log = log_of(__name__)

PATIENCE = 0.5  # seconds for a page's process, and its browser, to end before they are killed
SIGN = b"__GANGLION__\n"  # what a Textual app writes before its first packet
DATA, META, PACKED = b"D", b"M", b"P"
LAST_LINES = 12  # of a process' standard error
CLEAR = "\x1b[?1049l\x1b[2J\x1b[H"


class BrowserSession(AppService):
    """textual-serve's service of one app. Its process ends with the websocket, and its output is always read:
    a process whose output blocks could not end. The page shows the last lines."""

    def __init__(
        self, words: Sequence[str], websocket: web.WebSocketResponse, downloads: DownloadManager
    ) -> None:
        send, send_text = websocket.send_bytes, websocket.send_str
        super().__init__(
            "", write_bytes=send, write_str=send_text, close=self._close, download_manager=downloads
        )
        self._words = words
        self._websocket = websocket

    async def stop(self) -> None:
        """End process and websocket within twice PATIENCE. May be called twice."""
        process, task = self._process, self._task
        if process is None or task is None:
            return
        await self._download_manager.cancel_app_downloads(app_service_id=self.app_service_id)
        _send(process, signal.SIGTERM)
        await asyncio.wait({task}, timeout=PATIENCE)
        _send(process, signal.SIGKILL)
        await self._close()
        await asyncio.wait({task}, timeout=PATIENCE)
        task.cancel()  # its browser no longer reads
        await asyncio.gather(task, return_exceptions=True)

    async def run(self) -> None:
        """Pass packets until the process has ended, then close the page."""
        process = self._process
        assert process is not None and process.stdout is not None and process.stderr is not None
        errors = asyncio.create_task(_last_lines(process.stderr), name="a page's errors")
        takers = {DATA: self.on_data, META: self.on_meta, PACKED: self.on_packed}
        async for kind, payload in _packets(process.stdout):
            with contextlib.suppress(ConnectionError):  # the page is gone; the rest is read and dropped
                if kind in takers:
                    await takers[kind](payload)
        with contextlib.suppress(TimeoutError):  # the process has closed its output but does not end
            async with asyncio.timeout(PATIENCE):
                await process.wait()
        _send(process, signal.SIGKILL)
        status, lines = await process.wait(), await errors
        how = f"was killed by {signal.Signals(-status).name}" if status < 0 else f"ended with status {status}"
        log.info("a page's dashboard %s", how)
        if status and not self._websocket.closed:
            text = [safe(line) for line in lines] or [f"the dashboard {how}"]
            with contextlib.suppress(ConnectionError):
                await self.remote_write_bytes((CLEAR + "\r\n".join(text)).encode())
        await self._close()

    async def on_meta(self, data: bytes) -> None:
        """textual-serve would close the page on `exit`, before the process can report why."""
        if json.loads(data)["type"] != "exit":
            await super().on_meta(data)

    async def _open_app_process(self, width: int = 80, height: int = 24) -> Process:
        self._process = process = await asyncio.create_subprocess_exec(
            *self._words, stdin=PIPE, stdout=PIPE, stderr=PIPE,
            env=self._build_environment(width=width, height=height),
            start_new_session=True,  # `ktui web` handles Ctrl-C in the terminal, and ends its pages
        )  # fmt: skip
        self._stdin = process.stdin
        return process

    async def _close(self) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE):
                await self._websocket.close()


def _send(process: Process, number: signal.Signals) -> None:
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)


async def _packets(stdout: asyncio.StreamReader) -> AsyncIterator[tuple[bytes, bytes]]:
    """Yield kind and payload until the process has ended; nothing if it is not a Textual app."""
    with contextlib.suppress(asyncio.IncompleteReadError):
        if await stdout.readexactly(len(SIGN)) != SIGN:
            await stdout.read()
            return
        while True:
            head = await stdout.readexactly(5)
            yield head[:1], await stdout.readexactly(int.from_bytes(head[1:], "big"))


async def _last_lines(stderr: asyncio.StreamReader) -> list[str]:
    kept = b""
    while read := await stderr.read(4096):
        kept = (kept + read)[-8192:]
    return kept.decode("utf-8", "replace").splitlines()[-LAST_LINES:]
