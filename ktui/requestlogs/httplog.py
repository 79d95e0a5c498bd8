"""`--http-log`: write a klog line for each request, as kube-apiserver does with `--v=3` (httplog.go)."""

from __future__ import annotations

import os
import time
from datetime import datetime

from ktui.apiserver.call import Call
from ktui.kube.golang.formatting import quote
from ktui.kube.golang.times import format_duration
from ktui.requestlogs.log_writer import LogWriter

MAX_FIELD = 64  # characters of a name in apf_pl and apf_fs
APPLY = "application/apply-patch+yaml"


class HttpLog:
    """A RequestLog of kube-apiserver 1.`minor`."""

    kind = "http"

    def __init__(self, writer: LogWriter, minor: int) -> None:
        self._writer = writer
        self._minor = minor

    @property
    def lost(self) -> int:
        return self._writer.lost

    async def received(self, call: Call) -> None:
        """Do nothing: the line is written at the end."""

    def response_started(self, call: Call) -> None:
        """Do nothing: the line is written at the end."""

    async def finished(self, call: Call) -> None:
        line = http_line(call, self._minor, time.time(), time.perf_counter() - call.arrived)
        self._writer.put(lambda: line)
        await self._writer.wait_for_room()


def http_line(call: Call, minor: int, now: float, took: float) -> bytes:
    """Return the line of a request that ended at `now` (Unix seconds) after `took` seconds."""
    request = call.request
    verb = _verb(call) if minor >= 22 else request.method
    fields = [f"verb={quote(verb)} URI={quote(request.uri)} latency={quote(format_duration(took))}"]
    fields.append(f"userAgent={quote(request.user_agent)}")
    if minor >= 22:
        fields.append(f"audit-ID={quote(call.audit_id)}")
    fields.append(f"srcIP={quote(request.peer)}")
    fields += _flow_control(call, minor)
    fields.append(f"resp={call.response.status}")
    moment = datetime.fromtimestamp(now).strftime("%m%d %H:%M:%S.%f")
    return f'I{moment} {os.getpid():7d} httplog.go:134] "HTTP" {" ".join(fields)}\n'.encode()


def _verb(call: Call) -> str:
    """Return upstream's verb of the line: by the method, also below `/watch/`."""
    reads = call.request.method in ("GET", "HEAD")
    if call.verb == "PATCH" and call.request.headers.get("content-type", "").startswith(APPLY):
        return "APPLY"
    if call.request.method == "HEAD" and not call.info.is_resource:
        return "GET"
    if call.info.watch and not reads:
        return call.request.method
    return "DELETE" if call.verb == "DELETECOLLECTION" else call.verb


def _flow_control(call: Call, minor: int) -> list[str]:
    """Return the fields of flow control; a dispatched request also has seats and execution time."""
    flow = call.flow
    if flow is None or minor < 23:
        return []
    fields = [f"apf_pl={quote(flow.level.name[:MAX_FIELD])} apf_fs={quote(flow.name[:MAX_FIELD])}"]
    ticket = call.ticket if minor >= 24 else None
    if ticket is not None:
        fields.append(f"apf_iseats={ticket.seats} apf_fseats={ticket.final_seats}")
        fields.append(f'apf_additionalLatency="{format_duration(ticket.additional_latency)}"')
    if call.verb == "WATCH":
        fields.append(f'apf_init_latency="{format_duration(call.meter.initial_ms / 1000.0)}"')
    if ticket is not None:
        fields.append(f'apf_execution_time="{format_duration(ticket.executed)}"')
    return fields
