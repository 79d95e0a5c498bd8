"""Parser processes: started when first needed, few, and replaced when one ends."""

from __future__ import annotations

import asyncio
import contextlib
import heapq
import itertools
import logging
import signal
import sys
from collections.abc import AsyncIterator, Callable

from ktui.apiserver.parsing.frames import END, HEADER
from ktui.documents.limits import DocumentError, TooLarge

log = logging.getLogger(__name__)

PROCESSES = 2
IDLE_SECONDS = 60.0
ANSWER_SECONDS = 60.0  # the CPU limit of a process ends it sooner, unless the machine is overloaded

Frames = list[tuple[bytes, bytes]]


class ParserPool:
    """Hands bodies to parser processes, the smallest first."""

    def __init__(self, processes: int = PROCESSES) -> None:
        self._most = processes
        self._idle: list[_Process] = []
        self._started: set[_Process] = set()
        self._waiting: list[tuple[int, int, asyncio.Future[None]]] = []
        self._turns = itertools.count()
        self._busy = 0

    async def parse(self, kind: bytes, body: bytes) -> Frames:
        """The answer's frames, without the last one; DocumentError if the body ends the process."""
        async with self._turn(len(body)):
            process = self._idle.pop() if self._idle else await self._start()
            process.keep()
            answered = False
            try:
                async with asyncio.timeout(ANSWER_SECONDS):
                    frames = await process.ask(kind, body)
                answered = True
            except TimeoutError:
                raise _too_slow() from None
            except (EOFError, ConnectionError):
                raise self._cause(await process.ended()) from None
            finally:
                if answered:
                    self._put_back(process)
                else:
                    self._drop(process)
            return frames

    def close(self) -> None:
        """End the processes."""
        for process in list(self._started):
            self._drop(process)

    @property
    def pids(self) -> list[int]:
        """Of the processes that run."""
        return [process.pid for process in self._started]

    @contextlib.asynccontextmanager
    async def _turn(self, size: int) -> AsyncIterator[None]:
        if self._busy < self._most:
            self._busy += 1
        else:
            turn = asyncio.get_running_loop().create_future()
            heapq.heappush(self._waiting, (size, next(self._turns), turn))
            try:
                await turn
            except asyncio.CancelledError:
                if turn.done() and not turn.cancelled():
                    self._next()
                raise
        try:
            yield
        finally:
            self._next()

    def _next(self) -> None:
        """Give the turn to the smallest body that waits."""
        while self._waiting:
            turn = heapq.heappop(self._waiting)[2]
            if not turn.done():
                turn.set_result(None)
                return
        self._busy -= 1

    async def _start(self) -> _Process:
        process = await _Process.start(self._drop)
        self._started.add(process)
        return process

    def _put_back(self, process: _Process) -> None:
        if process.alive:
            process.drop_after(IDLE_SECONDS)
            self._idle.append(process)
        else:
            self._drop(process)

    def _drop(self, process: _Process) -> None:
        self._started.discard(process)
        if process in self._idle:
            self._idle.remove(process)
        process.end()

    def _cause(self, status: int) -> DocumentError:
        if status == -signal.SIGPROF:
            return _too_slow()
        log.warning("a parser process ended with status %d", status)
        return DocumentError("the document cannot be read: its parser ended unexpectedly")


class _Process:
    """One parser process."""

    def __init__(self, process: asyncio.subprocess.Process, drop: Callable[[_Process], None]) -> None:
        self._process = process
        self._drop = drop
        self._timer: asyncio.TimerHandle | None = None

    @classmethod
    async def start(cls, drop: Callable[[_Process], None]) -> _Process:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "ktui.apiserver.parsing.worker",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,  # a Ctrl-C in the terminal is for the server
            limit=1 << 20,
        )
        return cls(process, drop)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self._process.returncode is None

    async def ask(self, kind: bytes, body: bytes) -> Frames:
        """EOFError, ConnectionError: the process has ended."""
        sink, source = self._process.stdin, self._process.stdout
        assert sink is not None and source is not None
        sink.write(HEADER.pack(kind, len(body)))
        sink.write(body)
        frames: Frames = []
        while True:
            kind, size = HEADER.unpack(await source.readexactly(HEADER.size))
            if kind == END:
                return frames
            frames.append((kind, await source.readexactly(size)))

    async def ended(self) -> int:
        """Wait for the end; the exit status."""
        return await self._process.wait()

    def keep(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def drop_after(self, seconds: float) -> None:
        """End it when it has not been asked for so long."""
        self._timer = asyncio.get_running_loop().call_later(seconds, self._drop, self)

    def end(self) -> None:
        self.keep()
        if self.alive:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()


def _too_slow() -> TooLarge:
    return TooLarge("the document takes too long to read")
