"""Read large logs with several processes: each reads a file or a range of one, and returns a partial.

With the extra `dask` the workers of a Dask cluster read them, each a whole file.
"""

from __future__ import annotations

import gc
import io
import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor, wait
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import Any, NamedTuple

from ktui import install_command
from ktui.audit import partial_tally
from ktui.audit.reading.files import Log, Progressed, Stopped, read_log, read_logs
from ktui.audit.reading.lake import in_lake
from ktui.audit.reading.record_framing import blocks, framing
from ktui.audit.reading.streams import BrokenStream, BufferedStream, archive_kind, packing
from ktui.audit.tally import Tally, TallyOptions

LARGE = 64 << 20
"""Bytes from which several processes are started, which costs 0.3 s of CPU each."""
_SMALLEST, _LARGEST = 32 << 20, 256 << 20  # bytes of a range
_EACH = 4  # ranges per process, because they do not end at the same time
_LOOK = 0.2  # seconds between two progress reports


class Task(NamedTuple):
    """A log, or the lines of it that begin in a range of its bytes (`end` 0: all of it)."""

    log: Log
    start: int = 0
    end: int = 0


def read_all(logs: list[Log], tally: Tally, report: Progressed, processes: int | None = None) -> None:
    """Feed every record of the logs, as `read_logs` does, with one process per CPU by default."""
    processes = processes if processes is not None else len(os.sched_getaffinity(0))
    if processes < 2 or sum(log.size for log in logs) < LARGE:
        read_logs(logs, tally, report)
        return
    length = max(_SMALLEST, min(_LARGEST, sum(log.size for log in logs) // (_EACH * processes)))
    tasks = [task for log in logs for task in _tasks(log, length)]
    pool = _Pool(min(processes, len(tasks)), tally.options)
    try:
        pool.run(tasks, tally, report)
    except Stopped:
        pool.stop(tally)
        raise
    finally:
        pool.executor.shutdown(wait=True, cancel_futures=True)


def _tasks(log: Log, length: int) -> Iterator[Task]:
    if log.size < 2 * length or in_lake(log.name) or not _is_plain(log):
        yield Task(log)
        return
    for start in range(0, log.size, length):
        yield Task(log, start, min(log.size, start + length))


def _is_plain(log: Log) -> bool:
    """True if the log consists of lines that need not be joined, neither packed nor in UTF-16."""
    with log.open() as file:
        source = BufferedStream(io.BufferedReader(file))
        try:
            head = source.head(512)
            if b'"resourceSpans"' in head:  # the spans of a request lie in several lines
                return False
            packed = packing(head) or archive_kind(head) or head.startswith((b"\xff\xfe", b"\xfe\xff"))
            return not packed and framing(source) == "lines"
        except BrokenStream:
            return False


class _Pool:
    """A pool of processes that ignore Ctrl-C and can be stopped at any time."""

    def __init__(self, processes: int, options: TallyOptions) -> None:
        context = multiprocessing.get_context("spawn")
        most = processes + 1  # submitted tasks: one more than can run, so that no process waits
        self._stop = context.Value("b", 0)
        self._taken = context.Array("q", most, lock=False)
        shared = (self._stop, self._taken, options)
        self.executor = ProcessPoolExecutor(processes, context, _start_worker, shared)
        self._running: deque[tuple[Future[bytes], Task, int]] = deque()
        self._free = list(range(most))
        self._done = 0  # bytes

    def run(self, tasks: list[Task], tally: Tally, report: Progressed) -> None:
        """Submit the tasks, and add their results in the order of the files."""
        for task in tasks:
            while not self._free:
                self._finish(tally, report)
            place = self._free.pop()
            with _no_ctrl_c():
                self._running.append((self.executor.submit(_read, task, place), task, place))
        while self._running:
            self._finish(tally, report)

    def stop(self, tally: Tally) -> None:
        """Stop the running tasks, and add what they have read."""
        self._stop.value = 1
        for future, _, _ in self._running:
            if not future.cancel():
                partial_tally.add(tally, partial_tally.unpacked(future.result()))

    def _finish(self, tally: Tally, report: Progressed) -> None:
        future, task, place = self._running[0]
        while not wait([future], _LOOK).done:
            report(task.log.name, self._done + sum(self._taken))
        self._running.popleft()
        partial_tally.add(tally, partial_tally.unpacked(future.result()))
        self._done += (task.end - task.start) or task.log.size
        self._taken[place] = 0
        self._free.append(place)
        report(task.log.name, self._done + sum(self._taken))


@contextmanager
def _no_ctrl_c() -> Iterator[None]:
    """Block SIGINT in processes that start in this context; this process handles it afterwards."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT,))
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


_shared: tuple[Any, Any, TallyOptions]  # of a process of the pool: what stops it, the bytes taken by place


def _start_worker(*shared: Any) -> None:
    global _shared
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.disable()  # counting makes no cycles
    _shared = shared


def _read(task: Task, place: int) -> bytes:
    """Run in a process of the pool: read a task, and return the tally as a partial."""
    stop, taken_by_place, options = _shared
    tally = Tally(*options)

    def report(name: str, taken: int) -> None:
        taken_by_place[place] = taken
        if stop.value:
            raise Stopped

    try:
        if task.end:
            _read_range(task, tally, report)
        else:
            read_log(task.log, tally, 0, report)
    except Stopped:
        tally.stopped = True
    tally.finish()
    return partial_tally.packed(tally)


def _read_range(task: Task, tally: Tally, report: Progressed) -> None:
    with task.log.open() as file:
        current = tally.open_file(task.log.name, task.log.argument, part=task.start > 0)
        lines = _Range(file, task.start, task.end)
        try:
            for block in blocks(BufferedStream(lines)):
                tally.feed(block)
                report(task.log.name, lines.at - task.start)
        except BrokenStream as broken:
            current.problem = str(broken)


class _Range:
    """The lines of a file that begin within a range of bytes; the last line is read to its end."""

    def __init__(self, file: io.FileIO, start: int, end: int) -> None:
        self._file, self._end = file, end
        self._last = b"\n"
        self._over = False
        if start:
            file.seek(start - 1)
            while chunk := file.read(1 << 16):  # up to the beginning of the next line
                if (newline := chunk.find(b"\n")) >= 0:
                    file.seek(file.tell() - len(chunk) + newline + 1)
                    break
        elif (mark := file.read(3) or b"") != b"\xef\xbb\xbf":  # a byte order mark
            file.seek(file.tell() - len(mark))
        self.at = file.tell()

    def read1(self, size: int = -1, /) -> bytes:
        if self._over:
            return b""
        if self.at < self._end:
            chunk = self._file.read(min(size, self._end - self.at)) or b""
            self._over = not chunk
            self._last = chunk[-1:]
        elif self._last == b"\n":
            return b""
        else:
            chunk, newline, _ = (self._file.read(size) or b"").partition(b"\n")
            chunk += newline
            self._over = bool(newline) or not chunk
        self.at += len(chunk)
        return chunk


_ANSWERS = "10s"


class ClusterError(ValueError):
    """A Dask cluster cannot be used; the message is one sentence."""


def read_on_dask(address: str, logs: list[Log], tally: Tally, report: Progressed) -> None:
    """Count every record of the logs in `tally`, read by the workers of the Dask scheduler at `address`.

    Each file is one task. Workers open the files by the same names (a shared file system, or buckets) and
    have ktui installed. Raises ClusterError.
    """
    try:
        distributed: Any = import_module("distributed")
    except ImportError:
        raise ClusterError(f"--dask needs an extra: {install_command('dask')}") from None
    if any(log.descriptor >= 0 for log in logs):
        raise ClusterError("--dask takes files that the workers can open, not standard input")
    try:
        client = distributed.Client(address, timeout=_ANSWERS, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        raise ClusterError(f"no Dask scheduler answers at {address}: {error}") from None
    taken = 0
    with client:
        futures = [client.submit(read_part, *log[:3], *tally.options, pure=False) for log in logs]
        for log, future in zip(logs, futures, strict=True):
            while not future.done():
                report(log.name, taken)
                with suppress(TimeoutError):
                    future.exception(timeout=_LOOK)
            partial_tally.add(tally, partial_tally.read(future.result()))
            future.release()
            taken += log.size
        report(logs[-1].name, taken)


def read_part(name: str, argument: str, size: int, *options: Any) -> bytes:
    """Run on a worker: return the counts of a file as a partial, which names a file that cannot be opened."""
    tally = Tally(*TallyOptions(*options))
    try:
        read_log(Log(name, argument, size), tally, 0, lambda *_: None)
        tally.finish()
    except OSError as error:
        where = "its bucket" if in_lake(name) else "a worker"
        tally.open_file(name, argument).problem = f"cannot be opened by {where}: {error.strerror or error}"
    return partial_tally.written(tally)
