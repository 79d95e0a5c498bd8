"""An audit Event has the fields of a real one, and ktui's own reader understands it."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from ktui.apiserver.call import UNKNOWN, Call
from ktui.apiserver.chain import Decision
from ktui.audit.formats import auditlog
from ktui.audit.formats.log_record import LoggedRequest
from ktui.contract.events import ChainStage
from ktui.kube.requestinfo import attributes_of, rules_verb
from ktui.kube.users import MASTERS, Requester
from ktui.requestlogs.audit_log import event_of, source_ips

from .records import record_of

PODS = "/api/v1/namespaces/shop/pods"
END = 1_790_000_000.75


def event(record: Call, stage: str = "ResponseComplete", now: float = END, minor: int = 36) -> dict[str, Any]:
    asked = attributes_of(record.info, rules_verb(record.info, record.verb))
    found: dict[str, Any] = json.loads(encoded(event_of(record, asked, "Metadata", stage, now, minor)))
    return found


def encoded(found: Any) -> bytes:
    return msgspec.json.encode(found)


def test_an_answered_list() -> None:
    record = record_of(PODS, query="limit=500")
    record.who = Requester("jane", (MASTERS,))
    assert event(record) == {
        "kind": "Event",
        "apiVersion": "audit.k8s.io/v1",
        "level": "Metadata",
        "auditID": "id-1",
        "stage": "ResponseComplete",
        "requestURI": f"{PODS}?limit=500",
        "verb": "list",
        "user": {"username": "bob", "groups": ["system:authenticated"]},
        "impersonatedUser": {"username": "jane", "groups": ["system:masters"]},
        "sourceIPs": ["10.0.0.7"],
        "userAgent": "probe/v1",
        "objectRef": {"resource": "pods", "namespace": "shop", "apiVersion": "v1"},
        "responseStatus": {"metadata": {}, "code": 200},
        "requestReceivedTimestamp": "2026-09-21T14:13:20.500000Z",
        "stageTimestamp": "2026-09-21T14:13:20.750000Z",
        "annotations": {
            "authorization.k8s.io/decision": "allow",
            "authorization.k8s.io/reason": "RBAC: allowed by a role",
        },
    }


def test_it_is_received_before_anything_is_known() -> None:
    found = event(record_of(PODS), "RequestReceived")
    assert found["stageTimestamp"] == found["requestReceivedTimestamp"]
    assert not {"responseStatus", "annotations"} & found.keys()


def test_the_reader_of_audit_logs_reads_it() -> None:
    record = record_of(PODS, query="watch=1")
    asked = attributes_of(record.info, "watch")
    line = encoded(event_of(record, asked, "Metadata", "ResponseComplete", END, 36))
    assert auditlog.START.match(line)  # the quick way
    assert auditlog.read(line) == LoggedRequest(
        "watch", f"{PODS}?watch=1", "probe/v1", "bob", int(END * 1e6), 250_000, 200, id="id-1"
    )


def test_a_created_object_is_named_by_what_was_sent() -> None:
    record = record_of("/apis/apps/v1/namespaces/shop/deployments/web/scale", method="PUT")
    record.sent = {"name": "web", "uid": "u-1", "resourceVersion": "7"}
    assert event(record)["objectRef"] == {
        "resource": "deployments", "namespace": "shop", "name": "web", "uid": "u-1", "apiGroup": "apps",
        "apiVersion": "v1", "resourceVersion": "7", "subresource": "scale",
    }  # fmt: skip


def test_a_path_that_is_no_resource_has_no_object() -> None:
    found = event(record_of("/healthz"))
    assert (found["verb"], "objectRef" in found) == ("get", False)


def test_an_error_has_its_status() -> None:
    record = record_of(PODS, status=403)
    record.decision = Decision(False)
    sent = {
        "status": "Failure",
        "message": "no",
        "reason": "Forbidden",
        "details": {"kind": "pods"},
        "code": 403,
    }
    record.status = {"kind": "Status", "metadata": {}, **sent}
    found = event(record)
    assert found["responseStatus"] == {"metadata": {}, **sent}
    assert found["annotations"]["authorization.k8s.io/decision"] == "forbid"


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("Bearer x", "Authentication failed, attempted: bearer"),
        ("Basic eA==", "Authentication failed, attempted: basic"),
        ("", "Authentication failed, no credentials provided"),
    ],
)
def test_an_unknown_user(header: str, message: str) -> None:
    record = record_of(PODS, status=401, headers={"authorization": header})
    record.authenticated, record.who, record.decision = None, UNKNOWN, None
    found = event(record, "ResponseStarted")
    assert (found["user"], found["responseStatus"]) == ({}, {"metadata": {}, "message": message, "code": 401})


def test_a_handler_that_breaks_off_and_a_client_that_goes_away() -> None:
    record = record_of(PODS, status=0)
    assert event(record)["responseStatus"] == {
        "metadata": {}, "status": "Success", "message": "Connection closed early", "code": 200
    }  # fmt: skip
    record.panicked = "KeyError: 'x'"
    assert event(record, "Panic")["responseStatus"] == {
        "metadata": {}, "status": "Failure", "message": "APIServer panic'd: KeyError: 'x'",
        "reason": "InternalError", "code": 500,
    }  # fmt: skip


def latencies(record: Call, minor: int, seconds: float) -> dict[str, str]:
    found = event(record, now=record.received + seconds, minor=minor)["annotations"]
    prefix = "apiserver.latency.k8s.io/"
    return {key.removeprefix(prefix): value for key, value in found.items() if key.startswith(prefix)}


def test_a_slow_request_says_where_its_time_went() -> None:
    record = record_of(PODS)
    assert record.meter is not None
    record.meter.phases = {"etcd": 300.0, "decode": 20.0, "encode": 50.5, "send": 100.0, "wait": 9.0}
    record.stages = [ChainStage("authentication", "bob", 1.5), ChainStage("flow control", "x", 12.0)]
    assert latencies(record, 36, 0.5) == {}
    new = {"apf-queue-wait": "12ms", "authentication": "1.5ms", "decode-response-object": "20ms"}
    old = {"etcd": "300ms", "response-write": "100ms", "serialize-response-object": "150.5ms", "total": "2s"}
    assert latencies(record, 36, 2.0) == new | old
    assert latencies(record, 30, 2.0) == {"decode-response-object": "20ms"} | old
    assert latencies(record, 24, 2.0) == old


@pytest.mark.parametrize(
    ("headers", "found"),
    [
        ({}, ["10.0.0.7"]),
        ({"x-forwarded-for": "1.2.3.4, no, ::1"}, ["1.2.3.4", "::1", "10.0.0.7"]),
        ({"x-forwarded-for": "1.2.3.4, 10.0.0.7", "x-real-ip": "1.2.3.4"}, ["1.2.3.4", "10.0.0.7"]),
        ({"x-real-ip": "5.6.7.8"}, ["5.6.7.8", "10.0.0.7"]),
    ],
)
def test_source_addresses(headers: dict[str, str], found: list[str]) -> None:
    assert source_ips(record_of(PODS, headers=headers).request) == found


def test_a_long_user_agent_is_cut() -> None:
    agent = event(record_of(PODS, headers={"user-agent": "x" * 2000}))["userAgent"]
    assert agent == "x" * 1024 + "...TRUNCATED"
