# ruff: noqa: E501
"""Warnings for pods and templates: what upstream stores, and then names as doubtful."""

from __future__ import annotations

from typing import Any

import pytest

from ktui.writes.validation.objects import MOST_WARNINGS, object_warnings
from ktui.writes.validation.pod_warnings import pod_warnings

Obj = dict[str, Any]

IMAGE = {"name": "a", "image": "b"}


def pod(**spec: Any) -> dict[str, Any]:
    return {"kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": [IMAGE], **spec}}


def container(**members: Any) -> dict[str, Any]:
    return pod(containers=[{**IMAGE, **members}])


def files(*paths: str) -> list[dict[str, str]]:
    return [{"key": "k", "path": path} for path in paths]


ANTI = {
    "preferredDuringSchedulingIgnoredDuringExecution": [
        {"weight": 1, "podAffinityTerm": {"topologyKey": "z"}}
    ]
}
NULL = "a null labelSelector results in matching no pod"


@pytest.mark.parametrize(
    ("obj", "expected"),
    [
        (pod(), []),
        (pod(nodeSelector={"beta.kubernetes.io/os": "linux"}), [
            'spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead']),
        (pod(topologySpreadConstraints=[{"topologyKey": "failure-domain.beta.kubernetes.io/zone"}]), [
            "spec.topologySpreadConstraints[0].topologyKey: failure-domain.beta.kubernetes.io/zone is deprecated "
            'since v1.17; use "topology.kubernetes.io/zone" instead',
            f"spec.topologySpreadConstraints[0].labelSelector: {NULL}"]),
        (pod(affinity={"podAntiAffinity": ANTI}), [
            "spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].podAffinityTerm."
            f"labelSelector: {NULL}"]),
        (pod(volumes=[{"name": "g", "gitRepo": {"repository": "x"}}]), [
            "spec.volumes[0].gitRepo: deprecated in v1.11, and disabled by default in v1.33+"]),
        (pod(volumes=[{"name": "d", "downwardAPI": {"items": files("l", "l")}}]), [
            'volume "d" (DownwardAPI): overlapping paths: "l" with "l"']),
        (pod(volumes=[{"name": "c", "configMap": {"name": "m", "items": files("a/b", "a", "c")}}]), [
            'volume "c" (ConfigMap "m"): overlapping paths: "a" with "a/b"']),
        (pod(volumes=[{"name": "p", "projected": {"sources": [
            {"secret": {"name": "s", "items": files("t")}}, {"serviceAccountToken": {"path": "t/"}}, {}]}}]), [
            'volume "p" (Projected) has no sources provided',
            'volume "p" (Projected): overlapping paths: "t" (ServiceAccountToken) with "t" (Secret "s")']),
        (container(ports=[{"containerPort": 80, "hostIP": "192.0.2.1"}]), [
            "spec.containers[0].ports[0]: hostIP set without hostPort: "
            "{Name: HostPort:0 ContainerPort:80 Protocol:TCP HostIP:192.0.2.1}"]),
        ({**pod(), "metadata": {"name": "p", "annotations": {
            "seccomp.security.alpha.kubernetes.io/pod": "unconfined",
            "container.seccomp.security.alpha.kubernetes.io/a": "localhost/x",
            "container.apparmor.security.beta.kubernetes.io/a": "unconfined"}}}, [
            "metadata.annotations[seccomp.security.alpha.kubernetes.io/pod]: "
            'non-functional in v1.27+; use the "seccompProfile" field instead',
            "metadata.annotations[container.seccomp.security.alpha.kubernetes.io/a]: "
            'non-functional in v1.27+; use the "seccompProfile" field instead']),
        ({"kind": "PodTemplate", "metadata": {"name": "p"}, "template": {"spec": {"containers": [IMAGE]}, "metadata": {
            "annotations": {"container.apparmor.security.beta.kubernetes.io/a": "unconfined"}}}}, [
            "template.metadata.annotations[container.apparmor.security.beta.kubernetes.io/a]: "
            'deprecated since v1.30; use the "appArmorProfile" field instead']),
        (pod(hostAliases=[{"ip": "1.1.1.1"}, {"ip": "1.1.1.1"}], imagePullSecrets=[{}]), [
            'spec.hostAliases[1].ip: duplicate ip "1.1.1.1"',
            'spec.imagePullSecrets[0].name: invalid empty name ""']),
        (container(resources={"requests": {"memory": "1500m", "cpu": "1500m"}}), [
            'spec.containers[0].resources.requests[memory]: fractional byte value "1500m" is invalid, must be an '
            "integer"]),
        (container(env=[{"name": "A", "value": "1"}, {"name": "A", "value": "2"}, {"name": "A", "value": "$(A)3"}]), [
            'spec.containers[0].env[1]: hides previous definition of "A", which may be dropped when using apply']),
        (container(ports=[{"containerPort": 80}, {"containerPort": 80}, {"containerPort": 80, "hostPort": 1}]), [
            "spec.containers[0].ports[1]: duplicate port definition with spec.containers[0].ports[0]",
            "spec.containers[0].ports[2]: overlapping port definition with spec.containers[0].ports[0]",
            "spec.containers[0].ports[2]: overlapping port definition with spec.containers[0].ports[1]"]),
        (pod(initContainers=[{"ports": [{"name": "w", "containerPort": 1}]}],
             containers=[{"ports": [{"name": "w", "containerPort": 2}]}]), [
            'spec.containers[0].ports[0]: duplicate port name "w" with spec.initContainers[0].ports[0], services '
            "and probes that select ports by name will use spec.initContainers[0].ports[0]"]),
        (pod(terminationGracePeriodSeconds=-1), [
            "spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1"]),
        (pod(dnsConfig={"nameservers": ["010.0.0.1", "FD00::1"]}), [
            'spec.dnsConfig.nameservers[0]: non-standard IP address "010.0.0.1" will be considered invalid in a '
            'future Kubernetes release: use "10.0.0.1"',
            'spec.dnsConfig.nameservers[1]: IPv6 address "FD00::1" should be in RFC 5952 canonical format '
            '("fd00::1")']),
    ],
)  # fmt: skip
def test_pods(obj: dict[str, Any], expected: list[str]) -> None:
    assert list(pod_warnings(obj, None)) == expected


