"""The OTLP receiver: gRPC and HTTP, protobuf and JSON; what is not OTLP, too large, or a bomb."""

from __future__ import annotations

import gzip
import http.client
import json
from collections.abc import Iterator
from typing import Any

import grpc
import pytest

from ktui.traces import receiver as module
from ktui.traces.receiver import MOST_QUEUED, OtlpReceiver, is_loopback, parse_address
from ktui.traces.spans import TracedRequest
from tests.unit.traces.test_exports import documents, messages

METHOD = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
JSON, PROTOBUF = "application/json", "application/x-protobuf"


@pytest.fixture
def receiver() -> Iterator[OtlpReceiver]:
    found = OtlpReceiver("127.0.0.1", 0, 0)
    found.start()
    yield found
    found.close()


def all_of(receiver: OtlpReceiver) -> list[TracedRequest]:
    """Return the requests after all messages were read: what settles is taken from the assembler."""
    receiver.close()
    return [*receiver.drain(), *receiver.assembler.finish()]


def post(receiver: OtlpReceiver, body: bytes, path: str = "/v1/traces", **headers: str) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", receiver.http_port, timeout=60)
    try:
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request("POST", path, body, names)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def send(receiver: OtlpReceiver, data: bytes, method: str = METHOD, **options: Any) -> bytes:
    with grpc.insecure_channel(f"127.0.0.1:{receiver.grpc_port}") as channel:
        answer: bytes = channel.unary_unary(method)(data, timeout=60, **options)
        return answer


@pytest.mark.parametrize("way", ["grpc", "grpc gzip", "http protobuf", "http json", "http gzip"])
def test_every_way_gives_the_same_requests(receiver: OtlpReceiver, way: str) -> None:
    for document, message in zip(documents(), messages(), strict=True):
        text = json.dumps(document).encode()
        if way.startswith("grpc"):
            packing = {"compression": grpc.Compression.Gzip} if "gzip" in way else {}
            assert send(receiver, message, **packing) == b""
        elif way == "http protobuf":
            assert post(receiver, message, Content_Type=PROTOBUF) == (200, b"")
        elif way == "http json":
            assert post(receiver, text, Content_Type=f"{JSON}; charset=utf-8") == (200, b"{}")
        else:
            packed = gzip.compress(text)
            assert post(receiver, packed, Content_Type=JSON, Content_Encoding="gzip") == (200, b"{}")
    receiver.flush()
    found = all_of(receiver)
    assert len(found) == 25
    assert {request.route for request in found} == {"cache", "etcd", "none"}
    assert (receiver.received.messages, receiver.received.bad) == (len(documents()), 0)


def test_what_is_not_otlp_is_refused_and_counted(receiver: OtlpReceiver) -> None:
    assert post(receiver, b"{}", "/v1/metrics", Content_Type=JSON)[0] == 404
    assert post(receiver, b"<x/>", Content_Type="text/xml")[0] == 415
    assert post(receiver, b"x", Content_Type=JSON, Content_Encoding="br")[0] == 415
    assert post(receiver, b"x", Content_Type=JSON, Content_Encoding="gzip")[0] == 400
    with pytest.raises(grpc.RpcError) as refused:
        send(receiver, b"", "/opentelemetry.proto.collector.logs.v1.LogsService/Export")
    assert refused.value.code() is grpc.StatusCode.UNIMPLEMENTED
    send(receiver, b"\n\xff\xff\xff")  # taken at once, read later
    post(receiver, b"{", Content_Type=JSON)
    receiver.flush()
    assert receiver.received.bad == 6
    assert "not a document of spans" in receiver.received.problem
    assert receiver.drain() == []


def test_a_gzip_bomb_is_refused(receiver: OtlpReceiver) -> None:
    bomb = gzip.compress(b"\0" * (module.LARGEST + 1))
    status, why = post(receiver, bomb, Content_Type=PROTOBUF, Content_Encoding="gzip")
    assert (status, why) == (400, b"it unpacks to more than 16 MiB")
    with pytest.raises(grpc.RpcError) as refused:
        send(receiver, b"\0" * (module.LARGEST + 1), compression=grpc.Compression.Gzip)
    assert refused.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED


def test_what_does_not_fit_is_dropped_and_the_sender_told() -> None:
    idle = OtlpReceiver("127.0.0.1", 0, 0)  # nothing reads its queue
    assert all(idle.accept(b"x", is_json=False) for _ in range(MOST_QUEUED))
    assert not idle.accept(b"x", is_json=False)
    assert not idle.accept(b"x" * (module.MOST_BYTES + 1), is_json=False)
    assert (idle.received.messages, idle.received.dropped) == (MOST_QUEUED + 2, 2)


def test_a_port_in_use_is_said(receiver: OtlpReceiver) -> None:
    for grpc_port, http_port in ((receiver.grpc_port, 0), (0, receiver.http_port)):
        with pytest.raises(OSError, match="in use"):
            OtlpReceiver("127.0.0.1", grpc_port, http_port).start()


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("", ("127.0.0.1", 4317, 4318)),
        ("4317", ("127.0.0.1", 4317, 4318)),
        ("5000", ("127.0.0.1", 5000, 5001)),
        ("0.0.0.0:4317", ("0.0.0.0", 4317, 4318)),
        ("[::1]:14317", ("::1", 14317, 14318)),
        ("localhost:0", ("localhost", 0, 0)),
    ],
)
def test_addresses(text: str, wanted: tuple[str, int, int]) -> None:
    assert parse_address(text) == wanted


@pytest.mark.parametrize("text", ["host", "host:", "host:port", "host:70000", "1:2:x"])
def test_what_is_no_address_is_said(text: str) -> None:
    with pytest.raises(ValueError, match="HOST:PORT"):
        parse_address(text)


def test_loopback() -> None:
    assert [is_loopback(host) for host in ("127.0.0.1", "localhost", "::1", "0.0.0.0", "10.0.0.1")] == [
        True, True, True, False, False,
    ]  # fmt: skip


def test_a_search_gets_the_requests_that_another_drains(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_KEPT", 2)
    receiver = OtlpReceiver("127.0.0.1", 0, 0)
    found = receiver.search()
    receiver._give(
        [TracedRequest("list", "/api/v1/pods", 1, 2, audit_id=each) for each in ("", "a", "b", "c")]
    )
    assert len(receiver.drain()) == 4
    assert [*found] == ["b", "c"], "bounded"
    receiver.end_search(found)
    receiver._give([TracedRequest("get", "/x", 1, 2, audit_id="d")])
    assert "d" not in found
