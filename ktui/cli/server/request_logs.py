"""The audit log and the HTTP log of a server, by its options."""

from __future__ import annotations

import argparse
from pathlib import Path

from ktui.apiserver.chain import RequestLog
from ktui.contract.errors import RecordingError
from ktui.requestlogs.audit_log import AuditLog
from ktui.requestlogs.audit_policy import EVERYTHING, AuditPolicy, read_policy
from ktui.requestlogs.httplog import HttpLog
from ktui.requestlogs.log_file import LogFile, Rotation

MODES = BLOCKING, _ = ("blocking", "batch")


def policy_of(args: argparse.Namespace) -> AuditPolicy:
    """ValueError for a policy that cannot be followed."""
    limits = (args.audit_log_maxsize, args.audit_log_maxbackup, args.audit_log_maxage)
    if not args.audit_log_path and (args.audit_policy_file or any(limits)):
        raise ValueError("no audit log is written without --audit-log-path FILE")
    if any(limit < 0 for limit in limits):
        raise ValueError("--audit-log-maxsize, -maxbackup and -maxage are at least 0")
    if not args.audit_policy_file:
        return EVERYTHING
    return read_policy(Path(args.audit_policy_file).expanduser())


class RequestLogFiles:
    """The files of the logs that `args` ask for. RecordingError if one cannot be opened."""

    def __init__(self, args: argparse.Namespace, policy: AuditPolicy, minor: int) -> None:
        self.logs: list[RequestLog] = []
        self._files: list[LogFile] = []
        if args.audit_log_path:
            rotation = Rotation(args.audit_log_maxsize, args.audit_log_maxbackup, args.audit_log_maxage)
            file = self._open(args.audit_log_path, rotation, blocking=args.audit_log_mode == BLOCKING)
            self.logs.append(AuditLog(file, policy, minor))
        if args.http_log:
            self.logs.append(HttpLog(self._open(args.http_log, Rotation(), blocking=True), minor))

    def _open(self, path: str, rotation: Rotation, *, blocking: bool) -> LogFile:
        try:
            file = LogFile(path, rotation, blocking=blocking)
        except OSError as error:
            raise RecordingError(f"{path} cannot be written: {error.strerror}") from error
        self._files.append(file)
        file.start()
        return file

    async def stop(self) -> None:
        """Write what is queued."""
        for file in self._files:
            await file.stop()
