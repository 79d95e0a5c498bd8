"""Child processes: run `ktui serve` as one (start, wait, stop), read its lines, end it with its parent.

The dashboard starts its server with ChildLauncher, or attaches to one that runs already with AttachLauncher.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING

from ktui.cli.logs import log_of
from ktui.client.connection import ClientError, ServerConnection
from ktui.client.running import find_running
from ktui.tui.source import Report

if TYPE_CHECKING:
    from ktui.client.api import ApiClient

log = log_of(__name__)

LONGEST = 8192  # bytes of a line that are kept
_CHUNK = 1 << 16


async def lines_of(stream: asyncio.StreamReader) -> AsyncIterator[str]:
    """Yield each line without its end, cut at LONGEST bytes. (asyncio's iteration fails at a long line.)"""
    rest = b""
    while chunk := await stream.read(_CHUNK):
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            yield line[:LONGEST].decode("utf-8", "replace").rstrip()
        rest = rest[:LONGEST]
    if rest:
        yield rest.decode("utf-8", "replace").rstrip()


def signal_group(process: Process, number: int) -> None:
    """Send a signal to a process and its children in its session, unless it has ended."""
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)


PR_SET_PDEATHSIG = 1


def die_with_parent(parent: int) -> None:
    """Have the kernel send SIGTERM to this process when `parent` ends, even by `kill -9`.

    Linux only: elsewhere the parent has to stop its children itself. Exits at once if the parent
    ended before this call.
    """
    if sys.platform == "linux":
        import ctypes  # start-up time

        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    if os.getppid() != parent:
        sys.exit(0)


START_SECONDS = 60.0  # a snapshot of gigabytes takes long to restore
STOP_SECONDS = 8.0
READY = "serving "


class ServerChild:
    """`ktui serve` as a child process that ends with this one. Its last messages say why it ended."""

    def __init__(self, words: Sequence[str], environment: Mapping[str, str] | None = None) -> None:
        self._words = [sys.executable, "-m", "ktui", "serve", f"--parent={os.getpid()}", *words]
        self._environment = {**os.environ, **(environment or {})}
        self._process: Process | None = None
        self._errors: deque[str] = deque(maxlen=50)
        self._reader: asyncio.Task[None] | None = None

    async def start(self) -> ServerConnection:
        """Start the server and wait until it serves. Raises ClientError with the server's message."""
        self._errors.clear()
        process = self._process = await asyncio.create_subprocess_exec(
            *self._words, stdin=DEVNULL, stdout=PIPE, stderr=PIPE, env=self._environment,
            start_new_session=True,  # this process handles Ctrl-C in the terminal
        )  # fmt: skip
        log.info("server started as process %d", process.pid)
        self._reader = asyncio.create_task(self._keep_errors(process))
        try:
            async with asyncio.timeout(START_SECONDS):
                await self._until_ready(process)
        except TimeoutError:
            await self.stop()
            raise ClientError(f"the server did not start within {START_SECONDS:.0f} s") from None
        found = next((server for server in find_running() if server.pid == process.pid), None)
        if found is None:
            raise ClientError("the server serves, but its state file is missing")
        return found.connection

    async def wait(self) -> str:
        """Wait until the server has ended; return the cause as one sentence."""
        if self._process is None:
            raise ClientError("the server was not started")
        return await self._cause(await self._process.wait())

    @property
    def pid(self) -> int:
        return self._process.pid if self._process else 0

    async def stop(self) -> None:
        """Stop the server; kill it after STOP_SECONDS."""
        process = self._process
        if process is None:
            return
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.terminate()
            try:
                async with asyncio.timeout(STOP_SECONDS):
                    await process.wait()
            except TimeoutError:
                process.kill()
                await process.wait()
        if self._reader is not None:
            await self._reader

    async def _until_ready(self, process: Process) -> None:
        assert process.stdout is not None
        async for line in lines_of(process.stdout):
            if line.startswith(READY):
                return
        raise ClientError(await self._cause(await process.wait()))

    async def _keep_errors(self, process: Process) -> None:
        assert process.stderr is not None
        async for line in lines_of(process.stderr):
            self._errors.append(line)

    async def _cause(self, status: int) -> str:
        if self._reader is not None:
            await self._reader
        cause = f"the server ended with status {status}" + (f": {self._errors[-1]}" if self._errors else "")
        if status < 0:
            cause = f"the server was killed by {signal.Signals(-status).name}"
        elif text := next((line for line in reversed(self._errors) if line.startswith("ktui: ")), ""):
            cause = text.removeprefix("ktui: ")
        log.error("the server ended: %s", cause)
        return cause


DYING_SECONDS = 3.0  # longest time between a server's last message and its end


class ChildLauncher:
    """Runs `ktui serve` as a child process, which can be restarted."""

    reconnects = False

    def __init__(self, child: ServerChild, begins: str = "starting etcd and the API server") -> None:
        """`begins` says what the server does first."""
        self._child = child
        self._begins = begins

    async def start(self, report: Report) -> ApiClient:
        report(self._begins)
        connection, make = await asyncio.gather(self._child.start(), _client())
        report("reading the first telemetry")
        return make(connection)

    async def restart(self, report: Report) -> ApiClient:
        await self._child.stop()
        return await self.start(report)

    async def stop(self) -> None:
        await self._child.stop()

    async def why_stopped(self) -> str:
        with contextlib.suppress(TimeoutError):  # the server is still running
            async with asyncio.timeout(DYING_SECONDS):
                return await self._child.wait()
        return ""


class AttachLauncher:
    """Attaches to a server that another process started, and never stops it.

    `find` returns its current connection: after a restart, a server on this machine has another token
    and another certificate.
    """

    reconnects = True

    def __init__(
        self, connection: ServerConnection, find: Callable[[], ServerConnection] | None = None
    ) -> None:
        self._connection = connection
        self._find = find or (lambda: connection)

    async def start(self, report: Report) -> ApiClient:
        report(f"attaching to {self._connection.url}")
        make = await _client()
        return make(self._connection)

    async def restart(self, report: Report) -> ApiClient:
        self._connection = self._find()
        return await self.start(report)

    async def stop(self) -> None: ...

    async def why_stopped(self) -> str:
        return ""  # unknown: the connection is all there is


async def _client() -> type[ApiClient]:
    """Import the client in a thread: httpx takes long to import, and the first frame does not need it."""
    await asyncio.to_thread(import_module, "ktui.client.api")
    from ktui.client.api import ApiClient  # start-up time

    return ApiClient
