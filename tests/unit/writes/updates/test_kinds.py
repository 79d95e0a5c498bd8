"""The rules of all other kinds: what is refused in upstream's words, and what goes through."""

from __future__ import annotations

from typing import Any

import pytest

from ktui.kube.golang.formatting import to_json
from ktui.kube.quantity import amount
from ktui.writes.validation.internal_types import internal
from ktui.writes.validation.updates.kinds import update_errors

SEALED = "Forbidden: field is immutable when `immutable` is set"
STATEFUL_SET = (
    "spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', "
    "'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and "
    "'minReadySeconds' are "
    "forbidden"
)
CLAIM = (
    "spec: Forbidden: spec is immutable after creation except resources.requests and "
    "volumeAttributesClassName "
    "for bound claims\n"
)
SOURCE = "spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable after creation\n"
AFFINITY = "field is immutable, except for updating from beta label to GA"
ROLE = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "a"}
TEMPLATE_SPEC = (
    '{"Volumes":null,"InitContainers":null,"Containers":null,"EphemeralContainers":null,'
    '"RestartPolicy":"","TerminationGracePeriodSeconds":null,"ActiveDeadlineSeconds":null,'
    '"DNSPolicy":"","NodeSelector":null,"ServiceAccountName":"","AutomountServiceAccountToken":null,'
    '"NodeName":"b","SecurityContext":null,"ImagePullSecrets":null,"Hostname":"","Subdomain":"",'
    '"SetHostnameAsFQDN":null,"Affinity":null,"SchedulerName":"","Tolerations":null,"HostAliases":null,'
    '"PriorityClassName":"","Priority":null,"PreemptionPolicy":null,"DNSConfig":null,'
    '"ReadinessGates":null,"RuntimeClassName":null,"Overhead":null,"EnableServiceLinks":null,'
    '"TopologySpreadConstraints":null,"OS":null,"SchedulingGates":null,"ResourceClaims":null,'
    '"Resources":null,"HostnameOverride":null,"SchedulingGroup":null}'
)
CLASS = {
    "provisioner": "p",
    "parameters": {"a": "1"},
    "reclaimPolicy": "Delete",
    "volumeBindingMode": "Immediate",
}


