"""Statuses as a kube-apiserver 1.36 answers them: each row is what a real one said.

But for three objects of older releases, which keep what 1.36 refuses to others.
"""

from __future__ import annotations

from typing import Any

import pytest

from ktui.kube.json_trees import Obj
from ktui.writes.subresource_parts import settle_status
from ktui.writes.validation.statuses.kinds import status_errors, status_warnings

JOBS, CLAIMS, POLICIES = (
    "jobs.batch",
    "resourceclaims.resource.k8s.io",
    "validatingadmissionpolicies.admissionregistration.k8s.io",
)
ATTACHMENTS, INGRESSES = "volumeattachments.storage.k8s.io", "ingresses.networking.k8s.io"
COMPLETE, FAILED, MET, TARGET = (
    {"type": kind, "status": "True"} for kind in ("Complete", "Failed", "SuccessCriteriaMet", "FailureTarget")
)
TIMES = {"startTime": "2026-11-29T00:00:00Z", "completionTime": "2026-11-29T00:00:01Z"}
STARTED = {"startTime": TIMES["startTime"]}
NO_IP = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
ONE_EACH = "may specify no more than one IP for each IP family"
NATURAL, GENERATION = "must be greater than or equal to 0", "must be a non-negative integer"
RUNS = {"name": "c", "state": {"running": {}}}
ENDED = {"name": "c", "state": {"terminated": {"exitCode": 1}}}
NOT_AGAIN = "state: Forbidden: may not be transitioned to non-terminated state"
C = "status.containerStatuses[0]"
RESULT = {"request": "r", "driver": "a", "pool": "p", "device": "d"}
CLAIM_SPEC: Obj = {"devices": {"requests": [{"name": "r"}, {"name": "f", "firstAvailable": [{"name": "s"}]}]}}
UID = "01234567-0123-0123-0123-0123456789ab"


def container(**more: Any) -> Obj:
    return {"containerStatuses": [{"name": "c", **more}]}


def pod_of(policy: str, **of_container: Any) -> Obj:
    return {"restartPolicy": policy, "containers": [{"name": "c", **of_container}]}


def balancer(**point: Any) -> Obj:
    return {"loadBalancer": {"ingress": [point]}}


def allocated(**more: Any) -> Obj:
    return {"allocation": {"devices": {"results": [{**RESULT, **more}]}}}


