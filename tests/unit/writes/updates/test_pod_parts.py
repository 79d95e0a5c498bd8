"""Resized and debugged pods as a kube-apiserver 1.36 answers: what may change, and what it keeps."""

from __future__ import annotations

from typing import Any

import pytest

from ktui.kube.json_trees import Obj
from ktui.kube.resources import builtin
from ktui.kube.status import StatusError
from ktui.writes.admission.resizes import check_resize
from ktui.writes.before_update import UpdateContext, updated
from ktui.writes.validation.updates.pod_parts import debugging_errors, resize_errors

SMALL, LARGE = {"requests": {"cpu": "100m"}}, {"requests": {"cpu": "1"}}
ONLY = "only cpu and memory resources"


def container(name: str = "c", resources: Obj | None = None, **more: Any) -> Obj:
    return {"name": name, "image": "i", "resources": resources or {}, **more}


def pod(*containers: Obj, status: Obj | None = None, annotations: Obj | None = None, **spec: Any) -> Obj:
    metadata: Obj = {"name": "p", "namespace": "n", "uid": "u", "annotations": annotations or {}}
    spec = {"containers": [*(containers or [container(resources=SMALL)])], **spec}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": status or {}}


def sidecar(resources: Obj, **more: Any) -> Obj:
    return pod(container(resources=SMALL), initContainers=[container("i", resources, **more)])


RUNNING = {"name": "c", "state": {"running": {}}}
POLICY = {"resizePolicy": [{"resourceName": "cpu", "restartPolicy": "RestartContainer"}]}

# (old pod, new pod, the errors)
RESIZES: list[tuple[Obj, Obj, list[str]]] = [
    (pod(), pod(container(resources=LARGE)), []),
    (pod(), pod(container(resources={"requests": {"cpu": "0.1"}, "limits": {"memory": "1Gi"}})), []),
    (
        pod(status={"qosClass": "Burstable"}), pod(container(), status={"qosClass": "Burstable"}),
        [
            'spec: Invalid value: "Burstable": Pod QOS Class may not change as a result of resizing',
            "spec.containers[0].resources.requests: Forbidden: resource requests cannot be removed",
        ],
    ),
    (
        pod(), pod(container(resources={"requests": {"cpu": "1", "ephemeral-storage": "1"}})),
        [f"spec: Forbidden: {ONLY} are mutable"],
    ),
    (
        pod(), pod(container(resources=LARGE, **POLICY)), [f"spec: Forbidden: {ONLY} are mutable"],
    ),
    (
        pod(container(resources={**SMALL, "claims": [{"name": "a"}]})), pod(container(resources=LARGE)),
        [f"spec: Forbidden: {ONLY} are mutable"],
    ),
    (
        pod(status={"containerStatuses": [RUNNING]}), pod(container(resources=LARGE)),
        ["spec: Forbidden: Pod running on node without support for resize"],
    ),
    (pod(status={"containerStatuses": [{**RUNNING, "resources": {}}]}), pod(container(resources=LARGE)), []),
    (
        pod(annotations={"kubernetes.io/config.mirror": "a"}), pod(container()),
        ["[]: Forbidden: static pods cannot be resized"],
    ),
    (pod(os={"name": "windows"}), pod(), ["[]: Forbidden: windows pods cannot be resized"]),
    (
        pod(status={"nodeAllocatableResourceClaimStatuses": [{}]}), pod(container(resources=LARGE)),
        ["spec: Forbidden: pods with node allocatable resource claims cannot be resized"],
    ),
    (
        pod(), pod(container(resources=SMALL), container("d")),
        ["spec.containers: Forbidden: containers may not be added or removed on resize"],
    ),
    (
        pod(), pod(container("d", SMALL)),
        ["spec.containers[0].name: Forbidden: containers may not be renamed or reordered on resize"],
    ),
    (sidecar(SMALL, restartPolicy="Always"), sidecar(LARGE, restartPolicy="Always"), []),
    (
        sidecar(SMALL, **POLICY), sidecar(LARGE, **POLICY),
        ["spec.initContainers[0]: Forbidden: non-sidecar init containers with a resize policy of "
         "RestartContainer cannot be resized"],
    ),
    (
        sidecar(SMALL), sidecar({"requests": {"cpu": "1", "ephemeral-storage": "1"}}),
        [f"spec.initContainers[0]: Forbidden: {ONLY} for init or sidecar containers are mutable"],
    ),
    (pod(resources=SMALL), pod(resources=LARGE), []),
    (pod(resources=SMALL), pod(), ["spec.resources: Forbidden: pod-level resources cannot be removed"]),
    (
        pod(resources=SMALL), pod(resources={"requests": {"memory": "1"}}),
        ["spec.resources.requests: Forbidden: pod-level resource requests cannot be removed"],
    ),
    (
        pod(), pod(resources={"requests": {"cpu": "1", "hugepages-2Mi": "2Mi"}}),
        [f"spec: Forbidden: {ONLY} are mutable at pod-level"],
    ),
    (pod(container()), pod(container(), resources={}), [f"spec: Forbidden: {ONLY} are mutable"]),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "errors"), RESIZES)
