"""A few parser processes, started on demand and replaced when one ends."""

from __future__ import annotations

import asyncio
import bisect
import contextlib
import itertools
import logging
import signal
import socket
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import dataclass
from typing import Any

import msgspec

from ktui.apiserver.parsing.worker import DUPLICATES, END, HEADER, INVALID, JSON, PIECE, TOO_LARGE, YAML
from ktui.documents.jsonreader import duplicate_fields, parse_json, read_json
from ktui.documents.limits import DocumentError, TooLarge
from ktui.documents.tree_pieces import Piece, joined
from ktui.kube.status import service_unavailable
from ktui.telemetry.meter import current_meter
from ktui.telemetry.off_loop import compute

log = logging.getLogger(__name__)

PROCESSES = 3
EACH = 2  # processes that one user's bodies may occupy
CHUNK_BYTES = 64 * 1024
IDLE_SECONDS = 60.0
ANSWER_SECONDS = 60.0  # seconds; a process's CPU limit ends it sooner, unless the machine is overloaded

Frames = list[tuple[bytes, bytes]]


class ParserPool:
    """Passes bodies to parser processes, the smallest first; those of one user leave one process free."""

    def __init__(self, processes: int = PROCESSES, each: int = EACH) -> None:
        self._most, self._each = processes, each
        self._idle: list[_Process] = []
        self._started: set[_Process] = set()
        self._waiting: list[tuple[int, int, str, asyncio.Future[None]]] = []
        self._turns = itertools.count()
        self._busy: Counter[str] = Counter()  # by user

    async def parse(self, kind: bytes, body: bytes) -> Frames:
        """The response's frames without the last one; raise DocumentError if the body ends the process."""
        async with self._turn(len(body)):
            while True:
                process = self._idle.pop() if self._idle else await self._start()
                try:
                    return await self._ask(process, kind, body)
                except _Ended as ended:
                    if ended.status != 0:  # otherwise it retired after its last response
                        raise ended.cause() from None

    async def _ask(self, process: _Process, kind: bytes, body: bytes) -> Frames:
        process.keep()
        answered = False
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                frames = await process.ask(kind, body)
            answered = True
        except TimeoutError:
            raise _too_slow() from None
        except (EOFError, OSError):
            raise _Ended(await process.ended()) from None
        finally:
            if answered:
                process.drop_when_idle()
                self._idle.append(process)
            else:
                self._drop(process)
        return frames

    async def close(self) -> None:
        processes = list(self._started)
        for process in processes:
            self._drop(process)
        await asyncio.gather(*(process.ended() for process in processes))

    @property
    def pids(self) -> list[int]:
        return [process.pid for process in self._started]

    @contextlib.asynccontextmanager
    async def _turn(self, size: int) -> AsyncIterator[None]:
        user = current_meter().user
        if self._has_room(user):
            self._busy[user] += 1
        else:
            turn = asyncio.get_running_loop().create_future()
            bisect.insort(self._waiting, waits := (size, next(self._turns), user, turn))
            try:
                await turn
            except asyncio.CancelledError:
                if turn.done() and not turn.cancelled():
                    self._next(user)
                else:
                    self._waiting.remove(waits)
                raise
        try:
            yield
        finally:
            self._next(user)

    def _has_room(self, user: str) -> bool:
        return self._busy.total() < self._most and self._busy[user] < self._each

    def _next(self, user: str) -> None:
        """Record that a body of the user is done; let the smallest waiting bodies continue."""
        self._busy[user] -= 1
        self._busy = +self._busy
        for waits in [*self._waiting]:
            _, _, waiting, turn = waits
            if not turn.done() and self._has_room(waiting):
                self._waiting.remove(waits)
                self._busy[waiting] += 1
                turn.set_result(None)

    async def _start(self) -> _Process:
        process = await _Process.start(self._drop)
        self._started.add(process)
        return process

    def _drop(self, process: _Process) -> None:
        self._started.discard(process)
        if process in self._idle:
            self._idle.remove(process)
        process.end()


