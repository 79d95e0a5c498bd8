"""`--tracing-config-file`: export each request as the spans that kube-apiserver 1.36 makes of it.

The spans are made from telemetry, so requests cost nothing more. Their names, attributes and events are those
of upstream; times within a request follow from its phases.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import time
from typing import Any

import grpc
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from ktui.cli.logs import log_of
from ktui.cli.server.serve_config import TracingConfig
from ktui.contract.events import AnyEvent, EtcdCall, RequestFinished, RequestStarted
from ktui.kube.requestinfo import parse_path
from ktui.telemetry.bus import Bus
from ktui.traces import span_names as names

log = log_of(__name__)

SECONDS = 5.0  # between two exports, as the batch processor of OpenTelemetry's SDK
MOST_QUEUED, MOST_SENT = 2048, 512  # spans
_MOST_OPEN = 10_000  # requests whose events are kept until they finish
_METHOD = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
_OPTIONS = (("grpc.max_reconnect_backoff_ms", 5_000),)  # else up to two minutes after a receiver begins
_HANDLERS = {
    "LIST": "List", "GET": "Get", "POST": "Create", "PUT": "Update", "PATCH": "Patch", "DELETE": "Delete",
}  # fmt: skip
_METHODS = {"LIST": "GET", "WATCH": "GET", "DELETECOLLECTION": "DELETE"}
_FILTERS = {
    names.AUDIT: "", "constrainedimpersonation": "impersonation", names.FLOW_CONTROL: "flow control",
    names.AUTHORIZATION: "authorization",
}  # fmt: skip
Attributes = dict[str, str | int]
_INTERNAL, _SERVER, _CLIENT = 1, 2, 3
_MS = 1_000_000


async def export_spans(bus: Bus, config: TracingConfig) -> None:
    """Send the spans of finished requests every few seconds, sooner if a message is full, until cancelled."""
    tracer = Tracer(config.rate)
    channel = grpc.aio.insecure_channel(config.endpoint, options=_OPTIONS)
    export = channel.unary_unary(_METHOD, request_serializer=ExportTraceServiceRequest.SerializeToString)
    collecting = asyncio.create_task(bus.follow(tracer.add))
    try:
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(SECONDS):
                    await tracer.full.wait()
            if collecting.done():
                collecting.result()  # its fault ends this task, which is supervised
            while spans := tracer.take(MOST_SENT):
                try:
                    await export(request_with(spans), timeout=10)
                except grpc.RpcError as error:
                    what = f"{len(spans)} spans were not exported to {config.endpoint}"
                    log.warning("%s: %s", what, error.code())
                    await asyncio.sleep(SECONDS)
                    break
    finally:
        collecting.cancel()
        await channel.close()


def request_with(spans: list[Any]) -> Any:
    """Return an ExportTraceServiceRequest of a server's spans."""
    message = ExportTraceServiceRequest()
    part = message.resource_spans.add()
    part.resource.attributes.add(key=names.SERVICE_KEY).value.string_value = names.SERVICE
    part.scope_spans.add().spans.extend(spans)
    return message


class Tracer:
    """Makes the spans of requests from their events. `dropped` counts those for which there was no room;
    `full` is set while a whole message of them waits."""

    def __init__(self, rate: int, ids: random.Random | None = None) -> None:
        self._rate = rate
        self._ids = ids or random.Random()
        self._open: dict[int, tuple[RequestStarted, list[EtcdCall]]] = {}  # oldest first
        self._spans: list[Any] = []
        self.dropped = 0
        self.full = asyncio.Event()

    def add(self, event: AnyEvent) -> None:
        if isinstance(event, RequestStarted):
            if self._ids.random() * 1_000_000 < self._rate:
                self._open[event.id] = event, []
                if len(self._open) > _MOST_OPEN:
                    del self._open[next(iter(self._open))]
        elif isinstance(event, EtcdCall):
            if event.request_id and (found := self._open.get(event.request_id)) is not None:
                found[1].append(event)
        elif isinstance(event, RequestFinished) and (found := self._open.pop(event.id, None)) is not None:
            started, calls = found
            spans = RequestSpans(started, event, calls, self._ids).spans
            room = MOST_QUEUED - len(self._spans)
            self._spans += spans[:room]
            self.dropped += max(0, len(spans) - room)
            if len(self._spans) >= MOST_SENT:
                self.full.set()

    def take(self, most: int) -> list[Any]:
        found, self._spans = self._spans[:most], self._spans[most:]
        if len(self._spans) < MOST_SENT:
            self.full.clear()
        return found