def test_the_errors_of_a_resize(old: Obj, new: Obj, errors: list[str]) -> None:
    assert [str(error) for error in resize_errors(old, new, [])] == errors


def test_containers_for_debugging_stay_as_they_are() -> None:
    debugged = pod(ephemeralContainers=[container("d"), container("e")])
    assert not debugging_errors(debugged, pod(ephemeralContainers=[container("e"), container("d")]), [])
    changed = pod(ephemeralContainers=[container("d", image="j")])
    one, other = map(str, debugging_errors(debugged, changed, []))
    where = "spec.ephemeralContainers: Forbidden: existing ephemeral containers"
    assert one.startswith(f'{where} "d" may not be changed\n@@ ') and '\n+ "Image": "j",\n' in one
    assert other == f'{where} "e" may not be removed\n'
    (static,) = debugging_errors(pod(annotations={"kubernetes.io/config.mirror": "a"}), changed, [])
    assert str(static) == "[]: Forbidden: static pods do not support ephemeral containers"


def stored(**spec: Any) -> Obj:
    found = pod(**{"restartPolicy": "Always", "dnsPolicy": "Default", **spec})
    for each in found["spec"]["containers"]:
        each |= {"imagePullPolicy": "Always", "terminationMessagePolicy": "File"}
    entry = {"operation": "Update", "apiVersion": "v1", "manager": "a", "fieldsV1": {"f:spec": {}}}
    found["metadata"]["managedFields"] = [entry]
    return found


def test_a_resize_changes_nothing_else_and_owns_what_was_sent() -> None:
    context = UpdateContext(builtin("", "pods"), "n", "p", "resize", "m", whole=True)
    sent = stored(activeDeadlineSeconds=5)
    sent["metadata"] |= {"labels": {"a": "b"}, "deletionTimestamp": "2026-11-29T00:00:00Z"}
    sent["spec"]["containers"][0] |= {"image": "other", "resources": LARGE}
    sent["status"] = {"phase": "Failed"}
    new = updated(stored(), sent, context)
    assert new["spec"]["containers"][0]["image"] == "i" and not new["status"]
    assert new["spec"]["containers"][0]["resources"] == LARGE
    assert "activeDeadlineSeconds" not in new["spec"]
    assert not new["metadata"].keys() & {"labels", "deletionTimestamp"}
    (owned,) = (each for each in new["metadata"]["managedFields"] if each["manager"] == "m")
    assert owned["subresource"] == "resize" and owned["fieldsV1"]["f:spec"]["f:activeDeadlineSeconds"] == {}


@pytest.mark.parametrize(
    ("node", "why", "reason"),
    [
        (None, 'node "a" not found', None),
        ({"allocatable": {"cpu": "500m"}}, "node didn't have enough allocatable resources: cpu, requested: "
         "1000, allocatable: 500", "NodeCapacity"),
        ({"allocatable": {"cpu": "1"}}, "", None),
    ],
)  # fmt: skip
def test_a_node_has_room_for_a_resize(node: Obj | None, why: str, reason: str | None) -> None:
    found = None if node is None else {"metadata": {}, "status": node}
    assert refusal(pod(container(resources=LARGE)), found) == (why, reason)


def test_a_node_supports_a_resize() -> None:
    room = {"allocatable": {"cpu": "4"}}
    windows = {"metadata": {"labels": {"kubernetes.io/os": "windows"}}, "status": room}
    why = 'pod resize is only supported on linux nodes, node "a" is "windows"'
    assert refusal(pod(container(resources=LARGE)), windows) == (why, "UnsupportedPlatform")
    linux = {"metadata": {}, "status": room}
    feature = "InPlacePodLevelResourcesVerticalScaling"
    why = f'pod update requires features {feature} which are not available on node "a"'
    assert refusal(pod(resources=LARGE), linux) == (why, None)
    declared = {"metadata": {}, "status": {**room, "declaredFeatures": [feature]}}
    assert refusal(pod(resources=LARGE), declared) == ("", None)


def refusal(new: Obj, node: Obj | None) -> tuple[str, str | None]:
    old = pod()
    new["metadata"]["generation"] = 2
    try:
        check_resize(old, new, "a", node)
    except StatusError as error:
        causes = (error.details or {}).get("causes") or [{}]
        return error.message.removeprefix('pods "p" is forbidden: '), causes[0].get("reason")
    return "", None