# (resource, spec, old status, new status, the errors)
ROWS: list[tuple[str, Obj, Obj, Obj, list[str]]] = [
    ("pods", {}, {}, {"podIPs": [{"ip": "x"}]}, [f'status.podIPs[0]: Invalid value: "x": {NO_IP}']),
    ("pods", {}, {"podIPs": [{"ip": "x"}]}, {"podIPs": [{"ip": "x"}]}, []),
    ("pods", {}, {}, {"podIPs": [{"ip": "1.2.3.4"}, {"ip": "::01"}]}, []),
    (
        "pods", {}, {}, {"podIPs": [{"ip": "1.2.3.4"}, {"ip": "1.2.3.5"}]},
        [f'status.podIPs: Invalid value: [{{"IP":"1.2.3.4"}},{{"IP":"1.2.3.5"}}]: {ONE_EACH}'],
    ),
    (
        "pods", {}, {}, {"hostIPs": [{"ip": "1.2.3.4"}, {"ip": "x"}]},
        [
            'status.hostIPs[0].ip: Invalid value: "1.2.3.4": must be equal to `hostIP`',
            f'status.hostIPs[1]: Invalid value: "x": {NO_IP}',
            "status.hostIPs: Internal error: failed to check for dual stack with error:invalid IP[1]: x",
            f'status.hostIPs: Invalid value: [{{"IP":"1.2.3.4"}},{{"IP":"x"}}]: {ONE_EACH}',
        ],
    ),
    (
        "pods", {}, {}, {"observedGeneration": -1, "conditions": [{"type": "A", "observedGeneration": -2}]},
        [
            f"status.conditions[0].observedGeneration: Invalid value: -2: {GENERATION}",
            f"status.observedGeneration: Invalid value: -1: {GENERATION}",
        ],
    ),
    ("pods", {}, {"qosClass": "Burstable"}, {"qosClass": "x"},
     ['status.qosClass: Invalid value: "x": field is immutable']),
    ("pods", {"nodeName": "n"}, {}, {"nominatedNodeName": "m"},
     ["status.nominatedNodeName: Forbidden: may not be set on pods that are already bound to a node"]),
    ("pods", {"nodeName": "n"}, {"nominatedNodeName": "m"}, {"nominatedNodeName": "m"}, []),
    (
        "pods", {"resourceClaims": [{"name": "a"}]}, {},
        {"resourceClaimStatuses": [{"name": "a"}, {"name": "a"}, {"name": "b"}]},
        [
            'status.resourceClaimStatuses[1].name: Duplicate value: "a"',
            'status.resourceClaimStatuses[2].name: Invalid value: "b": must match the name of an entry in '
            "`spec.resourceClaims`",
        ],
    ),
    (
        "pods", pod_of("Never", resources={"requests": {"x/y": "1"}}), {},
        {"extendedResourceClaimStatus": {"requestMappings": [
            {"containerName": "c", "resourceName": "x/y", "requestName": "r"},
            {"containerName": "d", "resourceName": "x/y", "requestName": "r"},
        ]}},
        [
            'status.extendedResourceClaimStatus.requestMappings[1].containerName: Invalid value: "d": must '
            "match the name of an entry in spec.initContainers.name or spec.containers.name",
            "status.extendedResourceClaimStatus.resourceClaimName: Required value",
        ],
    ),
    ("pods", pod_of("Never"), {"containerStatuses": [ENDED]}, {"containerStatuses": [RUNS]},
     [f"{C}.{NOT_AGAIN}"]),
    ("pods", pod_of("OnFailure"), {"containerStatuses": [ENDED]}, {"containerStatuses": [RUNS]}, []),
    ("pods", pod_of("Never", restartPolicy="Always"), {"containerStatuses": [ENDED]},
     {"containerStatuses": [RUNS]}, []),
    ("pods", pod_of("Never", restartPolicyRules=[{"action": "RestartAllContainers"}]),
     {"containerStatuses": [ENDED]}, {"containerStatuses": [RUNS]}, []),
    (
        "pods",
        pod_of("Always", restartPolicy="Never", restartPolicyRules=[
            {"action": "Restart", "exitCodes": {"operator": "In", "values": [1]}},
        ]),
        {"containerStatuses": [ENDED]}, {"containerStatuses": [RUNS]}, [],
    ),
    ("pods", pod_of("Always"), {"ephemeralContainerStatuses": [ENDED]},
     {"ephemeralContainerStatuses": [RUNS]}, [f"status.ephemeralContainerStatuses[0].{NOT_AGAIN}"]),
    ("pods", pod_of("Never"), {"containerStatuses": [ENDED]}, {"containerStatuses": []}, []),
    ("pods", {}, {}, container(user={"linux": {"uid": -1, "gid": 0}}),
     [f"{C}.user.linux.uid: Invalid value: -1: must be between 0 and 2147483647, inclusive"]),
    ("pods", {"os": {"name": "windows"}}, {}, container(user={"linux": {"uid": 1}}),
     [f"{C}.user.linux: Forbidden: cannot be set for a windows pod"]),
    (
        "pods", pod_of("Always", resources={"requests": {"cpu": "1"}, "claims": [{"name": "a"}]}), {},
        container(allocatedResourcesStatus=[
            {"name": "claim:a"}, {"name": "x"},
            {"name": "cpu", "resources": [{"resourceID": "a", "health": "Healthy", "message": ""},
                                          {"resourceID": "a", "health": "q"}]},
        ]),
        [
            f'{C}.allocatedResourcesStatus[1].name: Invalid value: "x": must match one of the container\'s '
            "resource requests",
            f"{C}.allocatedResourcesStatus[2].resources[0].message: Required value: must be non-empty if "
            "specified",
            f'{C}.allocatedResourcesStatus[2].resources[1].health: Unsupported value: "q": supported values: '
            '"Healthy", "Unhealthy", "Unknown"',
            f'{C}.allocatedResourcesStatus[2].resources[1].resourceID: Duplicate value: "a"',
        ],
    ),
    (
        "nodes", {}, {}, {"capacity": {"pods": "-500m"}, "allocatable": {"cpu": "1"}},
        [
            f'status.capacity.pods: Invalid value: "-500m": {NATURAL}',
            'status.capacity.pods: Invalid value: "-500m": must be an integer',
        ],
    ),
    ("nodes", {}, {}, {"capacity": {"A/b": "1m", "cpu": "100m"}}, []),
    ("nodes", {}, {}, {"addresses": [{"type": "a", "address": "b"}] * 2},
     ['status.addresses[1]: Duplicate value: {"Type":"a","Address":"b"}']),
    ("nodes", {}, {}, {"declaredFeatures": ["A", "A/b", "A/b"]},
     ['status.declaredFeatures[2]: Duplicate value: "A/b"']),
    ("nodes", {}, {}, {"declaredFeatures": ["B", "A"]},
     ['status.declaredFeatures[1]: Invalid value: "A": list must be sorted alphabetically']),
    ("persistentvolumeclaims", {}, {}, {"capacity": {"storage": "-100m"}},
     ["status.capacity[storage]: Invalid value: -1: must be a valid resource quantity"]),
    (
        "persistentvolumeclaims", {}, {}, {"allocatedResourceStatuses": {"cpu": "NodeResizePending"}},
        ['status.allocatedResourceStatuses: Unsupported value: "cpu": supported values: "storage"'],
    ),
    ("persistentvolumeclaims", {}, {}, {"allocatedResources": {"x.y/z": "100m"}}, []),
    ("persistentvolumeclaims", {}, {}, {"allocatedResources": {"storage": "-1"}},
     ["status.allocatedResources[storage]: Invalid value: -1: must be a valid resource quantity"]),
    ("resourcequotas", {}, {}, {"hard": {"x.y/z": "100m"}},
     ['status.hard[x.y/z]: Invalid value: "100m": must be an integer']),
    ("resourcequotas", {}, {}, {"used": {"storage": "1"}},
     ['status.used[storage]: Invalid value: "storage": must be a standard resource for quota']),
    (
        "deployments.apps", {}, {"collisionCount": 2}, {"unavailableReplicas": -1, "availableReplicas": 1},
        [
            f"status.unavailableReplicas: Invalid value: -1: {NATURAL}",
            "status.availableReplicas: Invalid value: 1: cannot be greater than status.replicas",
            "status.availableReplicas: Invalid value: 1: cannot be greater than readyReplicas",
            "status.collisionCount: Invalid value: 0: cannot be decremented",
        ],
    ),
    ("statefulsets.apps", {}, {}, {"replicas": 1, "availableReplicas": 1},
     ["status.availableReplicas: Invalid value: 1: cannot be greater than status.readyReplicas"]),
    ("daemonsets.apps", {}, {"collisionCount": 2}, {"collisionCount": 1},
     ["status.collisionCount: Invalid value: 1: cannot be decremented"]),
    ("replicasets.apps", {}, {}, {"replicas": 1, "terminatingReplicas": -1},
     [f"status.terminatingReplicas: Invalid value: -1: {NATURAL}"]),
    (JOBS, {}, {}, {**TIMES, "conditions": [MET, COMPLETE]}, []),
    (JOBS, {}, {"failed": 2, "succeeded": 1}, {},
     ["status.failed: Invalid value: 0: cannot decrease the failed counter",
      "status.succeeded: Invalid value: 0: cannot decrease the succeeded counter"]),
    (JOBS, {"completionMode": "Indexed", "completions": 2, "parallelism": 2}, {"succeeded": 1}, {}, []),
    (JOBS, {}, {}, {"completionTime": TIMES["completionTime"]},
     ['status.completionTime: Invalid value: "2026-11-29T00:00:01Z": cannot set completionTime when there is '
      "no Complete=True condition"]),
    (JOBS, {}, STARTED, {},
     ["status.startTime: Invalid value: null: field is immutable for unsuspended job once set"]),
    (JOBS, {"suspend": True}, STARTED, {}, []),
    (JOBS, {}, {**STARTED, "conditions": [TARGET, FAILED]}, {**STARTED, "conditions": [TARGET]},
     ["status.conditions: Invalid value: cannot disable the terminal Failed=True condition"]),
    (JOBS, {}, {}, {"conditions": [MET, TARGET]},
     ["status.conditions: Invalid value: cannot set SuccessCriteriaMet=True and FailureTarget=true "
      "conditions"]),
    (JOBS, {}, {}, {"ready": 2, "active": 1},
     ["status.ready: Invalid value: 2: cannot set more ready pods than active"]),
    (
        JOBS, {}, {}, {"uncountedTerminatedPods": {"succeeded": ["a"], "failed": ["a", ""]}},
        [
            'status.uncountedTerminatedPods.failed[0]: Duplicate value: "a"',
            'status.uncountedTerminatedPods.failed[1]: Invalid value: "": must not be empty',
        ],
    ),
    (
        JOBS, {"completions": 5, "completionMode": "Indexed"}, {}, {"completedIndexes": "1,1"},
        ['status.completedIndexes: Invalid value: "1,1": error parsing completedIndexes: non-increasing '
         "order, previous: 1, current: 1"],
    ),
    (JOBS, {}, {}, {"failedIndexes": "1"},
     ['status.failedIndexes: Invalid value: "1": cannot set non-null failedIndexes when backoffLimitPerIndex '
      "is null"]),
    (
        JOBS, {"completions": 5, "completionMode": "Indexed", "backoffLimitPerIndex": 1}, {},
        {"failedIndexes": "0,2-3", "completedIndexes": "1,3-4"},
        ['status.failedIndexes: Invalid value: "0,2-3": failedIndexes and completedIndexes overlap at index: '
         "3"],
    ),
    ("services", {"type": "LoadBalancer"}, {}, balancer(ip="10.1.2.3", ipMode="x"),
     ['status.loadBalancer.ingress[0].ipMode: Unsupported value: "x": supported values: "Proxy", "VIP"']),
    (
        "services", {"type": "LoadBalancer"}, {}, balancer(ip="x", ipMode="VIP", hostname="10.1.2.3"),
        [
            f'status.loadBalancer.ingress[0].ip: Invalid value: "x": {NO_IP}',
            'status.loadBalancer.ingress[0].hostname: Invalid value: "10.1.2.3": must be a DNS name, not an '
            "IP address",
        ],
    ),
    ("services", {"type": "LoadBalancer"}, {}, balancer(ipMode="VIP"),
     ["status.loadBalancer.ingress[0].ipMode: Forbidden: may not be specified when `ip` is not set"]),
    ("services", {"type": "ClusterIP"}, {}, balancer(ip="192.0.2.1"),
     ["status.loadBalancer.ingress: Forbidden: may only be used when `spec.type` is 'LoadBalancer'"]),
    (INGRESSES, {}, balancer(ip="x"), balancer(ip="x"), []),
    (INGRESSES, {}, {}, balancer(ip="x"),
     [f'status.loadBalancer.ingress[0].ip: Invalid value: "x": {NO_IP}']),
    (
        POLICIES, {}, {}, {"typeChecking": {"expressionWarnings": [{"fieldRef": "1.2.3"}, {"warning": "w"}]}},
        [
            "status.typeChecking.expressionWarnings[0].warning: Required value",
            'status.typeChecking.expressionWarnings[0].fieldRef: Invalid value: "1.2.3": invalid JSONPath: '
            "cannot parse number 1.2.3",
            "status.typeChecking.expressionWarnings[1].fieldRef: Required value",
        ],
    ),
    (ATTACHMENTS, {}, {}, {"detachError": {"errorCode": -1}},
     ["status.detachError.errorCode: Invalid value: -1: must be between 0 and 2147483647, inclusive"]),
    (CLAIMS, CLAIM_SPEC, {}, allocated(request="f/s"), []),
    (CLAIMS, CLAIM_SPEC, {}, allocated(request="f/x"),
     ['status.allocation.devices.results[0].request: Invalid value: "f/x": must be the name of a request in '
      "the claim or the name of a request and a subrequest separated by '/'"]),
    (CLAIMS, CLAIM_SPEC, {}, allocated(shareID="a"),
     ['status.allocation.devices.results[0].shareID: Invalid value: "a": error validating uid: invalid UUID '
      "length: 1"]),
    (CLAIMS, CLAIM_SPEC, {}, allocated(bindingConditions=["a"]),
     ["status.allocation.devices.results[0].bindingFailureConditions: Invalid value: null: "
      "bindingFailureConditions are required to use bindingConditions"]),
    (CLAIMS, CLAIM_SPEC, {}, {"reservedFor": [{"resource": "pods", "name": "a", "uid": "u"}]},
     ["status.reservedFor: Forbidden: may not be specified when `allocated` is not set"]),
    (
        CLAIMS, CLAIM_SPEC, allocated(), {**allocated(), "devices": [{**RESULT, "device": "e"}]},
        ['status.devices[0]: Invalid value: {"Driver":"a","Pool":"p","Device":"e","ShareID":""}: must be an '
         "allocated device in the claim"],
    ),
    (
        CLAIMS, CLAIM_SPEC, allocated(),
        {**allocated(), "devices": [{**RESULT, "networkData": {"ips": ["10.1.2.3/24", "10.1.2.3"]}}]},
        ['status.devices[0].networkData.ips[1]: Invalid value: "10.1.2.3": must be a valid address in CIDR '
         "form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)"],
    ),
    (
        CLAIMS, CLAIM_SPEC, allocated(), {"allocation": {}},
        ['status.allocation: Invalid value: {"Devices":{"Results":null,"Config":null},"NodeSelector":null,'
         '"AllocationTimestamp":null}: field is immutable'],
    ),
]  # fmt: skip


