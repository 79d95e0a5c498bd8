"""All counts of the logs read so far: bounded, whatever the logs contain."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime

from ktui.audit import auditlog
from ktui.audit.client import client_of
from ktui.audit.duplicates import DuplicateFilter
from ktui.audit.group import AuditGroup, AuditGroupKey, RangeKey, SlowGroup
from ktui.audit.log_lines import LongLine
from ktui.audit.ranges import range_key
from ktui.audit.reader import line_reader
from ktui.audit.record import LoggedRequest, Malformed, SlowRequest
from ktui.core.ranking.shape import RequestShape, shape_of_uri
from ktui.core.ranking.topk import TopGroups

MOST_GROUPS = 4096
MOST_SLOW_GROUPS = 1024
EXAMPLES = 6
_ALIKE = 2  # examples per kind
_EXAMPLE_BYTES = 160
_NAME_BYTES = 512


@dataclass(frozen=True, slots=True)
class BadLine:
    """A malformed line: its place, the reason, and its start (untrusted, undecodable bytes escaped)."""

    file: str
    line: int
    why: str
    text: str


@dataclass(slots=True)
class LogPeriod:
    """First and last time, microseconds since 1970."""

    first: int
    last: int

    @property
    def seconds(self) -> float:
        return (self.last - self.first) / 1e6


@dataclass(slots=True)
class FileCount:
    """One file: its lines, and how it broke off, "" if it did not."""

    name: str
    lines: int = 0
    problem: str = ""


@dataclass(slots=True)
class Folded:
    """Requests of groups that were too small to keep, by verb."""

    requests: Counter[str] = field(default_factory=Counter)

    def add(self, group: AuditGroup) -> None:
        self.requests[group.key.shape.verb] += group.count


class Tally:
    """Takes lines; a report is built from it. `now` bounds the year of klog lines."""

    def __init__(self, now: datetime, etcd_prefix: str = "/registry", most_groups: int = MOST_GROUPS) -> None:
        self._read = line_reader(now)
        self._etcd_prefix = etcd_prefix
        self.files: list[FileCount] = []
        self.formats: Counter[str] = Counter()
        self.spans: dict[str, LogPeriod] = {}
        self.malformed = 0
        self.bad_lines: list[BadLine] = []
        self.unrouted = 0
        self.doubles = DuplicateFilter()
        self.folded = Folded()
        self.groups: TopGroups[AuditGroupKey, AuditGroup] = TopGroups(most_groups, self.folded.add)
        self.slow_folded = 0
        self.slow: TopGroups[RangeKey, SlowGroup] = TopGroups(MOST_SLOW_GROUPS, self._fold_slow)

    @property
    def lines(self) -> int:
        return sum(file.lines for file in self.files)

    def open_file(self, name: str) -> FileCount:
        """Lines fed from now on belong to this file."""
        self.files.append(FileCount(name))
        return self.files[-1]

    def feed(self, block: list[bytes] | LongLine) -> None:
        """Count lines, in the order of the file."""
        file = self.files[-1]
        if isinstance(block, LongLine):
            file.lines += 1
            self._feed_long(block, file)
            return
        read, count, number = self._read, self._count, file.lines
        for line in block:
            number += 1
            try:
                record = read(line)
            except Malformed as why:
                self._bad(file.name, number, why, line)
                continue
            if record is not None:
                count(record)
        file.lines = number

    def _feed_long(self, line: LongLine, file: FileCount) -> None:
        try:
            record = auditlog.read_long(line.head, line.tail)
        except Malformed as why:
            self._bad(file.name, file.lines, why, line.head)
            return
        if record is not None:
            self._count(record)

    def _count(self, record: LoggedRequest | SlowRequest) -> None:
        if isinstance(record, LoggedRequest):
            self._count_request(record)
        else:
            self._count_slow(record)

    def _count_request(self, request: LoggedRequest) -> None:
        event = request.verb.islower()
        self._see("audit" if event else "httplog", request.at)
        known = request.done and (self.doubles.event if event else self.doubles.line)(request)
        shape = shape_of_uri(request.uri)
        if shape is None:
            self.unrouted += request.done and not known
            return
        key = AuditGroupKey(client_of(request.agent[:_NAME_BYTES], request.user[:_NAME_BYTES]), shape)
        group = self.groups.get(key) or self.groups.add(key, AuditGroup(key, request.uri))
        group.add(request)
        if known:
            self._double(request, shape)

    def _double(self, request: LoggedRequest, shape: RequestShape) -> None:
        """Uncount its httplog line, which is in the group without an account."""
        line = self.groups.get(AuditGroupKey(client_of(request.agent[:_NAME_BYTES], ""), shape))
        if line is not None:
            line.double(request.code)
        else:
            self.folded.requests[shape.verb] -= 1

    def _count_slow(self, slow: SlowRequest) -> None:
        self._see("etcd", slow.at)
        key = range_key(slow, self._etcd_prefix)
        group = self.slow.get(key) or self.slow.add(key, SlowGroup(key, slow.key[:_EXAMPLE_BYTES]))
        group.add(slow)

    def _see(self, source: str, at: int) -> None:
        self.formats[source] += 1
        span = self.spans.get(source)
        if span is None:
            self.spans[source] = LogPeriod(at, at)
        elif at > span.last:
            span.last = at
        elif at < span.first:
            span.first = at

    def _fold_slow(self, group: SlowGroup) -> None:
        self.slow_folded += group.count

    def _bad(self, file: str, number: int, why: Malformed, line: bytes) -> None:
        self.malformed += 1
        alike = sum(bad.why == str(why) for bad in self.bad_lines)
        if len(self.bad_lines) < EXAMPLES and alike < _ALIKE:
            text = line[:_EXAMPLE_BYTES].decode("utf-8", "backslashreplace")
            self.bad_lines.append(BadLine(file, number, str(why), text))