def test_templates_warn_when_their_workload_changes() -> None:
    spec = {"terminationGracePeriodSeconds": -1}
    deployment = {"kind": "Deployment", "metadata": {"name": "d"}, "spec": {"template": {"spec": spec}}}
    cron_job = {
        "kind": "CronJob",
        "metadata": {"name": "c"},
        "spec": {"jobTemplate": {"spec": deployment["spec"]}},
    }
    (warning,) = pod_warnings(deployment, None)
    assert warning.startswith("spec.template.spec.terminationGracePeriodSeconds: ")
    (warning,) = pod_warnings(cron_job, None)
    assert warning.startswith("spec.jobTemplate.spec.template.spec.terminationGracePeriodSeconds: ")
    assert len(list(pod_warnings(deployment, {**deployment, "spec": {"replicas": 1}}))) == 1
    assert list(pod_warnings(deployment, deployment)) == []
    assert list(pod_warnings(pod(**spec), pod())) == []  # pods change too often


def test_a_name_that_is_no_label() -> None:
    obj = pod()
    obj["metadata"]["name"] = "a.b"
    (warning,) = pod_warnings(obj, None)
    assert warning == (
        "metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; "
        "a DNS label is recommended: [must not contain dots]"
    )
    assert list(pod_warnings(obj, obj)) == []


def test_an_object_has_a_bounded_number_of_warnings() -> None:
    many = container(ports=[{"containerPort": 80}] * 20_000, env=[{"name": "A"}] * 20_000)
    many["spec"]["volumes"] = [{"name": "c", "configMap": {"name": "m", "items": files(*["a"] * 5_000)}}]
    assert len(object_warnings("pods", many)) == MOST_WARNINGS


def test_a_changed_template_warns_where_its_generation_counts() -> None:
    bad, good = ({"spec": {"imagePullSecrets": secrets}} for secrets in ([{}], []))

    def warned(kind: str, old: Obj, new: Obj) -> int:
        return len([*pod_warnings({"kind": kind, **new}, {"kind": kind, **old})])

    assert warned("Deployment", {"spec": {"template": good}}, {"spec": {"template": bad}}) == 1
    assert warned("PodTemplate", {"template": good}, {"template": bad}) == 1
    assert warned("PodTemplate", {"template": bad}, {"template": bad}) == 0
    # Upstream looks at a ReplicationController's old template, and at a DaemonSet only if its template changes.
    assert warned("ReplicationController", {"spec": {"template": good}}, {"spec": {"template": bad}}) == 0
    assert warned("ReplicationController", {"spec": {"template": bad}}, {"spec": {"template": good}}) == 1
    same = {"template": bad}
    assert warned("DaemonSet", {"spec": same}, {"spec": {**same, "minReadySeconds": 1}}) == 0
