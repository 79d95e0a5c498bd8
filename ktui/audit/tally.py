"""The counts of all logs read so far, in bounded memory whatever the logs contain."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import NamedTuple

import msgspec

from ktui.audit.formats.log_record import LoggedRequest, Malformed, Skips, SlowRequest
from ktui.audit.formats.record_reader import logged
from ktui.audit.group import AuditGroup, AuditGroupKey, Client, RangeKey, SlowGroup, client_of, range_key
from ktui.audit.journal import EVENT, LINE, MOST, NO_GROUP, STARTED, TRACE, TRACE_LINE, Journal, kind_of
from ktui.audit.log_reader import FileCount, LogReader
from ktui.audit.periods import FIRST, LAST, NEVER, DistinctKeys, LogPeriod
from ktui.core.ranking.shape import RequestShape, shape_of_uri
from ktui.core.ranking.sketches import TopGroups
from ktui.traces.spans import TracedRequest

MOST_GROUPS = 4096
MOST_SLOW_GROUPS = 1024
MOST_FILES = 1000
EXAMPLES = 6
_ALIKE = 2  # examples per kind
_EXAMPLE_BYTES = 160
_NAME_BYTES = 512
_MOST_URIS = 1 << 13
_REMEMBERED = 1024  # characters of a URI, a user agent and an account
OTHER_FILES = "other files"
_SOURCES = (("audit", (EVENT, STARTED)), ("httplog", (LINE,)), ("traces", (TRACE, TRACE_LINE)))


@dataclass(frozen=True, slots=True)
class BadLine:
    """A malformed line: where it is, why, and its start (untrusted, undecodable bytes escaped)."""

    file: str
    line: int
    why: str
    text: str


@dataclass(slots=True)
class Folded:
    """Requests of groups that were too small to keep, by verb, and which groups these are."""

    requests: Counter[str] = field(default_factory=Counter)
    groups: DistinctKeys = field(default_factory=DistinctKeys)


class TallyOptions(NamedTuple):
    """`now` bounds the year of klog lines; `etcd_prefix` is kube-apiserver's.

    Only records from `since` to `until` count (microseconds since 1970). `sampling`: of a million requests so
    many are traced.
    """

    now: datetime
    etcd_prefix: str = "/registry"
    since: int = FIRST
    until: int = LAST
    sampling: int = 1_000_000


class Tally(LogReader):
    """Counts the records that it is fed; `Wish.report` makes a report of it. See TallyOptions."""

    def __init__(
        self, now: datetime, etcd_prefix: str = "/registry", since: int = FIRST, until: int = LAST,
        sampling: int = 1_000_000, *, most_groups: int = MOST_GROUPS, most_requests: int = MOST,
    ) -> None:  # fmt: skip
        super().__init__(now)
        self.options = TallyOptions(now, etcd_prefix, since, until, sampling)
        self.formats: Counter[str] = Counter()
        self.spans: dict[str, LogPeriod] = {}
        self.bad_lines: list[BadLine] = []
        self.unrouted = 0
        self._shape = lru_cache(_MOST_URIS)(_shape_of)  # clients repeat their requests
        self.journal = Journal(most_requests)
        self.folded = Folded()
        self.groups: TopGroups[tuple[Client, RequestShape, bool], AuditGroup] = TopGroups(
            most_groups, self._fold
        )
        # By index: the group, or the verb of a group that was folded.
        self.numbered: list[AuditGroup | str] = []
        self.slow_folded = 0
        self.slow: TopGroups[RangeKey, SlowGroup] = TopGroups(MOST_SLOW_GROUPS, self._fold_slow)
        self.stopped = False

    @property
    def lines(self) -> int:
        return sum(file.lines for file in self.files)

    @property
    def malformed(self) -> int:
        return sum(file.malformed for file in self.files)

    def open_file(self, name: str, argument: str = "", *, part: bool = False) -> FileCount:
        """Begin a file: records fed from now on are counted as its records."""
        for span in self.spans.values():
            span.now = NEVER  # another file may be of an earlier time
        return self.add_file(FileCount(name, argument or name, part=part))

    def add_file(self, file: FileCount) -> FileCount:
        """Append a file; return it, or the sum of the other files if there are too many."""
        if len(self.files) < MOST_FILES:
            self.files.append(file)
        elif self.files[-1].name == OTHER_FILES:
            self.files[-1].extend(file)
        else:
            file.name = OTHER_FILES
            self.files.append(file)
        return self.files[-1]

    def _take_requests(self, requests: list[LoggedRequest], file: FileCount) -> None:
        """Count the requests from `since` to `until`."""
        since, until = self.options.since, self.options.until
        if since > FIRST or until < LAST:
            inside = [request for request in requests if since <= request.at <= until]
            file.skipped[Skips.OUTSIDE.what] += len(requests) - len(inside)
            requests = inside
        if requests:
            file.read += len(requests)
            self._count_requests(requests)

    def finish(self) -> None:
        """Count the requests of traces that are not complete: no more records will come."""
        if left := self.traces.finish():
            self.add_traced(left)

    def add_traced(self, traced: list[TracedRequest]) -> None:
        """Count requests that were received, not read from a log."""
        requests: list[LoggedRequest] = []
        self._take_traced(traced, self.files[-1], requests)
        self._take_requests(requests, self.files[-1])

    def _take_traced(self, traced: list[TracedRequest], file: FileCount, found: list[LoggedRequest]) -> None:
        """Append the reads among the requests of traces, each of which counts as a record."""
        file.lines += len(traced)
        reads = [request for each in traced if (request := logged(each)) is not None]
        file.skipped[Skips.WRITES.what] += len(traced) - len(reads)
        found += reads

    def _take_slow(self, slow: SlowRequest, file: FileCount) -> None:
        if not self.options.since <= slow.at <= self.options.until:
            file.skipped[Skips.OUTSIDE.what] += 1
            return
        file.read += 1
        self._count_source("etcd", [slow])
        key = range_key(slow, self.options.etcd_prefix)
        group = self.slow.get(key) or self.slow.add(key, SlowGroup(key, slow.key[:_EXAMPLE_BYTES]))
        group.add(slow)

    def _count_requests(self, requests: list[LoggedRequest]) -> None:
        groups = self.groups
        numbers: list[int] = []
        contents: list[int] = []
        for request in requests:
            uri, agent, user = request.uri, request.agent, request.user
            shape, content = (self._shape if len(uri) < _REMEMBERED else _shape_of)(uri)
            client, checksum = (_client if len(agent) + len(user) < _REMEMBERED else _client_of)(agent, user)
            contents.append(content ^ checksum)
            if shape is None:
                self.unrouted += request.done
                numbers.append(NO_GROUP)
                continue
            query = request.query
            group = groups.get((client, shape, query))
            if group is None:
                group = self.add_group(AuditGroupKey(client, shape, query), uri)
            group.add(request)
            numbers.append(group.index)
        kinds = [kind_of(request) for request in requests]
        for source, wanted in _SOURCES:
            self._count_source(
                source, [request for request, kind in zip(requests, kinds, strict=True) if kind in wanted]
            )
        self.journal.add(requests, kinds, numbers, contents)

    def _count_source(self, source: str, records: Sequence[LoggedRequest | SlowRequest]) -> None:
        """Count records of one format, and extend its period."""
        if records:
            self.formats[source] += len(records)
            moments = [record.at for record in records]
            if span := self.spans.get(source):
                span.add(moments)
            else:
                self.spans[source] = LogPeriod.of(moments)

    def add_group(self, key: AuditGroupKey, example: str) -> AuditGroup:
        group = self.groups.add(
            key, AuditGroup(key, example, NO_GROUP if self.journal.full else len(self.numbered))
        )
        if group.index >= 0:
            self.numbered.append(group)
        return group

    def _fold(self, group: AuditGroup) -> None:
        self.folded.requests[group.key.shape.verb] += group.count
        self.folded.groups.add(msgspec.msgpack.encode(group.key))
        if group.index >= 0:
            self.numbered[group.index] = group.key.shape.verb

    def _fold_slow(self, group: SlowGroup) -> None:
        self.slow_folded += group.count

    def bad(self, file: FileCount, number: int, why: Malformed, line: bytes) -> None:
        super().bad(file, number, why, line)
        text = line[:_EXAMPLE_BYTES].decode("utf-8", "backslashreplace")
        self.show_bad(BadLine(file.name, number, str(why), text))

    def show_bad(self, bad: BadLine) -> None:
        """Keep a bad line as an example, unless there are enough, or enough with this reason."""
        if len(self.bad_lines) < EXAMPLES and sum(kept.why == bad.why for kept in self.bad_lines) < _ALIKE:
            self.bad_lines.append(bad)


def _shape_of(uri: str) -> tuple[RequestShape | None, int]:
    """Return the shape of a URI (None if it does not read a stored resource) and its checksum."""
    return shape_of_uri(uri), zlib.crc32(uri.encode("utf-8", "replace"))


def _client_of(agent: str, user: str) -> tuple[Client, int]:
    """Return the client, and a checksum of its full user agent."""
    return client_of(agent[:_NAME_BYTES], user[:_NAME_BYTES]), zlib.crc32(agent.encode("utf-8", "replace"), 1)


_client = lru_cache(maxsize=1 << 14)(_client_of)
