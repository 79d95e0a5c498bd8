"""What gRPC's errors mean."""

from __future__ import annotations

import grpc
import pytest

from ktui.etcd import grpc_errors
from ktui.etcd.errors import (
    AuthenticationError,
    CompactedError,
    EtcdError,
    FutureRevisionError,
    NoSpaceError,
    PermissionDeniedError,
    RequestTooLargeError,
    UnreachableError,
)

CODE = grpc.StatusCode
ENDPOINT = "https://etcd-1:2379"


def error(code: grpc.StatusCode, details: str) -> grpc.aio.AioRpcError:
    return grpc.aio.AioRpcError(code, grpc.aio.Metadata(), grpc.aio.Metadata(), details)


@pytest.mark.parametrize(
    ("code", "details", "kind"),
    [
        (CODE.OUT_OF_RANGE, "etcdserver: mvcc: required revision has been compacted", CompactedError),
        (CODE.OUT_OF_RANGE, "etcdserver: mvcc: required revision is a future revision", FutureRevisionError),
        (CODE.UNAUTHENTICATED, "etcdserver: invalid auth token", AuthenticationError),
        (CODE.INVALID_ARGUMENT, "etcdserver: user name is empty", AuthenticationError),
        (
            CODE.INVALID_ARGUMENT,
            "etcdserver: authentication failed, invalid user ID or password",
            AuthenticationError,
        ),
        (CODE.PERMISSION_DENIED, "etcdserver: permission denied", PermissionDeniedError),
        (CODE.RESOURCE_EXHAUSTED, "etcdserver: mvcc: database space exceeded", NoSpaceError),
        (CODE.INVALID_ARGUMENT, "etcdserver: request is too large", RequestTooLargeError),
        (CODE.DEADLINE_EXCEEDED, "Deadline Exceeded", UnreachableError),
        (CODE.INTERNAL, "Internal error from Core", UnreachableError),
        (CODE.UNKNOWN, "", EtcdError),
    ],
)
def test_kinds(code: grpc.StatusCode, details: str, kind: type[EtcdError]) -> None:
    found = grpc_errors.from_grpc(error(code, details), ENDPOINT)
    assert type(found) is kind and found.detail == details
    assert str(found) and str(found)[-1] in ".?!"


@pytest.mark.parametrize(
    ("details", "step"),
    [
        (
            "failed to connect to all addresses; last error: UNKNOWN: ipv4:127.0.0.1:1: connection refused",
            "TCP",
        ),
        ("DNS resolution failed for etcd-1:2379: C-ares status is not ARES_SUCCESS", "DNS"),
        ("Ssl handshake failed: SSL_ERROR_SSL: WRONG_VERSION_NUMBER", "TLS"),
        ("Custom verification check failed with error: Hostname Verification Check failed", "TLS"),
        ("etcdserver: no leader", "etcd"),
        ("Socket closed", "etcd"),
    ],
)
def test_the_step_that_failed(details: str, step: str) -> None:
    found = grpc_errors.from_grpc(error(CODE.UNAVAILABLE, details), ENDPOINT)
    assert isinstance(found, UnreachableError)
    assert found.step == step and ENDPOINT in str(found)
    assert grpc_errors.never_sent(found) is (step != "etcd")


def test_an_etcd_that_is_connected_to_and_silent_is_no_matter_of_tcp() -> None:
    details = (
        "failed to connect to all addresses; last error: UNAVAILABLE: ipv4:127.0.0.1:2379: "
        "connection attempt timed out before receiving SETTINGS frame"
    )
    found = grpc_errors.from_grpc(error(CODE.UNAVAILABLE, details), ENDPOINT)
    assert isinstance(found, UnreachableError) and found.step == "etcd"
    assert "it can be connected to and does not answer" in str(found)
    assert grpc_errors.never_sent(found)
