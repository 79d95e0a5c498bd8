"""etcd_request_*: operations and resources of the RPCs in the telemetry."""

from __future__ import annotations

import pytest

from ktui.apiserver.metrics.storage import EtcdMetrics, KeyNames
from ktui.cacher.settings import Settings
from ktui.contract.events import EtcdCall
from ktui.etcd.grpc_errors import UNIMPLEMENTED
from ktui.kube.resources import BUILTIN
from ktui.kube.versions import behaviour_of
from ktui.supervision import Supervisor
from ktui.telemetry.bus import Bus

NAMES = KeyNames("/registry", BUILTIN.by_prefix)


@pytest.mark.parametrize(
    ("request_text", "resource"),
    [
        ('key:"/registry/pods/" range_end:"/registry/pods0" ', "pods"),
        ('key:"/registry/pods" limit:1 ', "pods"),
        ('key:"/registry/services/specs/a/b" ', "services"),
        ('compare:<target:MOD key:"/registry/minions/n1" mod_revision:4 > ', "nodes"),
        ('key:"/elsewhere/pods/a" ', None),
        ("", None),
    ],
)
def test_a_request_names_its_resource(request_text: str, resource: str | None) -> None:
    found = NAMES.find(request_text)
    assert (found and found.id) == resource


@pytest.mark.parametrize(
    ("version", "call", "labels"),
    [
        (
            "1.36",
            EtcdCall(op="range", purpose="probe", request='key:"/registry/deployments" '),
            (("operation", "get"), ("group", "apps"), ("resource", "deployments")),
        ),
        (
            "1.37",
            EtcdCall(op="range", purpose="probe", request='key:"/registry/pods" '),
            (("operation", "getCurrentResourceVersion"), ("group", ""), ("resource", "pods")),
        ),
        (
            "1.33",
            EtcdCall(op="txn", purpose="update", request='compare:<key:"/registry/pods/a/b" > '),
            (("operation", "update"), ("type", "pods")),
        ),
        ("1.36", EtcdCall(op="status", request=""), (("operation", "status"),)),
        ("1.37", EtcdCall(op="range", purpose="updateGet", request=""), (("operation", "get"),)),
        ("1.38", EtcdCall(op="range", purpose="updateGet", request=""), (("operation", "updateGet"),)),
        ("1.38", EtcdCall(op="range", purpose="deleteGet", request=""), (("operation", "deleteGet"),)),
        ("1.38", EtcdCall(op="range", purpose="get", request=""), (("operation", "get"),)),
        (
            "1.37",
            EtcdCall(op="range_stream", purpose="list", request='key:"/registry/pods/" '),
            (("operation", "listStream"), ("group", ""), ("resource", "pods")),
        ),
        (
            "1.37",
            EtcdCall(op="range_stream", purpose="reflector", request='key:"/registry/pods/" '),
            (("operation", "listStream"), ("group", ""), ("resource", "pods")),
        ),
    ],
)
def test_labels(version: str, call: EtcdCall, labels: tuple[tuple[str, str], ...]) -> None:
    metrics = EtcdMetrics(Bus(), Supervisor(), Settings(behaviour_of(version)), NAMES)
    metrics.observe(call)
    assert [found for _, found, _ in metrics.total.samples()] == [labels]


def test_a_stream_that_etcd_does_not_have_is_not_counted() -> None:
    metrics = EtcdMetrics(Bus(), Supervisor(), Settings(behaviour_of("1.37")), NAMES)
    call = EtcdCall(op="range_stream", purpose="list", request='key:"/registry/pods/" ', error=UNIMPLEMENTED)
    metrics.observe(call)
    assert not list(metrics.total.samples())