@pytest.mark.parametrize(("resource", "spec", "old", "new", "errors"), ROWS)
def test_the_errors_of_a_status(resource: str, spec: Obj, old: Obj, new: Obj, errors: list[str]) -> None:
    found = status_errors(resource, {"spec": spec, "status": new}, {"spec": spec, "status": old})
    assert [str(error) for error in found] == errors


SEEN = {"type": "A", "observedGeneration": 2}
MOUNT = {"name": "v", "mountPath": "/x"}
WITH_DIGEST = container(volumeMounts=[{**MOUNT, "volumeStatus": {"image": {}}}])
DEVICE = {"driver": "a", "pool": "p", "device": "d"}


@pytest.mark.parametrize(
    ("resource", "old", "new", "stored"),
    [
        ("pods", {"qosClass": "Burstable"}, {"qosClass": ""}, {"qosClass": "Burstable"}),
        ("pods", {"observedGeneration": 3}, {}, {"observedGeneration": 3}),
        (
            "pods",
            {"conditions": [SEEN]},
            {"conditions": [{"type": "A"}, {"type": "A"}]},
            {"conditions": [SEEN, {"type": "A"}]},
        ),
        ("pods", {}, {"nodeAllocatableResourceClaimStatuses": [{}]}, {}),
        ("pods", {}, WITH_DIGEST, container(volumeMounts=[MOUNT])),
        ("pods", WITH_DIGEST, WITH_DIGEST, WITH_DIGEST),
        ("nodes", {}, {"config": {"error": "x"}, "phase": "a"}, {"phase": "a"}),
        ("nodes", {"config": {}}, {"config": {"error": "x"}}, {"config": {"error": "x"}}),
        (CLAIMS, {**allocated(), "devices": [DEVICE]}, {"devices": [DEVICE]}, {}),
        (CLAIMS, allocated(), {**allocated(), "devices": [DEVICE]}, {**allocated(), "devices": [DEVICE]}),
    ],
)
def test_what_the_server_keeps_and_drops(resource: str, old: Obj, new: Obj, stored: Obj) -> None:
    obj = {"status": new}
    settle_status(resource, {"status": old}, obj, 36)
    assert obj["status"] == stored


def test_older_releases_do_not_keep_generations() -> None:
    obj: Obj = {"status": {}}
    settle_status("pods", {"status": {"observedGeneration": 3}}, obj, 33)
    assert obj["status"] == {}


def test_warnings_of_addresses_in_unusual_forms() -> None:
    canonical = 'IPv6 address "::01" should be in RFC 5952 canonical format ("::1")'
    pod = {"status": {"podIPs": [{"ip": "1.2.3.4"}, {"ip": "::01"}], "hostIPs": [{"ip": "::1"}]}}
    assert [*status_warnings("pods", pod)] == [f"status.podIPs[1].ip: {canonical}"]
    found = [*status_warnings("services", {"status": balancer(ip="::01")})]
    assert found == [f"status.loadBalancer.ingress[0]: {canonical}"]