class _Ended(Exception):
    """The process ended instead of answering."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status

    def cause(self) -> DocumentError:
        if self.status == -signal.SIGPROF:
            return _too_slow()
        log.warning("a parser process ended with status %d", self.status)
        return DocumentError("the document cannot be read: its parser ended unexpectedly")


@dataclass(slots=True, eq=False)
class _Process:
    """One parser process, and the connection that is its stdin and stdout."""

    _process: subprocess.Popen[bytes]
    _source: asyncio.StreamReader
    _sink: asyncio.StreamWriter
    _drop: Callable[[_Process], None]
    _timer: asyncio.TimerHandle | None = None

    @classmethod
    async def start(cls, drop: Callable[[_Process], None]) -> _Process:
        """Start a process; raise StatusError 503 if the machine allows no further process."""
        ours, theirs = socket.socketpair()
        try:
            process = await asyncio.to_thread(_spawn, theirs)
        except asyncio.CancelledError:
            ours.close()  # a process that starts nevertheless ends by it
            raise
        except OSError as error:
            ours.close()
            raise service_unavailable(f"cannot start a process to read the body: {error.strerror}") from error
        source, sink = await asyncio.open_connection(sock=ours, limit=1 << 20)
        return cls(process, source, sink, drop)

    @property
    def pid(self) -> int:
        return self._process.pid

    async def ask(self, kind: bytes, body: bytes) -> Frames:
        """Send a body, return the response's frames; raise EOFError or OSError if the process has ended."""
        self._sink.write(HEADER.pack(kind, len(body)))
        for at in range(0, len(body), CHUNK_BYTES):
            self._sink.write(body[at : at + CHUNK_BYTES])
            await self._sink.drain()
        frames: Frames = []
        while True:
            kind, size = HEADER.unpack(await self._source.readexactly(HEADER.size))
            if kind == END:
                return frames
            frames.append((kind, await self._source.readexactly(size)))

    async def ended(self) -> int:
        """Wait for the end; return the exit status."""
        return await asyncio.to_thread(self._process.wait)

    def keep(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def drop_when_idle(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(IDLE_SECONDS, self._drop, self)

    def end(self) -> None:
        self.keep()
        self._sink.close()
        self._process.kill()
        asyncio.get_running_loop().run_in_executor(None, self._process.wait)


def _spawn(connection: socket.socket) -> subprocess.Popen[bytes]:
    """Start the process without the event loop, which would fork: gRPC's threads do not survive that.

    Closes this process's end of the connection, here, as the waiting request may be cancelled meanwhile.
    """
    with connection:
        return subprocess.Popen(
            [sys.executable, "-m", "ktui.apiserver.parsing.worker"],
            stdin=connection.fileno(),
            stdout=connection.fileno(),
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # a Ctrl-C in the terminal is meant for the server
        )


def _too_slow() -> TooLarge:
    return TooLarge("the document takes too long to read")


SMALL_BYTES = 16 * 1024
SMALL_CONTAINERS = 500
TINY_BYTES = 1024  # even the errors of a body this short are found at once
_pieces = msgspec.json.Decoder(Piece)


@dataclass(frozen=True, slots=True)
class Parsed:
    """A document and its duplicate fields, as strict decoding reports them."""

    tree: Any
    duplicates: list[str]


class BodyParser:
    """Parses bodies without blocking the event loop for longer than a few milliseconds."""

    def __init__(self, pool: ParserPool) -> None:
        self._pool = pool

    async def json(self, body: bytes) -> Parsed:
        """Parse JSON. Raises DocumentError with Go's message, or TooLarge."""
        if is_small(body):
            try:
                tree = read_json(body) if len(body) <= TINY_BYTES else parse_json(body)
                return Parsed(tree, _duplicate_texts(duplicate_fields(body)))
            except DocumentError:
                raise
            except ValueError:
                pass  # finding the error takes long
        return await self._in_process(JSON, body)

    async def yaml(self, body: bytes) -> Parsed:
        """Parse YAML; a small JSON document is parsed as JSON. Raises like `json`."""
        if body.lstrip()[:1] == b"{" and is_small(body):
            try:
                tree = parse_json(body)
            except ValueError:
                pass  # flow style, or not valid
            else:
                if not duplicate_fields(body):
                    return Parsed(tree, [])
        return await self._in_process(YAML, body)

    async def _in_process(self, kind: bytes, body: bytes) -> Parsed:
        frames = await self._pool.parse(kind, body)
        for answer, content in frames:
            if answer == TOO_LARGE:
                raise TooLarge(content.decode())
            if answer == INVALID:
                raise DocumentError(content.decode())
        duplicates: list[str] = msgspec.json.decode(_of_kind(frames, DUPLICATES)[0])
        if duplicates:
            strict = "\n  ".join(["yaml: unmarshal errors:", *duplicates])
            duplicates = _duplicate_texts(duplicates) if kind == JSON else [strict]
        parts = _of_kind(frames, PIECE)
        return Parsed(await compute(_tree, parts), duplicates)

    async def close(self) -> None:
        await self._pool.close()


def is_small(body: bytes) -> bool:
    """Return True if decoding the body and the work after it take a few milliseconds at most."""
    return len(body) <= SMALL_BYTES and body.count(b"{") + body.count(b"[") <= SMALL_CONTAINERS


def _of_kind(frames: Frames, kind: bytes) -> list[bytes]:
    return [content for found, content in frames if found == kind]


def _tree(parts: Iterable[bytes]) -> Any:
    """Build the tree in many short steps, between which the event loop runs."""
    *_, tree = joined(map(_pieces.decode, parts))
    return tree


def _duplicate_texts(paths: list[str]) -> list[str]:
    return [f'duplicate field "{path}"' for path in paths]
