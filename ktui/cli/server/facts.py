"""What a server reports of itself: its ServerInfo, its log, its recording, and the logs of requests."""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
from collections.abc import Callable
from pathlib import Path

from ktui import __version__
from ktui.apiserver.server import RequestLog
from ktui.cacher.settings import Settings
from ktui.cli.output import emit, emit_json_text, tell
from ktui.cli.server.etcd_source import EtcdSource
from ktui.contract import events
from ktui.contract.events import AnyEvent
from ktui.contract.recording import RecordingError
from ktui.core.recordings.recorder import Recorder
from ktui.etcd.client import EtcdClient
from ktui.kube.routing.cache_state import etcd_supports_progress
from ktui.requestlogs.audit_log import AuditLog
from ktui.requestlogs.audit_policy import EVERYTHING, AuditPolicy, read_policy
from ktui.requestlogs.httplog import HttpLog
from ktui.requestlogs.log_writer import LogFile, LogWriter, Rotation
from ktui.supervision import Supervisor
from ktui.telemetry.bus import Bus

log = logging.getLogger("ktui.server")


class TelemetryLog:
    """Logs changes of state, and at DEBUG requests."""

    def __init__(self) -> None:
        self._states: dict[str, str] = {}
        self._started: dict[int, events.RequestStarted] = {}
        self._healthy = True
        self._alarm = ""

    def log(self, event: AnyEvent) -> None:
        if isinstance(event, events.CacheStatus):
            self._cache(event)
        elif isinstance(event, events.EtcdHealth):
            self._health(event)
        elif isinstance(event, events.RequestStarted) and log.isEnabledFor(logging.DEBUG):
            self._started[event.id] = event
        elif isinstance(event, events.RequestFinished) and (started := self._started.pop(event.id, None)):
            query = f"?{started.query}" if started.query else ""
            log.debug("%s %s%s by %s: %d from %s in %.1f ms", started.verb, started.path, query,
                      started.client, event.status, event.route, event.ms)  # fmt: skip

    def _cache(self, event: events.CacheStatus) -> None:
        before, self._states[event.resource] = self._states.get(event.resource, "cold"), event.state
        if event.state == before:
            return
        level = logging.DEBUG if event.state == "initializing" else logging.INFO
        level = logging.WARNING if event.error else level
        error = f": {event.error}" if event.error else ""
        log.log(level, "cache %s is %s at revision %d, %d objects%s",
                event.resource, event.state, event.rv, event.objects, error)  # fmt: skip

    def _health(self, event: events.EtcdHealth) -> None:
        if event.ok != self._healthy:
            self._healthy = event.ok
            log.log(logging.INFO if event.ok else logging.WARNING, "etcd %s",
                    "answers again" if event.ok else f"does not answer: {event.detail}")  # fmt: skip
        if event.alarm != self._alarm:
            self._alarm = event.alarm
            log.log(logging.WARNING if event.alarm else logging.INFO, "etcd takes %s",
                    f"no writes: {event.alarm}" if event.alarm else "writes again")  # fmt: skip


class ServerRecording:
    """All events of the bus in a file, until `stop`. Raises RecordingError if it cannot start; later failures
    are reported on standard error."""

    def __init__(self, bus: Bus, supervisor: Supervisor, path: Path) -> None:
        self._recorder = Recorder(path)
        self._subscription = bus.subscribe()
        self._task = supervisor.start("the recording", self._run)
        self._task.add_done_callback(lambda _: self._subscription.close())
        self._task.add_done_callback(lambda _: self._recorder.close())

    async def _run(self) -> None:
        async for batch in self._subscription.batches():
            self._recorder.write(batch)
            if self._recorder.problem:
                tell(f"ktui serve: {self._recorder.problem}")
                return

    async def stop(self) -> None:
        self._subscription.close()
        await asyncio.wait((self._task,))


