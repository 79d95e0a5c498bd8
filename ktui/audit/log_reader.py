"""Read the records of logs in blocks, and count them by file; subclasses say what is done with requests."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime

from ktui.audit.formats import auditlog
from ktui.audit.formats.log_record import LoggedRequest, Malformed, Skip, Skips, SlowRequest
from ktui.audit.formats.record_reader import Record, Traced, TraceReader, Wrapped, line_reader
from ktui.audit.reading.streams import LongLine
from ktui.core.format import integer
from ktui.traces.spans import TracedRequest

_ADMIN = "kube-audit-admin"


@dataclass(slots=True)
class FileCount:
    """One log. `lines` is its number of records: lines, JSON values or CSV rows.

    `argument` is what named it on the command line. `problem` says how it broke off. `read` is the number
    of records about a request, `skipped` that of other valid records by kind. `part`: another process read
    the previous records of this file.
    """

    name: str
    argument: str = ""
    lines: int = 0
    problem: str = ""
    read: int = 0
    malformed: int = 0
    admin: bool = False
    skipped: dict[str, int] = field(default_factory=Counter)
    part: bool = False

    def extend(self, other: FileCount) -> None:
        """Add the counts of another process for the same file."""
        self.lines += other.lines
        self.read += other.read
        self.malformed += other.malformed
        self.admin = self.admin or other.admin
        self.problem = self.problem or other.problem
        for what, count in other.skipped.items():
            self.skipped[what] = self.skipped.get(what, 0) + count

    @property
    def why_nothing(self) -> str:
        """Why no request was found in the log; "" if one was."""
        if self.read or self.problem:
            return "" if self.read else self.problem
        if not self.lines:
            return "it is empty"
        skipped = Counter(self.skipped)
        writes = skipped[Skips.WRITES.what]
        if writes and self.admin:
            return f"{_ADMIN} leaves out get and list requests: enable the category kube-audit instead"
        if writes and not self.malformed:
            return (
                f"{integer(writes)} audit Events, all of writes: an audit policy (or a log "
                "category such as GKE's activity) leaves out reads"
            )
        mostly = max(self.skipped, key=self.skipped.__getitem__, default="")
        parts = [f"{integer(count)} {what}" for what, count in skipped.most_common() if count]
        parts += [f"{integer(self.malformed)} malformed records"] if self.malformed else []
        return f"no request in it: {', '.join(parts) or 'no record'}{_HINTS.get(mostly, '')}"


_HINTS = {
    Skips.KLOG.what: " (kube-apiserver logs requests from -v=3 on)",
    Skips.JSON.what: (
        " (looked for an audit Event, a LogEntry of GKE or an httplog line up to three fields deep)"
    ),
    Skips.EARLY.what: " (the audit policy leaves out the stage ResponseComplete)",
}


class LogReader(ABC):
    """Feeds on blocks of records. `now` is later than all lines; with `writes` these are requests too.

    `carriers`: records inside other records, by the kind of wrapper.
    """

    def __init__(self, now: datetime, *, writes: bool = False) -> None:
        self._writes = writes
        self.traces = TraceReader()
        self._read = line_reader(now, self.traces, writes=writes)
        self.files: list[FileCount] = []
        self.carriers: Counter[str] = Counter()

    def open_file(self, name: str, argument: str = "") -> FileCount:
        """Begin a file: records fed from now on are counted as its records."""
        self.files.append(FileCount(name, argument or name))
        return self.files[-1]

    @property
    def unread(self) -> list[str]:
        """Command line arguments (files, folders, archives) in which no request was found."""
        read = Counter[str]()
        for file in self.files:
            read[file.argument] += file.read
        return [argument for argument, count in read.items() if not count]

    def feed(self, block: list[bytes] | LongLine) -> None:
        """Read records, in the order of the file."""
        file = self.files[-1]
        found: list[LoggedRequest] = []
        if isinstance(block, LongLine):
            file.lines += 1
            try:
                self._sort(auditlog.read_long(block.head, block.tail, writes=self._writes), file, found)
            except Malformed as why:
                self.bad(file, file.lines, why, block.head)
        else:
            self._read_lines(block, file, found)
        self._take_requests(found, file)

    @abstractmethod
    def finish(self) -> None:
        """Take what is left: no more records will come."""

    @abstractmethod
    def _take_requests(self, requests: list[LoggedRequest], file: FileCount) -> None:
        """Take requests in the order of the file."""

    @abstractmethod
    def _take_traced(self, traced: list[TracedRequest], file: FileCount, found: list[LoggedRequest]) -> None:
        """Take the requests of traces, or append them to `found`."""

    @abstractmethod
    def _take_slow(self, slow: SlowRequest, file: FileCount) -> None:
        """Take a request of etcd's log."""

    def bad(self, file: FileCount, number: int, why: Malformed, line: bytes) -> None:
        """Count a malformed record, which is in the file's line `number`."""
        file.malformed += 1

    def _read_lines(self, lines: list[bytes], file: FileCount, found: list[LoggedRequest]) -> None:
        """Append the requests to `found`, and count the other records."""
        read, number, skipped = self._read, file.lines, file.skipped
        for line in lines:
            number += 1
            try:
                record = read(line)
            except Malformed as why:
                self.bad(file, number, why, line)
                continue
            if isinstance(record, LoggedRequest):
                found.append(record)
            elif isinstance(record, Skip):
                skipped[record.what] += 1
            elif isinstance(record, Wrapped):
                number += self._read_inside(record, line, file, number, found)
            else:
                file.lines = number
                self._sort(record, file, found)
                number = file.lines
        file.lines = number

    def _read_inside(
        self, wrapped: Wrapped, line: bytes, file: FileCount, number: int, found: list[LoggedRequest]
    ) -> int:
        """Read the records in a wrapper; return how many there are in addition to the first."""
        self.carriers[wrapped.carrier] += len(wrapped.records)
        file.admin = file.admin or b'"kube-audit-admin"' in line
        for inner in wrapped.records:
            try:
                record = self._read(inner)
            except Malformed as why:
                self.bad(file, number, why, inner)
                continue
            if isinstance(record, Wrapped):
                number += self._read_inside(record, inner, file, number, found)
            else:
                self._sort(record, file, found)
        return len(wrapped.records) - 1

    def _sort(self, record: Record, file: FileCount, found: list[LoggedRequest]) -> None:
        if isinstance(record, LoggedRequest):
            found.append(record)
        elif isinstance(record, Skip):
            file.skipped[record.what] += 1
        elif isinstance(record, Traced):
            file.skipped[record.skip.what] += 1
            self._take_traced(record.requests, file, found)
        else:
            self._take_slow(record, file)