class RequestSpans:
    """The spans of one request, children before their parents, as they end."""

    def __init__(
        self, started: RequestStarted, done: RequestFinished, calls: list[EtcdCall], ids: random.Random
    ) -> None:
        self._started, self._done, self._calls, self._ids = started, done, calls, ids
        self._trace, self._info = ids.randbytes(16), parse_path(started.path)
        self.spans: list[Any] = []
        chain = {stage.stage: stage.ms for stage in started.chain}
        before = sum(chain.values())
        self._begin = round((started.at or time.time()) * 1e9)
        self._end = self._begin + round((before + done.ms) * _MS)
        top = self._server(round(before * _MS))
        inner, at = top, self._begin
        for name, stage in _FILTERS.items():
            at += round(chain.get(stage, 0.0) * _MS)
            inner = self._span(name, inner, at if stage else self._begin, self._end)
        refused = bool(started.chain) and started.chain[-1].decision.startswith("refused")
        self._handle(inner, at, reached=not refused)
        self.spans.reverse()

    def _span(
        self, name: str, parent: Any, start: int, end: int, attributes: Attributes | None = None,
        kind: int = _INTERNAL,
    ) -> Any:  # fmt: skip
        span = Span(
            trace_id=self._trace, span_id=self._ids.randbytes(8), name=name,
            parent_span_id=parent.span_id if parent is not None else b"",
            kind=kind,  # type: ignore[arg-type]  # enums of protobuf are numbers
            start_time_unix_nano=start, end_time_unix_nano=max(start, end),
        )  # fmt: skip
        for key, value in (attributes or {}).items():
            _set(span, key, value)
        self.spans.append(span)
        return span

    def _server(self, before: int) -> Any:
        started, done, info = self._started, self._done, self._info
        method = _METHODS.get(started.verb, started.verb)
        host, _, port = started.peer.rpartition(":")
        values: Attributes = {
            "http.request.method": method, "url.scheme": "https", "network.peer.address": host,
            "network.peer.port": int(port) if port.isdigit() else 0,
            "user_agent.original": started.user_agent, "client.address": host, "url.path": started.path,
            "network.protocol.version": "1.1",
            names.TARGET[0]: f"{started.path}?{started.query}" if started.query else started.path,
            names.AUDIT_ID: started.audit_id, names.BODY[0]: done.sent_bytes, names.STATUS[0]: done.status,
        }  # fmt: skip
        name = f"{method} {_route(info)}" if info.is_resource else method
        return self._span(name, None, self._begin, self._end, values, _SERVER)

    def _handle(self, parent: Any, at: int, *, reached: bool) -> None:
        started, done, phases = self._started, self._done, self._done.phases
        send = round(phases.get("send", 0.0) * _MS)
        encoding = max(at, self._end - send - round(phases.get("encode", 0.0) * _MS))
        watch, handler = started.verb == "WATCH", parent
        name = _HANDLERS.get(started.verb, "")
        if watch and "sendInitialEvents=true" in started.query:
            name = "WatchList"
        if reached and self._info.is_resource:
            end = at + round(done.initial_ms * _MS) if watch else self._end
            if name:
                handler = self._span(name, parent, at, end, self._of_handler())
            if name == "Get":
                _event(handler, names.GET_STORAGE, at)
            self._storage(handler, at, at if watch else encoding)
        if watch and done.status == 200:
            if handler is not parent:
                live = at + round(done.initial_ms * _MS)
                stream = self._span("WatchServer.HandleHTTP", handler, at, live, self._of_encoder())
                _event(stream, names.WRITING, at)
                _event(stream, names.INITIAL_DONE, live)
            return
        encode = self._span("SerializeObject", handler, encoding, self._end, self._of_encoder())
        size: Attributes = {"size": done.encoded_bytes or done.sent_bytes}
        _event(encode, names.WRITING, self._end - send, {"writer": "*responsewriter", **size})
        _event(encode, names.WRITTEN, self._end, size)

    def _of_handler(self) -> Attributes:
        started, info = self._started, self._info
        return {
            "accept": started.accept or "*/*", "audit-id": started.audit_id,
            "client": started.peer.rpartition(":")[0], "api-group": info.group, "api-version": info.version,
            "name": started.name, "subresource": info.subresource, "namespace": info.namespace,
            "protocol": "HTTP/1.1", "resource": info.resource,
            "scope": "resource" if info.name else "namespace" if info.namespace else "cluster",
            "url": started.path, "user-agent": started.user_agent, "verb": started.verb,
        }  # fmt: skip

    def _of_encoder(self) -> Attributes:
        return {
            "audit-id": self._started.audit_id,
            "method": _METHODS.get(self._started.verb, self._started.verb), "url": self._started.path,
            "protocol": "HTTP/1.1", "mediaType": "application/json", "encoder": "ktui",
        }  # fmt: skip

    def _storage(self, handler: Any, at: int, end: int) -> None:
        started, route, info = self._started, self._done.route, self._info
        audit: Attributes = {"audit-id": started.audit_id}
        key = f"/{info.resource}"
        parent = handler
        if started.verb == "LIST":
            if "cache" in route:
                parent = self._span("cacher.GetList", handler, at, end, {**audit, "type": info.resource_id})
                self._listing(parent, at, end, listed="etcd" not in route)
            self._calls_below(parent, handler, key, at, end)
            return
        if started.verb == "WATCH":
            if "cache" in route:
                cacher = self._span("cacher.Watch", handler, at, at, {**audit, "type": info.resource_id})
                self._calls_below(cacher, cacher, key, at, end)
            return
        if started.verb == "GET":
            revision = "0" if "resourceVersion=0" in started.query else ""
            of_get = {**audit, "key": f"{key}/{started.name}", "resource-version": revision}
            parent = self._span("cacher.Get", handler, at, end, of_get)
            _event(parent, names.FROM_STORAGE if "etcd" in route else names.FROM_CACHE, at)
        elif any(call.op == "txn" for call in self._calls) and started.verb != "DELETE":
            name = "Create etcd3" if started.verb == "POST" else "GuaranteedUpdate etcd3"
            place = {"key": f"{key}/{started.name}", "type": "", "group": info.group}
            parent = self._span(name, handler, at, end, {**audit, **place, "resource": info.resource})
        for call in self._calls:
            self._rpc(call, parent, at)

    def _listing(self, span: Any, at: int, end: int, *, listed: bool) -> None:
        phases, done = self._done.phases, self._done
        probe = sum(call.ms for call in self._calls if call.purpose == "probe")
        locked = min(end, at + round(probe * _MS))
        fresh = min(end, locked + round(phases.get("wait", 0.0) * _MS))
        _event(span, names.READY, at)
        _event(span, names.LOCKED, locked)
        if not listed or done.status == 504:
            return
        _event(span, names.FRESH, fresh)
        _event(span, names.LISTED, fresh, {names.COUNT: done.fetched})
        if done.returned:
            _event(span, names.RESIZED, end)
        _event(span, names.FILTERED, end, {names.COUNT: done.returned})

    def _calls_below(self, cacher: Any, handler: Any, key: str, at: int, end: int) -> None:
        for call in self._calls:
            probe = call.purpose == "probe"
            name = "List(recursive=false) etcd3" if probe else names.RECURSIVE
            values: Attributes = {
                "audit-id": self._started.audit_id, names.KEY: key, names.REVISION: "",
                "resourceVersionMatch": "", names.LIMIT: "1" if probe else "0", names.CONTINUE: "",
            }  # fmt: skip
            until = min(end, at + round(call.ms * _MS)) if probe else end
            self._rpc(call, self._span(name, cacher if probe else handler, at, until, values), at)

    def _rpc(self, call: EtcdCall, parent: Any, at: int) -> None:
        name = "etcdserverpb.KV/Txn" if call.op == "txn" else names.READ_RPCS[0]
        values: Attributes = {"rpc.method": name, "rpc.system.name": "grpc", "rpc.response.status_code": "OK"}
        self._span(name, parent, at, at + round(call.ms * _MS), values, _CLIENT)


def _set(holder: Any, key: str, value: str | int) -> None:
    found = holder.attributes.add(key=key).value
    if isinstance(value, int):
        found.int_value = value
    else:
        found.string_value = value


def _event(span: Any, name: str, at: int, attributes: Attributes | None = None) -> None:
    event = span.events.add(name=name, time_unix_nano=at)
    for key, value in (attributes or {}).items():
        _set(event, key, value)


def _route(info: Any) -> str:
    """Return the path with placeholders, as in the name of upstream's span."""
    prefix = f"/apis/{info.group}" if info.group else "/api"
    namespace = "/namespaces/{:namespace}" if info.namespace else ""
    name = "/{:name}" if info.name else ""
    below = f"/{info.subresource}" if info.subresource else ""
    return f"{prefix}/{info.version}{namespace}/{info.resource}{name}{below}"
