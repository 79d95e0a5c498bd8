"""The audit log and the HTTP log of a server, from its options."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from ktui.apiserver.server import RequestLog
from ktui.cli.output import emit, emit_json_text
from ktui.contract.recording import RecordingError
from ktui.requestlogs.audit_log import AuditLog
from ktui.requestlogs.audit_policy import EVERYTHING, AuditPolicy, read_policy
from ktui.requestlogs.httplog import HttpLog
from ktui.requestlogs.log_writer import LogFile, LogWriter, Rotation

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
        self,
        args: argparse.Namespace,
        policy: AuditPolicy,
        minor: int,
        changed: Callable[[], None] = lambda: None,
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
