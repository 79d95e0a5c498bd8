"""etcd_request_*: operations and resources of the RPCs in the telemetry."""

from __future__ import annotations

import pytest

from ktui.apiserver.metrics.etcd import EtcdMetrics, KeyNames
from ktui.cacher.settings import Settings
from ktui.contract.events import EtcdCall
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
    ],
)
def test_labels(version: str, call: EtcdCall, labels: tuple[tuple[str, str], ...]) -> None:
    metrics = EtcdMetrics(Bus(), Supervisor(), Settings(behaviour_of(version)), NAMES)
    metrics.observe(call)
    assert [found for _, found, _ in metrics.total.samples()] == [labels]
