"""`ktui record`: record a live kube-apiserver for days, without screens, into a directory of segments."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import signal
import time
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any

from ktui import __version__
from ktui.cli.options import kubeconfig_connection, listen, metrics_feed, prometheus_connection
from ktui.cli.output import FAILED, NO_CONNECTION, OK, USAGE, emit, fail, warn
from ktui.client.connection import ClientError
from ktui.contract.events import AnyEvent, LiveServer, LiveStatus, ReplicaDown, ReplicaScrape, ServerInfo
from ktui.core import reducer
from ktui.core.format import clock_time, elapsed, integer, long_bytes, many, safe
from ktui.core.live.findings import NewFindings
from ktui.core.recordings.segmented import SegmentedRecorder
from ktui.core.reducer import state_events
from ktui.core.state import LogBudget, State
from ktui.kube.versions import BehaviourError, behaviour_of
from ktui.live.server_details import LiveFeed
from ktui.traces.feed import address_of, traced_events, traces_server, url_of
from ktui.traces.receiver import OtlpReceiver, parse_address

LEAST_SIZE = 10_000_000  # bytes
LEAST_RETENTION = 600.0  # seconds


def run(args: argparse.Namespace) -> int:
    _find_directory(args)
    if problem := _misuse(args):
        return fail(problem, USAGE)
    if not _traces_only(args):  # a kubeconfig that is wrong now is not retried for 48 hours
        (prometheus_connection if args.prometheus else kubeconfig_connection)(args)
    receiver = listen(args) if args.otlp is not None else None
    try:
        return asyncio.run(_record(args, receiver))
    finally:
        if receiver is not None:
            receiver.close()


def _find_directory(args: argparse.Namespace) -> None:
    """Read `--otlp DIR` as `--otlp` without an address, and DIR."""
    if args.otlp and args.directory is None:
        try:
            parse_address(args.otlp)
        except ValueError:
            args.directory, args.otlp = args.otlp, ""


def _misuse(args: argparse.Namespace) -> str:
    if args.directory is None:
        return "DIR is missing, the directory of the segments: ktui record [options] DIR"
    if args.interval < 1:
        return "--interval must be at least 1s: a scrape is work for the server"
    if args.max_size < LEAST_SIZE:
        return f"--max-size must be at least {LEAST_SIZE // 1_000_000}MB: it has room for eight segments"
    if args.retention < LEAST_RETENTION:
        return f"--retention must be at least {LEAST_RETENTION / 60:.0f}m"
    return ""


def _traces_only(args: argparse.Namespace) -> bool:
    """True if traces are the only source, as for the dashboard."""
    return args.otlp is not None and not (args.kubeconfig or args.context or args.prometheus)


async def _record(args: argparse.Namespace, receiver: OtlpReceiver | None) -> int:
    session = RecordSession(Path(args.directory), args.retention, args.max_size, receiver)
    if receiver is not None:
        warn(f"listening for OTLP on {address_of(receiver)}")
    if _traces_only(args):
        return await session.run([session.traces(alone=True)], args.window)
    # No history: a further run in the same directory would have it twice.
    agent = f"ktui/{__version__} (record)"
    sources = [session.metrics(lambda: metrics_feed(args, 0.0, agent))]
    if receiver is not None:
        sources.append(session.traces())
    return await session.run(sources, args.window)


RETRY = 15.0  # seconds until a server that could not be reached is tried again
GRACE = 10.0  # seconds after the end that a first answer is waited for
CLOSING = 2.0  # seconds that closing the connections may take
KEPT_REQUESTS = 200  # in memory: nothing shows them


class RecordSession:
    """Records from `run` until its time is over, or SIGINT or SIGTERM. Raises RecordingError at the start.

    The state has what a segment begins with: the server, its last scrapes, open WATCHes of traces.
    """

    def __init__(self, directory: Path, retention: float, most: int, receiver: OtlpReceiver | None) -> None:
        self._receiver = receiver
        self._recorder = SegmentedRecorder(directory, retention, most, time.time(), warn)
        self._state = State(reads=LogBudget(KEPT_REQUESTS), writes=LogBudget(KEPT_REQUESTS))
        self._new = NewFindings()
        self._answered = asyncio.Event()  # set once there are events, or a problem
        self._named = asyncio.Event()  # set once the metrics have named the server
        self._problem = ""
        self._began = time.time()

    async def run(self, sources: Sequence[Coroutine[Any, Any, None]], window: float | None) -> int:
        """Record for `window` seconds (None: until a signal), print the summary, return the exit status."""
        ended = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, ended.set)
        tasks = [asyncio.ensure_future(source) for source in sources]
        stopped = asyncio.ensure_future(ended.wait())
        answered = asyncio.ensure_future(self._answered.wait())
        try:
            done = await _first({stopped, *tasks}, window)
            if not done:
                done = await _first({stopped, answered, *tasks}, GRACE)
            for task in done - {stopped, answered}:
                task.result()  # a source ends only by a bug
            if self._receiver is not None:
                await asyncio.to_thread(self._receiver.close)
                await asyncio.wait(tasks, timeout=CLOSING, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (stopped, answered, *tasks):
                task.cancel()
            await asyncio.gather(stopped, answered, *tasks, return_exceptions=True)
            self._recorder.close()
        return self._finish()

    # Sources.

    async def metrics(self, make: Callable[[], LiveFeed]) -> None:
        """Record what a feed reads, and connect with another one when it fails."""
        while True:
            feed = make()
            try:
                self._take(await feed.start())
                for text in feed.warnings:
                    self._report(f"warning: {text}")
                async for events in feed.batches():
                    self._take(events)
            except ClientError as error:
                self._report(f"{error}; tried again every {RETRY:.0f} s")
                if self._state.server is not None:  # the first event of a recording is that of its server
                    self._mark(self._new.outage(str(error), time.time()), time.time())
            finally:
                with contextlib.suppress(TimeoutError, ClientError):
                    async with asyncio.timeout(CLOSING):
                        await feed.close()
            await asyncio.sleep(RETRY)

    async def traces(self, *, alone: bool = False) -> None:
        """Record the requests of traces; unless `alone`, once the metrics have named the server's version."""
        assert self._receiver is not None
        behaviour = behaviour_of()
        if alone:
            self._take([traces_server(self._receiver, behaviour)])
        else:
            await self._named.wait()
            server = self._state.live.server
            with contextlib.suppress(BehaviourError):  # then its requests are compared with the newest rules
                behaviour = behaviour_of(server.version) if server and server.version else behaviour
        # A later run of `ktui record` goes on in this directory: its requests get other numbers.
        async for events in traced_events(self._receiver, behaviour, int(time.time() * 1000)):
            self._take(events)

    # Events.

    def _take(self, events: list[AnyEvent]) -> None:
        now, state = time.time(), self._state
        self._answered.set()
        if self._receiver is not None:  # a replay chooses its screens by the traces that this event names
            url = url_of(self._receiver)
            events = [each.with_endpoint(url) if isinstance(each, ServerInfo) else each for each in events]
        first = not self._recorder.segments
        self._recorder.write(events, lambda: state_events(state, now), now)
        if first and self._recorder.segments:
            warn(f"recording into {self._recorder.directory}")
        reducer.apply(state, events)
        if state.live.server is not None:
            self._named.set()
        for event in events:
            if isinstance(event, LiveStatus) and not event.source:
                self._report(event.problem)
                self._mark(self._new.outage(event.problem, now), now)
        if any(isinstance(event, (ReplicaScrape, ReplicaDown, LiveServer)) for event in events):
            self._mark(self._new.markers(state.live, now), now)

    def _mark(self, markers: Sequence[AnyEvent], now: float) -> None:
        self._recorder.write(markers, lambda: state_events(self._state, now), now)

    def _report(self, problem: str) -> None:
        """Print a problem once, and that it is over."""
        if problem == self._problem:
            return
        self._answered.set()
        if problem:
            warn(problem)
        elif not self._problem.startswith("warning: "):
            warn("the server answers again")
        self._problem = problem

    # The end.

    def _finish(self) -> int:
        recorder, new = self._recorder, self._new
        if not recorder.events:
            why = self._problem or recorder.problem or "the server has not answered yet"
            return fail(f"nothing was recorded: {why}", NO_CONNECTION)
        deleted = f"; {many(recorder.deleted, 'old segment')} deleted" if recorder.deleted else ""
        size = f"{long_bytes(recorder.bytes)}, {many(recorder.events, 'event')}"
        emit(
            f"recorded {elapsed(time.time() - self._began)} in {many(recorder.segments, 'segment')} "
            f"({size}) in {recorder.directory}{deleted}"
        )
        if recorder.missing:
            emit(f"{integer(recorder.missing)} events are missing: {recorder.problem or 'the disk failed'}")
        found = "no finding"
        if (worst := new.worst) is not None:
            found = (
                f"{many(new.count, 'new finding')}; the worst, at {clock_time(worst.at)}: {safe(worst.text)}"
            )
        emit(found)
        emit(f"replay it: ktui --replay {recorder.directory}")
        return fail(recorder.problem, FAILED) if recorder.problem else OK


async def _first(futures: set[asyncio.Future[Any]], seconds: float | None) -> set[asyncio.Future[Any]]:
    """Wait until one of them is done, at most `seconds`; return those that are."""
    return (await asyncio.wait(futures, timeout=seconds, return_when=asyncio.FIRST_COMPLETED))[0]
