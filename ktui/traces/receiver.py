"""Receive OTLP: gRPC, which kube-apiserver and collectors speak, and HTTP with protobuf or JSON.

Requests are answered once their bytes are queued; one thread decodes them and assembles the traces. What does
not fit into the queue is dropped and counted, and the sender is told how many spans were rejected.
"""

from __future__ import annotations

import queue
import threading
import time
import zlib
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

import msgspec

from ktui.traces.assembly import TraceAssembler
from ktui.traces.otlp import decode_json, decode_protobuf
from ktui.traces.spans import NotSpans, SpanCounts, TracedRequest

GRPC_PORT, HTTP_PORT = 4317, 4318
DEFAULT = f"127.0.0.1:{GRPC_PORT}"
LARGEST = 16 << 20
"""Most bytes of a message, unpacked."""
MOST_QUEUED, MOST_BYTES = 256, 64 << 20
MOST_REQUESTS = 50_000  # requests that wait to be fetched
MOST_KEPT = 50_000  # requests of a search
_SETTLE = 0.3  # seconds that a trace waits for spans of other batches
_TICK = 0.2
_SERVICE = "opentelemetry.proto.collector.trace.v1.TraceService"
_PATH = "/v1/traces"
_TYPES = {"application/x-protobuf": False, "application/json": True}


class ReceivedSpans(msgspec.Struct):
    """What came so far. `dropped`: messages without room, or whose requests were not fetched."""

    messages: int = 0
    bytes: int = 0
    dropped: int = 0
    bad: int = 0
    last: float = 0.0  # when the last message came, Unix seconds
    problem: str = ""  # of the last bad message


