"""`--http-log`: write a klog line for each request, as kube-apiserver does with `--v=3` (httplog.go)."""

from __future__ import annotations

import os
import time
from datetime import datetime

from ktui.apiserver.chain import ChainRecord
from ktui.kube.golang.durations import format_duration
from ktui.kube.golang.quoting import quote
from ktui.requestlogs.log_writer import LogWriter

# First minors that write the API's verb and the audit-ID, level and flow schema, the seats.
AUDIT_ID_SINCE, LEVEL_SINCE, SEATS_SINCE = 22, 23, 24
MAX_FIELD = 64  # characters of a name in apf_pl and apf_fs
APPLY = "application/apply-patch+yaml"


class HttpLog:
    """A RequestLog of kube-apiserver 1.`minor`."""

    def __init__(self, writer: LogWriter, minor: int) -> None:
        self._writer = writer
        self._minor = minor

    async def received(self, record: ChainRecord) -> None:
        """Do nothing: the line is written at the end."""

    def response_started(self, record: ChainRecord) -> None:
        """Do nothing: the line is written at the end."""

    async def finished(self, record: ChainRecord) -> None:
        line = http_line(record, self._minor, time.time(), time.perf_counter() - record.started)
        self._writer.put(lambda: line)
        await self._writer.wait_for_room()


def http_line(record: ChainRecord, minor: int, now: float, took: float) -> bytes:
    """Return the line of a request that ended at `now` (Unix seconds) after `took` seconds."""
    request = record.request
    verb = _verb(record) if minor >= AUDIT_ID_SINCE else request.method
    fields = [f"verb={quote(verb)} URI={quote(request.uri)} latency={quote(format_duration(took))}"]
    fields.append(f"userAgent={quote(request.user_agent)}")
    if minor >= AUDIT_ID_SINCE:
        fields.append(f"audit-ID={quote(record.audit_id)}")
    fields.append(f"srcIP={quote(request.peer)}")
    fields += _flow_control(record, minor)
    fields.append(f"resp={record.response.status}")
    moment = datetime.fromtimestamp(now).strftime("%m%d %H:%M:%S.%f")
    return f'I{moment} {os.getpid():7d} httplog.go:134] "HTTP" {" ".join(fields)}\n'.encode()


def _verb(record: ChainRecord) -> str:
    if record.verb == "PATCH" and record.request.headers.get("content-type", "").startswith(APPLY):
        return "APPLY"
    if record.verb == "HEAD":
        return "LIST" if record.info.is_resource and not record.info.name else "GET"
    return "DELETE" if record.verb == "DELETECOLLECTION" else record.verb


def _flow_control(record: ChainRecord, minor: int) -> list[str]:
    """Return the fields of flow control; a dispatched request also has seats and execution time."""
    flow = record.flow
    if flow is None or minor < LEVEL_SINCE:
        return []
    fields = [f"apf_pl={quote(flow.level.name[:MAX_FIELD])} apf_fs={quote(flow.name[:MAX_FIELD])}"]
    meter = record.meter
    ticket = record.ticket if minor >= SEATS_SINCE else None
    if ticket is not None:
        fields.append(f"apf_iseats={ticket.seats} apf_fseats={ticket.final_seats}")
        fields.append(f'apf_additionalLatency="{format_duration(ticket.additional_latency)}"')
    initial_ms = meter.initial_ms if meter is not None else 0.0
    if record.verb == "WATCH":
        fields.append(f'apf_init_latency="{format_duration(initial_ms / 1000.0)}"')
    if ticket is not None:
        fields.append(f'apf_execution_time="{format_duration(ticket.executed)}"')
    return fields