class Facts:
    """Makes the current ServerInfo: the Kubernetes version can be changed while the server runs.

    `filling` returns the progress of creating the demo cluster as text, `log_warnings` what is wrong with the
    request logs.
    """

    def __init__(
        self, client: EtcdClient, settings: Settings, source: EtcdSource, filling: Callable[[], str],
        log_warnings: Callable[[], list[str]],
    ) -> None:  # fmt: skip
        self._client, self._settings, self._source = client, settings, source
        self._filling, self._log_warnings = filling, log_warnings

    def info(self) -> events.ServerInfo:
        progress = "supported" if etcd_supports_progress(self._client.version) else "assumed"
        progress = progress if self._settings.progress else "unsupported"
        return events.ServerInfo(
            ktui_version=__version__, kube_version=self._settings.behaviour.version,
            feature_gates=dict(self._settings.behaviour.changed_gates), etcd_version=self._client.version,
            etcd_kind=self._source.kind, endpoints=self._client.endpoints,
            writable=not self._client.read_only, progress=progress, etcd_prefix=self._source.prefix,
            pid=os.getpid(), name=self._source.name, filling=self._filling(),
            warnings=[*self._source.warnings, *filter(None, [self._etcd_ended()]), *self._log_warnings()],
        )  # fmt: skip

    def etcd_problem(self) -> str:
        """Return why etcd does not answer; "" if it does."""
        return self._etcd_ended() or self._client.ledger.problem

    def _etcd_ended(self) -> str:
        return self._source.embedded.problem if self._source.embedded is not None else ""


BLOCKING = "blocking"
STDOUT = "-"


def policy_of(args: argparse.Namespace) -> AuditPolicy:
    """Return the audit policy. Raises ValueError for invalid options or an invalid policy."""
    limits = (args.audit_log_maxsize, args.audit_log_maxbackup, args.audit_log_maxage)
    if not args.audit_log_path and (args.audit_policy_file or any(limits)):
        raise ValueError("no audit log is written without --audit-log-path FILE")
    if any(limit < 0 for limit in limits):
        raise ValueError("--audit-log-maxsize, -maxbackup and -maxage are at least 0")
    if not args.audit_policy_file:
        return EVERYTHING
    return read_policy(Path(args.audit_policy_file).expanduser())


class RequestLogFiles:
    """The request logs that `args` enable, and their files. Raises RecordingError if one cannot be opened.

    `changed` is called when one can no longer be written, and when it can again.
    """

    def __init__(
        self, args: argparse.Namespace, policy: AuditPolicy, minor: int, changed: Callable[[], None]
    ) -> None:
        self.logs: list[RequestLog] = []
        self._writers: list[LogWriter] = []
        self._files: list[LogFile] = []
        if args.audit_log_path:
            rotation = Rotation(args.audit_log_maxsize, args.audit_log_maxbackup, args.audit_log_maxage)
            write = self._open(args.audit_log_path, rotation, emit_json_text)
            blocking = args.audit_log_mode == BLOCKING
            writer = self._start(LogWriter(args.audit_log_path, write, blocking=blocking, changed=changed))
            self.logs.append(AuditLog(writer, policy, minor))
        if args.http_log:
            write = self._open(args.http_log, Rotation(), emit)
            self.logs.append(HttpLog(self._start(LogWriter(args.http_log, write, changed=changed)), minor))

    def _open(self, path: str, rotation: Rotation, to_stdout: Callable[..., None]) -> Callable[[bytes], None]:
        if path == STDOUT:
            return lambda data: to_stdout(data.decode().removesuffix("\n"), flush=True)
        try:
            file = LogFile(Path(path).expanduser(), rotation)
        except OSError as error:
            raise RecordingError(f"{path} cannot be written: {error.strerror}") from error
        self._files.append(file)
        return file.write

    def _start(self, writer: LogWriter) -> LogWriter:
        self._writers.append(writer)
        writer.start()
        return writer

    def warnings(self) -> list[str]:
        """Return sentences for users about logs that cannot be written, or that lack lines."""
        return [warning for writer in self._writers for warning in writer.warnings()]

    async def stop(self) -> None:
        for writer in self._writers:
            await writer.stop()
        for file in self._files:
            file.close()