class OtlpReceiver:
    """Listens from `start` to `close`; `drain` returns the requests that are complete since the last call.

    Who waits for requests of its own has a `search`: each gets all requests, also those that are drained.
    """

    def __init__(self, host: str, grpc_port: int, http_port: int) -> None:
        self.received = ReceivedSpans()
        self.assembler = TraceAssembler(settle=_SETTLE)
        self._host, self._ports = host, (grpc_port, http_port)
        self._queue: queue.Queue[tuple[bytes, bool]] = queue.Queue(MOST_QUEUED)
        self._queued = 0
        self._lock = threading.Lock()
        self._ready: list[TracedRequest] = []
        self._searches: list[OrderedDict[str, TracedRequest]] = []
        self._ended = threading.Event()
        self.closed = False  # True once `close` has returned: no more requests become complete
        self._grpc: Any = None
        self._http: ThreadingHTTPServer | None = None
        self._threads: list[threading.Thread] = []
        self.grpc_port = self.http_port = 0

    def start(self) -> None:
        """Listen. Raises OSError if a port is in use."""
        handler, where = type("OtlpHandler", (_Handler,), {"receiver": self}), (self._host, self._ports[1])
        try:
            http = self._http = _Server(where, handler)
        except OSError as error:
            why = error.strerror or str(error)
            raise OSError(error.errno, why, f"{where[0]}:{where[1]}") from None
        self.http_port = int(http.server_address[1])
        self._run(lambda: http.serve_forever(0.1), "otlp-http")
        try:
            self.grpc_port = self._start_grpc()
        except OSError:
            self.close()
            raise
        self._run(self._work, "otlp")

    @property
    def counts(self) -> SpanCounts:
        return self.assembler.counts

    def drain(self) -> list[TracedRequest]:
        with self._lock:
            found, self._ready = self._ready, []
        return found

    def search(self) -> OrderedDict[str, TracedRequest]:
        """Return a mapping that gets the requests from now on, by Audit-ID, until `end_search`."""
        found: OrderedDict[str, TracedRequest] = OrderedDict()
        with self._lock:
            self._searches.append(found)
        return found

    def end_search(self, found: OrderedDict[str, TracedRequest]) -> None:
        with self._lock:
            self._searches = [each for each in self._searches if each is not found]

    def flush(self) -> None:
        """Wait until every queued message is read."""
        self._queue.join()

    def close(self) -> None:
        """Stop listening, and read the messages that are queued."""
        if self._ended.is_set():
            return
        self._ended.set()
        if self._grpc is not None:
            self._grpc.stop(None)
        if self._http is not None:
            self._http.shutdown()
            self._http.server_close()
        for thread in self._threads:
            thread.join(2.0)
        self.closed = True

    def accept(self, data: bytes, *, is_json: bool) -> bool:
        """Queue a message; False if there is no room for it."""
        received = self.received
        with self._lock:
            received.messages += 1
            received.bytes += len(data)
            received.last = time.time()
            room = self._queued + len(data) <= MOST_BYTES and not self._queue.full()
            if room:
                self._queued += len(data)
            else:
                received.dropped += 1
        if room:
            self._queue.put((data, is_json))
        return room

    def refuse(self, why: str) -> None:
        """Count a message that cannot be read."""
        with self._lock:
            self.received.bad += 1
            self.received.problem = why

    def _run(self, target: Callable[[], None], name: str) -> None:
        thread = threading.Thread(target=target, name=name, daemon=True)
        thread.start()
        self._threads.append(thread)

    def _work(self) -> None:
        """Decode messages and assemble their traces until `close`, then those that are queued."""
        while not self._ended.is_set() or not self._queue.empty():
            try:
                item = self._queue.get(timeout=_TICK)
            except queue.Empty:
                self._give(self.assembler.tick(time.monotonic()))
                continue
            self._read(*item)
            self._queue.task_done()

    def _read(self, data: bytes, is_json: bool) -> None:
        with self._lock:
            self._queued -= len(data)
        try:
            spans = (decode_json if is_json else decode_protobuf)(data, self.assembler.counts)
        except NotSpans as why:
            self.refuse(str(why))
        else:
            self._give(self.assembler.add(spans, time.monotonic()))

    def _give(self, requests: list[TracedRequest]) -> None:
        if requests:
            with self._lock:
                self._ready += requests
                for found in self._searches:
                    found.update((each.audit_id, each) for each in requests if each.audit_id)
                    while len(found) > MOST_KEPT:
                        found.popitem(last=False)
                if (more := len(self._ready) - MOST_REQUESTS) > 0:
                    del self._ready[:more]
                    self.received.dropped += more

    def _start_grpc(self) -> int:
        import grpc  # start-up time
        from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

        accepted: bytes = ExportTraceServiceResponse().SerializeToString()
        refused = ExportTraceServiceResponse()
        refused.partial_success.rejected_spans = 1
        refused.partial_success.error_message = "ktui has no room for more spans"
        rejected: bytes = refused.SerializeToString()

        def export(data: bytes, _: Any) -> bytes:
            return accepted if self.accept(data, is_json=False) else rejected

        handler = grpc.unary_unary_rpc_method_handler(export)  # bytes in, bytes out
        server = grpc.server(
            ThreadPoolExecutor(2, "otlp-grpc"),
            handlers=(grpc.method_handlers_generic_handler(_SERVICE, {"Export": handler}),),
            options=(("grpc.max_receive_message_length", LARGEST), ("grpc.so_reuseport", 0)),
            maximum_concurrent_rpcs=64,
        )
        host = f"[{self._host}]" if ":" in self._host else self._host
        address, port = f"{host}:{self._ports[0]}", 0
        with suppress(RuntimeError):
            port = server.add_insecure_port(address)
        if not port:
            raise OSError(98, "the port is in use, or the address is not of this machine", address)
        server.start()
        self._grpc = server
        return int(port)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 32

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: standard error may show a screen."""


class PostHandler(BaseHTTPRequestHandler):
    """Answers the POSTs of one connection, and logs nothing: standard error may show a screen."""

    protocol_version = "HTTP/1.1"

    def answer(self, status: int, body: bytes = b"", kind: str = "") -> None:
        self.send_response(status)
        if kind:
            self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass


class _Handler(PostHandler):
    timeout = 30
    receiver: ClassVar[OtlpReceiver]

    def do_POST(self) -> None:
        kind = self.headers.get("Content-Type", "").partition(";")[0].strip().lower()
        size = self.headers.get("Content-Length", "")
        if self.path.partition("?")[0] != _PATH:
            self._refuse(404, f"OTLP's path is {_PATH}")
        elif kind not in _TYPES:
            self._refuse(415, "the Content-Type is application/x-protobuf or application/json")
        elif not size.isdigit():
            self._refuse(411, "a Content-Length is needed")
        elif int(size) > LARGEST:
            self._refuse(413, f"more than {LARGEST >> 20} MiB")
        else:
            self._take(self.rfile.read(int(size)), is_json=_TYPES[kind], kind=kind)

    def _take(self, data: bytes, *, is_json: bool, kind: str) -> None:
        packing = self.headers.get("Content-Encoding", "identity").strip().lower()
        if packing == "gzip":
            try:
                data = _unpacked(data)
            except ValueError as why:
                self._refuse(400, str(why))
                return
        elif packing not in ("identity", ""):
            self._refuse(415, "the Content-Encoding is gzip or identity")
            return
        if self.receiver.accept(data, is_json=is_json):
            self.answer(200, b"{}" if is_json else b"", kind)
        else:
            self.answer(503, b"", kind)

    def _refuse(self, status: int, why: str) -> None:
        self.receiver.refuse(f"OTLP/HTTP: {why}")
        self.close_connection = True
        self.answer(status, why.encode(), "text/plain")


def _unpacked(data: bytes) -> bytes:
    """Return gzipped bytes, unpacked. Raises ValueError for damaged ones and for bombs."""
    unpacker = zlib.decompressobj(wbits=31)
    try:
        found = unpacker.decompress(data, LARGEST)
    except zlib.error:
        raise ValueError("the gzip stream is damaged") from None
    if unpacker.unconsumed_tail:
        raise ValueError(f"it unpacks to more than {LARGEST >> 20} MiB")
    if not unpacker.eof:
        raise ValueError("the gzip stream breaks off")
    return found


def parse_address(text: str) -> tuple[str, int, int]:
    """Return host, gRPC port and HTTP port of `HOST:PORT`, `PORT` or "". Raises ValueError."""
    host, _, port = (text or DEFAULT).rpartition(":")
    host = host.strip("[]") or "127.0.0.1"
    if not port.isdigit() or int(port) > 65_534:
        raise ValueError(f"an OTLP address is HOST:PORT (default {DEFAULT}), not {text!r}")
    number = int(port)
    return host, number, HTTP_PORT if number == GRPC_PORT else number + 1 if number else 0


def is_loopback(host: str) -> bool:
    return host == "localhost" or host == "::1" or host.startswith("127.")