def told(resource: str, old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    return [str(error) for error in update_errors(resource, old, new)]


def spec(**members: Any) -> dict[str, Any]:
    return {"spec": members}


def selector(**labels: str) -> dict[str, Any]:
    return spec(selector={"matchLabels": labels})


def claim(size: str, phase: str = "Bound", **members: Any) -> dict[str, Any]:
    resources = {"requests": {"storage": size}}
    status = {"phase": phase, "capacity": {"storage": "2Gi"}}
    return {"spec": {"resources": resources, **members}, "status": status}


def on_zone(key: str, zone: str = "a") -> dict[str, Any]:
    term = {"matchExpressions": [{"key": key, "operator": "In", "values": [zone]}]}
    return spec(nodeAffinity={"required": {"nodeSelectorTerms": [term]}})


_EVENT = {"apiVersion": "events.k8s.io/v1", "type": "Normal", "reason": "Pulled"}
_PARENT = {"parentRef": {"resource": "services", "namespace": "a", "name": "web"}}
_OTHER = '{"Group":"","Resource":"pods","Namespace":"","Name":"b"}'
_FIXED = "field is immutable"
REFUSED = [
    (
        "events.events.k8s.io",
        _EVENT,
        {**_EVENT, "type": "Warning"},
        [f'type: Invalid value: "Warning": {_FIXED}'],
    ),
    ("events.events.k8s.io", _EVENT, {**_EVENT, "note": "b"}, [f'message: Invalid value: "b": {_FIXED}']),
    (
        "ipaddresses.networking.k8s.io",
        spec(**_PARENT),
        spec(parentRef={"resource": "pods", "name": "b"}),
        [f"spec.parentRef: Invalid value: {_OTHER}: {_FIXED}"],
    ),
    (
        "ipaddresses.networking.k8s.io",
        spec(**_PARENT),
        spec(),
        [f"spec.parentRef: Invalid value: null: {_FIXED}"],
    ),
    (
        "servicecidrs.networking.k8s.io",
        spec(cidrs=["10.0.0.0/16"]),
        spec(cidrs=["10.1.0.0/16"]),
        [f'spec.cidrs[0]: Invalid value: "10.1.0.0/16": {_FIXED}'],
    ),
    (
        "servicecidrs.networking.k8s.io",
        spec(cidrs=["10.0.0.0/16"]),
        spec(),
        [f"spec.cidrs: Invalid value: null: {_FIXED}"],
    ),
    (
        "servicecidrs.networking.k8s.io",
        spec(cidrs=["10.0.0.0/16"]),
        spec(cidrs=["10.0.0.0/16", "x"]),
        [
            'spec.cidrs[1]: Invalid value: "x": must be a valid CIDR value, '
            "(e.g. 10.9.8.0/24 or 2001:db8::/64)"
        ],
    ),
    (
        "nodes",
        spec(),
        spec(taints=[{"key": "a", "effect": ""}]),
        ["metadata.taints[0].effect: Required value"],
    ),
    ("configmaps", {"immutable": True, "data": {"a": "1"}}, {"immutable": True}, [f"data: {SEALED}"]),
    (
        "configmaps",
        {"immutable": True, "binaryData": {"a": "MQ=="}},
        {"binaryData": {}},
        [f"immutable: {SEALED}", f"binaryData: {SEALED}"],
    ),
    ("secrets", {"type": "Opaque"}, {"type": "a/b"}, ['type: Invalid value: "a/b": field is immutable']),
    (
        "secrets",
        {"type": "Opaque", "immutable": True, "data": {"a": "MQ=="}},
        {"type": "a/b"},
        ['type: Invalid value: "a/b": field is immutable', f"immutable: {SEALED}", f"data: {SEALED}"],
    ),
    *(
        (
            resource,
            selector(a="b"),
            selector(c="d", b="<"),
            ['spec.selector: Invalid value: {"matchLabels":{"b":"\\u003c","c":"d"}}: field is immutable'],
        )
        for resource in ("deployments.apps", "replicasets.apps", "daemonsets.apps", "jobs.batch")
    ),
    *(
        (
            resource,
            selector(a="b"),
            spec(template={"metadata": {"labels": {"b": "1", "a": "b"}}}),
            [last],
        )
        for resource, last in (
            ("deployments.apps", "spec.selector: Invalid value: null: field is immutable"),
            ("daemonsets.apps", "spec.selector: Invalid value: null: field is immutable"),
            ("statefulsets.apps", STATEFUL_SET),
        )
    ),
    ("statefulsets.apps", spec(serviceName="a"), spec(serviceName="b"), [STATEFUL_SET]),
    ("statefulsets.apps", selector(a="b"), selector(a="c"), [STATEFUL_SET]),
    (
        "statefulsets.apps",
        spec(volumeClaimTemplates=[{"metadata": {"name": "a"}}]),
        spec(volumeClaimTemplates=[{"metadata": {"name": "b"}}]),
        [STATEFUL_SET],
    ),
    (
        "jobs.batch",
        spec(completions=1),
        spec(completions=2),
        ["spec.completions: Invalid value: 2: field is immutable"],
    ),
    (
        "jobs.batch",
        spec(completionMode="Indexed", completions=1, parallelism=1),
        spec(completionMode="Indexed", completions=2, parallelism=1),
        ["spec.completions: Invalid value: 2: can only be modified in tandem with spec.parallelism"],
    ),
    (
        "jobs.batch",
        spec(template={"spec": {"nodeName": "a"}}, completionMode="NonIndexed"),
        spec(template={"spec": {"nodeName": "b"}}, completionMode="Indexed"),
        [
            f'spec.template: Invalid value: {{"Spec":{TEMPLATE_SPEC}}}: field is immutable',
            'spec.completionMode: Invalid value: "Indexed": field is immutable',
        ],
    ),
    (
        "jobs.batch",
        spec(suspend=True, template={"spec": {"nodeName": "a"}}),
        spec(suspend=True, template={"spec": {"nodeName": "b"}}),
        [f"spec.template.spec: Invalid value: {TEMPLATE_SPEC}: field is immutable"],
    ),
    (
        "jobs.batch",
        {**spec(suspend=True, template={"spec": {"nodeSelector": {"a": "b"}}}), "status": {"active": 1}},
        spec(suspend=True, template={}),
        [
            f"spec.template: Invalid value: {to_json(internal({}, 'core.v1.PodTemplateSpec')).decode()}: "
            "field is immutable"
        ],
    ),
    *(
        (
            f"{resource}.rbac.authorization.k8s.io",
            {"roleRef": ROLE},
            {"roleRef": {**ROLE, "name": "b"}},
            [
                "roleRef: Invalid value: "
                '{"APIGroup":"rbac.authorization.k8s.io","Kind":"Role","Name":"b"}: cannot '
                "change roleRef"
            ],
        )
        for resource in ("rolebindings", "clusterrolebindings")
    ),
    (
        "persistentvolumeclaims",
        claim("1Gi", accessModes=["ReadWriteOnce"]),
        claim("1Gi", accessModes=["ReadWriteMany"]),
        [
            f'{CLAIM}@@ -1,6 +1,6 @@\n {{\n  "AccessModes": [\n-  "ReadWriteOnce"\n+  "ReadWriteMany"\n'
            '  ],\n  "Selector": null,\n  "Resources": {\n'
        ],
    ),
    (
        "persistentvolumeclaims",
        claim("1Gi", "Pending"),
        claim("3Gi", "Pending"),
        [
            f'{CLAIM}@@ -4,7 +4,7 @@\n  "Resources": {{\n   "Limits": null,\n   "Requests": {{\n'
            '-   "storage": "1Gi"\n+   "storage": "3Gi"\n   }\n  },\n  "VolumeName": "",\n'
        ],
    ),
    (
        "persistentvolumeclaims",
        claim("3Gi", volumeMode="Filesystem", volumeAttributesClassName="a"),
        claim("2048Mi", volumeMode="Block"),
        [
            f'{CLAIM}@@ -9,8 +9,8 @@\n  }},\n  "VolumeName": "",\n  "StorageClassName": null,\n'
            '- "VolumeMode": "Filesystem",\n+ "VolumeMode": "Block",\n  "DataSource": null,\n'
            '  "DataSourceRef": null,\n- "VolumeAttributesClassName": "a"\n'
            '+ "VolumeAttributesClassName": null\n }\n',
            "spec.resources.requests.storage: Forbidden: field can not be less than status.capacity",
            'volumeMode: Invalid value: "Block": field is immutable',
            "spec.volumeAttributesClassName: Forbidden: update from non-nil value to nil is forbidden",
        ],
    ),
    (
        "persistentvolumes",
        spec(csi={"driver": "d", "volumeHandle": "a"}),
        spec(csi={"driver": "d", "volumeHandle": "b"}),
        [
            f'{SOURCE}@@ -22,7 +22,7 @@\n  "StorageOS": null,\n  "CSI": {{\n   "Driver": "d",\n'
            '-  "VolumeHandle": "a",\n+  "VolumeHandle": "b",\n'
            '   "ReadOnly": false,\n   "FSType": "",\n   "VolumeAttributes": null,\n'
        ],
    ),
    (
        "persistentvolumes",
        on_zone("topology.kubernetes.io/zone"),
        on_zone("topology.kubernetes.io/zone", "b"),
        [
            'nodeAffinity: Invalid value: {"Required":{"NodeSelectorTerms":[{"MatchExpressions":[{"Key":'
            '"topology.kubernetes.io/zone","Operator":"In","Values":["b"]}],"MatchFields":null}]}}: '
            + AFFINITY
        ],
    ),
    (
        "storageclasses.storage.k8s.io",
        CLASS,
        {"provisioner": "q", "reclaimPolicy": "Retain", "volumeBindingMode": "WaitForFirstConsumer"},
        [
            "parameters: Invalid value: null: field is immutable",
            'provisioner: Invalid value: "q": field is immutable',
            'reclaimPolicy: Invalid value: "Retain": field is immutable',
            'volumeBindingMode: Invalid value: "WaitForFirstConsumer": field is immutable',
        ],
    ),
    (
        "volumeattributesclasses.storage.k8s.io",
        {"driverName": "a", "parameters": {"a": "1"}},
        {"driverName": "b", "parameters": {"a": "2"}},
        [
            "driverName: Forbidden: updates to driverName are forbidden.",
            "parameters: Forbidden: updates to parameters are forbidden.",
        ],
    ),
    (
        "csidrivers.storage.k8s.io",
        spec(attachRequired=True),
        spec(attachRequired=False),
        ["spec.attachedRequired: Invalid value: false: field is immutable"],
    ),
    (
        "csistoragecapacities.storage.k8s.io",
        {"storageClassName": "a", "nodeTopology": {"matchLabels": {"a": "b"}}},
        {"storageClassName": "b"},
        [
            "nodeTopology: Invalid value: null: field is immutable",
            'storageClassName: Invalid value: "b": field is immutable',
        ],
    ),
    (
        "ingressclasses.networking.k8s.io",
        spec(controller="a.example/b"),
        spec(controller="a.example/c"),
        ['spec.controller: Invalid value: "a.example/c": field is immutable'],
    ),
    (
        "priorityclasses.scheduling.k8s.io",
        {"value": 1, "preemptionPolicy": "Never"},
        {"preemptionPolicy": "PreemptLowerPriority"},
        [
            "value: Forbidden: may not be changed in an update.",
            'preemptionPolicy: Invalid value: "PreemptLowerPriority": field is immutable',
        ],
    ),
    (
        "nodes",
        spec(podCIDR="10.1.0.0/24", podCIDRs=["10.1.0.0/24"], providerID="a://b"),
        spec(podCIDR="10.2.0.0/24", podCIDRs=["10.2.0.0/24"], providerID=""),
        [
            'spec.podCIDRs: Forbidden: node updates may not change podCIDR except from "" to valid',
            'spec.providerID: Forbidden: node updates may not change providerID except from "" to valid',
        ],
    ),
    (
        "nodes",
        spec(podCIDR="10.1.0.0/24"),
        spec(externalID="x"),
        [
            'spec.podCIDRs: Forbidden: node updates may not change podCIDR except from "" to valid',
            "spec.externalID: Forbidden: may not be updated",
        ],
    ),
    (
        "resourcequotas",
        spec(scopes=["BestEffort"]),
        spec(scopes=[]),
        ["spec.scopes: Invalid value: null: field is immutable"],
    ),
    (
        "endpointslices.discovery.k8s.io",
        {"addressType": "IPv4"},
        {"addressType": "IPv6"},
        ['addressType: Invalid value: "IPv6": field is immutable'],
    ),
    (
        "runtimeclasses.node.k8s.io",
        {"handler": "a"},
        {"handler": "b"},
        ['handler: Invalid value: "b": field is immutable'],
    ),
    (
        "csistoragecapacities.storage.k8s.io",
        {"storageClassName": "s"},
        {"storageClassName": "s", "nodeTopology": {}},
        ["nodeTopology: Invalid value: {}: field is immutable"],
    ),
    (
        "csinodes.storage.k8s.io",
        spec(drivers=[{"name": "d", "nodeID": "n"}, {"name": "e", "nodeID": "n"}]),
        spec(drivers=[{"name": "f", "nodeID": "n"}, {"name": "d", "nodeID": "m", "topologyKeys": ["a"]}]),
        [
            "spec.drivers: Invalid value: "
            '{"Name":"d","NodeID":"m","TopologyKeys":["a"],"Allocatable":null}: field is immutable'
        ],
    ),
    (
        "volumeattachments.storage.k8s.io",
        spec(attacher="a", nodeName="n", source={"persistentVolumeName": "p"}),
        spec(attacher="a", nodeName="mmm", source={"persistentVolumeName": "p"}),
        [
            'spec: Invalid value: {"Attacher":"a","Source":{"PersistentVolumeName":"p",'
            '"InlineVolumeSpec":null},"NodeName":"mmm"}: field is immutable'
        ],
    ),
    (
        "jobs.batch",
        spec(),
        spec(successPolicy={"rules": [{}]}),
        [
            "spec.successPolicy: Invalid value: "
            '{"Rules":[{"SucceededIndexes":null,"SucceededCount":null}]}: field is immutable'
        ],
    ),
    (
        "rolebindings.rbac.authorization.k8s.io",
        {"roleRef": ROLE},
        {},
        [
            'roleRef: Invalid value: {"APIGroup":"rbac.authorization.k8s.io","Kind":"","Name":""}: '
            "cannot change roleRef"
        ],
    ),
    (
        "statefulsets.apps",
        spec(volumeClaimTemplates=[{"metadata": {"name": "a"}, "status": {"phase": "Pending"}}]),
        spec(volumeClaimTemplates=[{"metadata": {"name": "a"}, "status": {"capacity": {"storage": "1"}}}]),
        [STATEFUL_SET],
    ),
    (
        "resourceclaims.resource.k8s.io",
        spec(devices={"requests": [{"name": "r", "exactly": {"deviceClassName": "a"}}]}),
        spec(devices={"requests": [{"name": "r", "exactly": {"selectors": [{}], "count": 1}}]}),
        [
            'spec: Invalid value: {"Devices":{"Requests":[{"Name":"r","Exactly":{"DeviceClassName":"",'
            '"Selectors":[{"CEL":null}],"AllocationMode":"","Count":1,"AdminAccess":null,"Tolerations":null,'
            '"Capacity":null},"FirstAvailable":null}],"Constraints":null,"Config":null}}: field is immutable'
        ],
    ),
    (
        "resourceclaimtemplates.resource.k8s.io",
        spec(spec={}),
        spec(spec={}, metadata={"labels": {"a": "b"}}),
        [
            'spec: Invalid value: {"labels":{"a":"b"},"Spec":{"Devices":{"Requests":null,"Constraints":null,'
            '"Config":null}}}: field is immutable'
        ],
    ),
    (
        "resourceslices.resource.k8s.io",
        spec(driver="d", nodeName="n", pool={"name": "p"}),
        spec(driver="e", pool={"name": "q"}),
        [
            'spec.pool.name: Invalid value: "q": field is immutable',
            'spec.driver: Invalid value: "e": field is immutable',
            "spec.nodeName: Invalid value: null: field is immutable",
        ],
    ),
    (
        "controllerrevisions.apps",
        {"data": {"a": 1}},
        {"data": {"a": 2}},
        ['data: Invalid value: {"a":2}: field is immutable'],
    ),
]
ACCEPTED = [
    ("events", {"reason": "a"}, {"reason": "b"}),
    ("events.events.k8s.io", _EVENT, {**_EVENT, "deprecatedCount": 0}),
    ("ipaddresses.networking.k8s.io", spec(**_PARENT), spec(**_PARENT)),
    ("servicecidrs.networking.k8s.io", spec(cidrs=["10.0.0.0/16"]), spec(cidrs=["10.0.0.0/16", "fd00::/64"])),
    ("configmaps", {"data": {"a": "1"}}, {"immutable": True, "data": {"a": "2"}}),
    (
        "deployments.apps",
        selector(a="b"),
        {"spec": {**selector(a="b")["spec"], "replicas": 3, "template": {}}},
    ),
    ("statefulsets.apps", spec(replicas=1), spec(replicas=2, template={}, revisionHistoryLimit=1)),
    (
        "statefulsets.apps",
        spec(
            volumeClaimTemplates=[{"metadata": {"name": "a"}, "kind": "PersistentVolumeClaim", "status": {}}]
        ),
        spec(volumeClaimTemplates=[{"metadata": {"name": "a"}}]),
    ),
    ("jobs.batch", spec(parallelism=1), spec(parallelism=2, suspend=True, backoffLimit=1)),
    (
        "jobs.batch",
        spec(completionMode="Indexed", completions=1, parallelism=1),
        spec(completionMode="Indexed", completions=2, parallelism=2),
    ),
    (
        "jobs.batch",
        spec(suspend=True, template={"spec": {"containers": [{"name": "c"}]}}),
        spec(
            suspend=True,
            template={
                "metadata": {"labels": {"a": "b"}},
                "spec": {
                    "containers": [{"name": "c", "resources": {}}],
                    "nodeSelector": {"a": "b"},
                    "affinity": {"nodeAffinity": {}},
                },
            },
        ),
    ),
    (
        "rolebindings.rbac.authorization.k8s.io",
        {"roleRef": ROLE},
        {"roleRef": ROLE, "subjects": [{"name": "a"}]},
    ),
    ("persistentvolumeclaims", claim("1Gi"), claim("3Gi", volumeName="v", storageClassName="c")),
    ("persistentvolumeclaims", claim("4Gi"), claim("3Gi")),
    ("persistentvolumes", spec(csi={"driver": "d"}), spec(csi={"driver": "d"}, capacity={"storage": "1Gi"})),
    (
        "persistentvolumes",
        spec(csi={"driver": "d"}),
        spec(csi={"driver": "d", "controllerExpandSecretRef": {"name": "a"}}),
    ),
    (
        "persistentvolumes",
        on_zone("failure-domain.beta.kubernetes.io/zone"),
        on_zone("topology.kubernetes.io/zone"),
    ),
    ("storageclasses.storage.k8s.io", CLASS, {**CLASS, "allowVolumeExpansion": True}),
    ("nodes", spec(), spec(podCIDR="10.1.0.0/24", providerID="a://b", unschedulable=True, taints=[])),
    (
        "csinodes.storage.k8s.io",
        spec(drivers=[{"name": "d", "allocatable": {"count": 1}}]),
        spec(drivers=[{"name": "e"}, {"name": "d", "allocatable": {"count": 2}}]),
    ),
    ("resourcequotas", spec(scopes=["a", "b"]), spec(scopes=["b", "a"], hard={"pods": "1"})),
    ("serviceaccounts", {"secrets": []}, {"secrets": [{"name": "a"}]}),
]


@pytest.mark.parametrize(("resource", "old", "new", "errors"), REFUSED)
def test_refused(resource: str, old: dict[str, Any], new: dict[str, Any], errors: list[str]) -> None:
    assert told(resource, old, new) == errors


@pytest.mark.parametrize(("resource", "old", "new"), ACCEPTED)
def test_accepted(resource: str, old: dict[str, Any], new: dict[str, Any]) -> None:
    assert told(resource, old, new) == []


def test_a_cause_has_the_reason_of_its_words() -> None:
    (error,) = update_errors("secrets", {"type": "a"}, {"type": "b"})
    assert (error.field, error.reason) == ("type", "FieldValueInvalid")
    (error,) = update_errors("configmaps", {"immutable": True}, {})
    assert (error.field, error.reason) == ("immutable", "FieldValueForbidden")


@pytest.mark.parametrize(
    ("smaller", "greater"), [("1Gi", "1025Mi"), ("999m", "1"), ("1k", "1Ki"), (None, "1"), ("1e3", "1.1k")]
)
def test_quantities(smaller: str | None, greater: str) -> None:
    assert amount(smaller) < amount(greater)


def test_quantities_that_are_equal() -> None:
    assert amount("1Gi") == amount("1024Mi") == amount("1073741824")
