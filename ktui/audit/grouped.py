"""Read requests that a database has counted: the result of a `ktui audit --sql` query, JSON or CSV."""

from __future__ import annotations

import io
from typing import Annotated

import msgspec

from ktui.audit.client import client_of
from ktui.audit.formats.record import Malformed
from ktui.audit.group import AuditGroupKey
from ktui.audit.periods import LogPeriod
from ktui.audit.reading.containers import leaves
from ktui.audit.reading.files import Log, Progressed
from ktui.audit.reading.framing import records
from ktui.audit.reading.longlines import LongLine
from ktui.audit.reading.streams import BrokenStream, BufferedStream, UnpackLimit
from ktui.audit.tally import Tally
from ktui.core.ranking.histogram import LatencyHistogram
from ktui.core.ranking.shape import shape_of_uri

UNTIMED = -2
"""The bucket of requests whose duration and query string were not logged."""
_Count = Annotated[int, msgspec.Meta(ge=0, le=1 << 53)]


class GroupedRow(msgspec.Struct):
    """Requests of one client, shape, status and latency bucket; times in microseconds."""

    verb: str
    example: str
    requests: _Count
    bucket: Annotated[int, msgspec.Meta(ge=UNTIMED, le=1024)]
    total_us: Annotated[float, msgspec.Meta(ge=0, le=1e18)]
    max_us: _Count
    first_us: Annotated[int, msgspec.Meta(ge=0, le=1 << 57)]
    last_us: Annotated[int, msgspec.Meta(ge=0, le=1 << 57)]
    user_agent: str = ""
    username: str = ""
    code: Annotated[int, msgspec.Meta(ge=0, le=999)] = 0
    started: int = 0


_decode = msgspec.json.Decoder(GroupedRow, strict=False).decode


def read_grouped(logs: list[Log], tally: Tally, report: Progressed) -> None:
    """Count the rows of the files; a stream that breaks off is noted as the problem of its file."""
    taken = 0
    for log in logs:
        file = tally.open_file(log.name, log.argument)
        with log.open() as raw:
            source = BufferedStream(io.BufferedReader(raw))
            try:
                for leaf in leaves(log.name, source, UnpackLimit(raw.tell)):
                    for block in records(leaf.source):
                        for line in [block.head] if isinstance(block, LongLine) else block:
                            file.lines += 1
                            _count_line(line, tally)
                        report(log.name, taken + log.size)
            except BrokenStream as broken:
                file.problem = str(broken)
        taken += log.size


def _count_line(line: bytes, tally: Tally) -> None:
    file = tally.files[-1]
    if not line.strip():
        return
    try:
        row = _decode(line)
        add_row(row, tally)
        file.read += 1
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        tally.note_bad(file, Malformed(f"not a row of a query of --sql: {error}"), line)


def add_row(row: GroupedRow, tally: Tally) -> None:
    """Count a row's requests. Raises ValueError for a verb that is no read."""
    if row.verb not in ("get", "list", "watch"):
        raise ValueError(f"the verb {row.verb[:20]!r}")
    tally.formats["audit"] += row.requests
    period = LogPeriod.of((row.first_us, row.last_us))
    period.back = 0
    if span := tally.spans.get("audit"):
        span.extend(period, same_file=False)
    else:
        tally.spans["audit"] = period
    shape = shape_of_uri(row.example)
    if shape is None:
        tally.unrouted += 0 if row.started else row.requests
        return
    key = AuditGroupKey(client_of(row.user_agent, row.username), shape, row.bucket != UNTIMED)
    group = tally.groups.get(key) or tally.add_group(key, row.example)
    if row.started:
        group.started += row.requests
        return
    group.done += row.requests
    if row.code >= 400:
        group.codes[row.code] = group.codes.get(row.code, 0) + row.requests
    if row.bucket != UNTIMED:
        group.took.merge(LatencyHistogram.of({row.bucket: row.requests}, round(row.total_us), row.max_us))
