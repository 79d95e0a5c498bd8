"""What objects use of a quota, whom it is about, and its refusals with upstream's texts."""

from __future__ import annotations

from typing import Any

import pytest

from ktui.kube.quantity import added, less
from ktui.kube.resources import Resource
from ktui.writes.admission.quotas import (
    charged_with,
    in_scope,
    is_charged,
    limited_by,
    unspecified,
    usage_now,
    usage_of,
)

from .objects import resource

Obj = dict[str, Any]


def pod(requests: Obj | None = None, limits: Obj | None = None, **spec: Any) -> Obj:
    resources = {"requests": requests or {}, "limits": limits or {}}
    return {
        "metadata": {"name": "p"},
        "spec": {"containers": [{"name": "c", "resources": resources}], **spec},
    }


def test_a_pod_that_has_ended_is_an_object_and_nothing_else() -> None:
    ended = {**pod({"cpu": "1"}), "status": {"phase": "Failed"}}
    assert usage_now(resource("pods"), ended) == {"count/pods": "1"}
    assert "requests.cpu" in usage_now(resource("pods"), {**ended, "status": {"phase": "Running"}})


USAGES = [
    (resource("configmaps"), {}, {"configmaps": "1", "count/configmaps": "1"}),
    (resource("deployments", "apps"), {}, {"count/deployments.apps": "1"}),
    (resource("pods"), pod({"cpu": "1", "nvidia.com/gpu": "2"}, {"memory": "1Gi"}),
     {"pods": "1", "count/pods": "1", "cpu": "1", "requests.cpu": "1", "requests.nvidia.com/gpu": "2",
      "limits.memory": "1Gi"}),
    (resource("services"), {"spec": {"type": "LoadBalancer", "ports": [{}, {}]}},
     {"services": "1", "count/services": "1", "services.loadbalancers": "1", "services.nodeports": "2"}),
    (resource("services"), {"spec": {"type": "ClusterIP", "ports": [{}]}},
     {"services": "1", "count/services": "1"}),
    (resource("persistentvolumeclaims"),
     {"spec": {"storageClassName": "fast", "resources": {"requests": {"storage": "1Gi"}}}},
     {"persistentvolumeclaims": "1", "count/persistentvolumeclaims": "1", "requests.storage": "1Gi",
      "fast.storageclass.storage.k8s.io/persistentvolumeclaims": "1",
      "fast.storageclass.storage.k8s.io/requests.storage": "1Gi"}),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "obj", "used"), USAGES)
def test_usage(kind: Resource, obj: Obj, used: dict[str, str]) -> None:
    assert usage_of(kind, obj) == used
    assert limited_by(kind, [*used, "other.storageclass", "count/x"]) == used.keys()


def test_every_container_says_what_a_quota_limits() -> None:
    names = {"requests.cpu", "limits.memory", "pods", "requests.nvidia.com/gpu"}
    two = pod({"cpu": "1"}, initContainers=[{"name": "a"}])
    why = "must specify limits.memory for: a,c; requests.cpu for: a"
    assert unspecified(resource("pods"), two, names) == why
    assert unspecified(resource("pods"), pod({"cpu": "1"}, {"memory": "1"}), names) == ""


SCOPES = [
    ({"scopes": ["BestEffort"]}, pod(), True),
    ({"scopes": ["BestEffort"]}, pod({"cpu": "1"}), False),
    ({"scopes": ["NotBestEffort"]}, pod({"cpu": "1"}), True),
    ({"scopes": ["Terminating"]}, pod(activeDeadlineSeconds=5), True),
    ({"scopes": ["Terminating"]}, pod(), False),
    ({"scopes": ["NotTerminating", "BestEffort"]}, pod(), True),
    ({"scopeSelector": {"matchExpressions": [
        {"scopeName": "PriorityClass", "operator": "In", "values": ["high"]}]}},
     pod(priorityClassName="high"), True),
    ({"scopeSelector": {"matchExpressions": [
        {"scopeName": "PriorityClass", "operator": "NotIn", "values": ["high"]}]}},
     pod(priorityClassName="high"), False),
]  # fmt: skip


@pytest.mark.parametrize(("spec", "obj", "inside"), SCOPES)
def test_scopes(spec: Obj, obj: Obj, inside: bool) -> None:
    assert in_scope(resource("pods"), obj, spec) is inside


def quota(hard: Obj, used: Obj) -> Obj:
    return {"metadata": {"name": "q"}, "status": {"hard": hard, "used": used}}


def test_a_quota_is_charged_up_to_its_limit() -> None:
    start = quota({"pods": "2", "requests.memory": "1Gi"}, {"pods": "1", "requests.memory": "512Mi"})
    charged = charged_with(start, {"pods": "1", "requests.memory": "512Mi", "cpu": "4"})
    assert charged["status"]["used"] == {"pods": "2", "requests.memory": "1Gi"}
    assert start["status"]["used"]["pods"] == "1"
    with pytest.raises(ValueError) as refused:
        charged_with(charged, {"pods": "1", "requests.memory": "1Mi"})
    assert str(refused.value) == (
        "exceeded quota: q, requested: pods=1,requests.memory=1Mi, used: pods=2,requests.memory=1Gi, "
        "limited: pods=2,requests.memory=1Gi"
    )
    assert charged_with(charged, {"configmaps": "1"}) is charged


SUMS = [("0", "1Gi", "1Gi"), ("512Mi", "512Mi", "1Gi"), ("500m", "1", "1500m"), ("1Gi", "1G", "2073741824"),
        ("1", "-1", "0"), ("900Mi", "1", "943718401")]  # fmt: skip


@pytest.mark.parametrize(("one", "other", "total"), SUMS)
def test_sums_keep_the_form(one: str, other: str, total: str) -> None:
    assert added(one, other) == total


DIFFERENCES = [
    ("2Gi", "1Gi", "1Gi"),
    ("1", "1500m", "-500m"),
    ("1", "-1", "2"),
    ("1", "+1", "0"),
    ("1Gi", "0", "1Gi"),
]


@pytest.mark.parametrize(("one", "other", "rest"), DIFFERENCES)
def test_differences_keep_the_form(one: str, other: str, rest: str) -> None:
    assert less(one, other) == rest


def claim(size: str) -> Obj:
    return {"spec": {"resources": {"requests": {"storage": size}}}}


@pytest.mark.parametrize(
    ("name", "subresource", "old", "new", "charged"),
    [
        ("persistentvolumeclaims", "", claim("1Gi"), claim("2Gi"), True),
        ("persistentvolumeclaims", "", claim("2Gi"), claim("1Gi"), False),
        ("persistentvolumeclaims", "status", claim("1Gi"), claim("2Gi"), False),
        ("services", "", {}, {"spec": {"type": "NodePort", "ports": [{}]}}, True),
        ("services", "", {"spec": {"ports": [{}]}}, {"spec": {"ports": [{}, {}]}}, False),
        ("pods", "", {"spec": {}}, {"spec": {"activeDeadlineSeconds": 1}}, True),
        ("pods", "", {"spec": {"activeDeadlineSeconds": 2}}, {"spec": {"activeDeadlineSeconds": 1}}, False),
        ("pods", "resize", pod({"cpu": "1"}), pod({"cpu": "2"}), True),
        ("pods", "", pod({"cpu": "1"}), pod({"cpu": "2"}), False),
        ("configmaps", "", {}, {"data": {"a": "b"}}, False),
    ],
)
def test_an_update_is_charged_if_it_uses_more(
    name: str, subresource: str, old: Obj, new: Obj, charged: bool
) -> None:
    assert is_charged(resource(name), subresource, old, new) is charged
