"""Fields whose gates are off in a Kubernetes 1.36, and what else it changes in new pods and their owners."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from ktui.writes.before_create import prepare, relabel, set_profiles
from ktui.writes.defaults import set_defaults
from ktui.writes.gated_fields import drop_gated, has_gated
from ktui.writes.validation.objects import changed_errors
from tests.unit.writes.test_kind_rules import kind

Obj = dict[str, Any]
C: Obj = {"name": "c", "image": "i"}
SIGNAL: Obj = {"containers": [{**C, "lifecycle": {"stopSignal": "SIGTERM"}}]}
GROUP: Obj = {"schedulingGroup": {"podGroupName": "g"}}
PATHS = {
    "Pod": (),
    "PodTemplate": ("template",),
    "Deployment": ("spec", "template"),
    "CronJob": ("spec", "jobTemplate", "spec", "template"),
}


def holder(of: str, spec: Obj) -> Obj:
    obj: Obj = {"spec": deepcopy(spec)}
    for name in reversed(PATHS[of]):
        obj = {name: obj}
    return {"kind": of, **obj}


def projected(*sources: Obj) -> Obj:
    return {"volumes": [{"name": "v", "projected": {"sources": list(sources)}}]}


def status(**members: Any) -> Obj:
    return {"kind": "Pod", "status": members}


@pytest.mark.parametrize("of", PATHS)
@pytest.mark.parametrize(
    ("sent", "left"),
    [
        (GROUP, {}),
        ({"schedulingGroup": {}}, {}),
        (SIGNAL, {"containers": [C]}),
        ({"containers": [{**C, "lifecycle": {}}]}, {"containers": [{**C, "lifecycle": {}}]}),
        (
            {"initContainers": [{"lifecycle": {"stopSignal": "", "preStop": {}}}, {}]},
            {"initContainers": [{"lifecycle": {"preStop": {}}}, {}]},
        ),
        (projected({"clusterTrustBundle": {"name": "n"}}, {"secret": {}}), projected({}, {"secret": {}})),
        (projected({"podCertificate": {"keyPath": "k"}}), projected({})),
    ],
)
def test_fields_of_gates_that_are_off_are_dropped(of: str, sent: Obj, left: Obj) -> None:
    obj = holder(of, sent)
    assert has_gated(obj) is (sent != left)
    drop_gated(obj)
    assert obj == holder(of, left)
    assert not has_gated(obj)


@pytest.mark.parametrize(
    ("old", "new", "left"),
    [
        (GROUP, {"schedulingGroup": {"podGroupName": "h"}}, {"schedulingGroup": {"podGroupName": "h"}}),
        (SIGNAL, {**SIGNAL, **GROUP}, SIGNAL),
        ({}, GROUP, {}),
    ],
)
def test_a_field_that_the_old_object_has_stays(old: Obj, new: Obj, left: Obj) -> None:
    obj = holder("Deployment", new)
    drop_gated(obj, holder("Deployment", old))
    assert obj == holder("Deployment", left)


def test_other_objects_have_no_such_fields() -> None:
    service: Obj = {"kind": "Service", "spec": GROUP}
    drop_gated(service)
    assert service["spec"] == GROUP and not has_gated(service)


ARMOR = "container.apparmor.security.beta.kubernetes.io/c"
LOCAL = {"type": "Localhost", "localhostProfile": "x"}
WARNED = f'metadata.annotations[{ARMOR}]: deprecated since v1.30; use the "appArmorProfile" field instead'


@pytest.mark.parametrize(
    ("profile", "spec", "found", "warnings"),
    [
        ("localhost/x", {}, LOCAL, [WARNED]),
        ("runtime/default", {}, {"type": "RuntimeDefault"}, [WARNED]),
        ("localhost/", {}, None, [WARNED]),
        ("", {}, None, [WARNED]),
        ("localhost/x", {"securityContext": {"appArmorProfile": LOCAL}}, None, []),
        ("localhost/x", {"os": {"name": "windows"}}, None, []),
    ],
)
def test_a_profile_in_an_annotation(profile: str, spec: Obj, found: Obj | None, warnings: list[str]) -> None:
    pod: Obj = {"metadata": {"annotations": {ARMOR: profile}}, "spec": {"containers": [{**C}], **spec}}
    assert set_profiles(pod) == warnings
    context = pod["spec"]["containers"][0].get("securityContext") or {}
    assert context.get("appArmorProfile") == found


@pytest.mark.parametrize(("minor", "merged"), [(30, 0), (33, 1), (36, 2)])
def test_a_pods_own_labels_are_put_into_its_selectors(minor: int, merged: int) -> None:
    term: Obj = {"labelSelector": {}, "matchLabelKeys": ["a", "none"], "mismatchLabelKeys": ["c"]}
    constraint: Obj = {"labelSelector": {"matchExpressions": [{"key": "x"}]}, "matchLabelKeys": ["c"]}
    spec = {
        "affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}},
        "topologySpreadConstraints": [constraint, {"matchLabelKeys": ["a"]}],
    }
    prepare({"kind": "Pod", "metadata": {"labels": {"a": "b", "c": "d"}}, "spec": spec}, minor)
    of_term = [
        {"key": "a", "operator": "In", "values": ["b"]},
        {"key": "c", "operator": "NotIn", "values": ["d"]},
    ]
    of_constraint = [{"key": "c", "operator": "In", "values": ["d"]}]
    assert term["labelSelector"] == ({"matchExpressions": of_term} if merged else {})
    assert constraint["labelSelector"]["matchExpressions"][1:] == (of_constraint if merged > 1 else [])
    assert "labelSelector" not in spec["topologySpreadConstraints"][1]


@pytest.mark.parametrize(
    ("own", "containers", "found"),
    [
        (
            {"limits": {"cpu": "2", "memory": "1Gi"}},
            [{"requests": {"cpu": "500m"}}],
            {"limits": {"cpu": "2", "memory": "1Gi"}, "requests": {"cpu": "500m", "memory": "1Gi"}},
        ),
        (
            {"requests": {"cpu": "2"}},
            [{"limits": {"cpu": "1", "hugepages-2Mi": "2Mi"}}],
            {
                "limits": {"hugepages-2Mi": "2Mi"},
                "requests": {"cpu": "2", "hugepages-2Mi": "2Mi"},
            },
        ),
        ({"requests": {"cpu": "2"}}, [{}], {"requests": {"cpu": "2"}}),
        ({}, [{"limits": {"cpu": 1}}], {}),
    ],
)
def test_a_pod_requests_what_its_containers_request(own: Obj, containers: list[Obj], found: Obj) -> None:
    spec = {"resources": own, "containers": [{**C, "resources": each} for each in containers]}
    pod: Obj = {"kind": "Pod", "spec": spec}
    set_defaults(pod)
    assert pod["spec"]["resources"] == found


@pytest.mark.parametrize(
    ("sent", "more", "known"),
    [({}, {}, True), ({"labels": {"a": "b"}}, {}, False), ({}, {"manualSelector": True}, False)],
)
def test_a_job_without_labels_has_all_of_its_template(sent: Obj, more: Obj, known: bool) -> None:
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [C]}}
    job: Obj = {"kind": "Job", "metadata": {"name": "n", "uid": "u", **sent}, "spec": {"template": template}}
    job["spec"] |= more
    set_defaults(job)
    relabel(job, {"metadata": sent})
    prepare(job, 36)
    assert ("controller-uid" in job["metadata"]["labels"]) is known
    assert job["metadata"]["labels"]["a"] == "b"


def test_an_object_may_keep_what_a_newer_rule_refuses() -> None:
    resizing = [{"resourceName": "cpu", "restartPolicy": "RestartContainer"}]
    spec = {"containers": [C], "initContainers": [{**C, "name": "i", "resizePolicy": resizing}]}
    old: Obj = {"kind": "PodTemplate", "template": {"spec": spec}}
    set_defaults(old)
    new = deepcopy(old)
    new["template"]["spec"]["hostname"] = "n"
    assert changed_errors(old, new, kind("podtemplates")) == []
    del old["template"]["spec"]["initContainers"]
    assert len(changed_errors(old, new, kind("podtemplates"))) == 1


@pytest.mark.parametrize(
    ("kind", "spec", "left"),
    [
        (
            "CSIDriver",
            {"preventPodSchedulingIfMissing": False, "podInfoOnMount": True},
            {"podInfoOnMount": True},
        ),
        (
            "StatefulSet",
            {"updateStrategy": {"rollingUpdate": {"maxUnavailable": 1, "partition": 0}}},
            {"updateStrategy": {"rollingUpdate": {"partition": 0}}},
        ),
        ("Lease", {"strategy": "a", "holderIdentity": "b"}, {"holderIdentity": "b"}),
    ],
)
def test_fields_of_other_kinds(kind: str, spec: Obj, left: Obj) -> None:
    old: Obj = {"kind": kind, "spec": deepcopy(spec)}
    new: Obj = {"kind": kind, "spec": deepcopy(spec)}
    assert has_gated(new)
    drop_gated(new, old)
    assert new == old
    drop_gated(new)
    assert new["spec"] == left and not has_gated(new)
