"""Defaults that kube-apiserver sets on objects before it stores them: a table for each kind."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

from ktui.kube.flow_rules import DEFAULT_PRECEDENCE, DEFAULT_SHARES
from ktui.kube.json_trees import Obj
from ktui.writes.default_rows import Fill, Table, Unset, by_kind, filler, members
from ktui.writes.definitions import set_definition_defaults
from ktui.writes.objectmeta import metadata_of, timestamp
from ktui.writes.pod_defaults import POD_SPEC, PROTOCOL, VOLUME_SOURCES, whole_pod


def _counted(wanted: Obj) -> None:
    """An exact number of devices is one, if it is not given."""
    wanted["allocationMode"] = wanted.get("allocationMode") or "ExactCount"
    if wanted["allocationMode"] == "ExactCount":
        wanted["count"] = wanted.get("count") or 1


def set_taint_time(taint: Obj) -> None:
    taint.setdefault("timeAdded", timestamp())


_WANTED = (("", _counted), ("tolerations[].operator", Unset("Equal")))
DEVICE_REQUEST = (("exactly", _WANTED), ("firstAvailable[]", _WANTED))


# A field of the internal type, shown as an annotation; the server counts it.
TEMPLATE_GENERATION = "deprecated.daemonset.template.generation"
RBAC = "rbac.authorization.k8s.io"


_TEMPLATE_PARTS = (("metadata!", ()), ("spec!", POD_SPEC))
_TEMPLATE = (("template!", _TEMPLATE_PARTS),)


def _requests(resources: Obj) -> None:
    """A limit without a request is also the request; for pods only, not for their templates."""
    limits, requests = resources.get("limits"), resources.get("requests") or {}
    if limits and isinstance(limits, dict) and isinstance(requests, dict):
        resources["requests"] = {**limits, **requests}


def _host_ports(spec: Obj) -> None:
    """The ports of a host's network; of templates only with a deprecated gate."""
    if spec.get("hostNetwork"):
        for name in ("initContainers", "containers"):
            for container in spec.get(name) or []:
                for port in container.get("ports") or []:
                    if port.get("containerPort"):
                        port["hostPort"] = port.get("hostPort") or port["containerPort"]


def _either(one: str, several: str, item: str = "") -> Fill:
    """Set the older member from the list, or the list from it where they differ, as upstream's conversion."""

    def convert(obj: Obj) -> None:
        first, found = obj.get(one), obj.get(several) or []
        listed = (found[0].get(item) if item else found[0]) if found else None
        if first and listed != first:
            obj[several] = [{item: first} if item else first]
        elif listed:
            obj[one] = listed

    return convert


def _labelled_by_template(obj: Obj) -> Obj:
    """Set the template's labels on an object that has none; return the template's labels."""
    labels: Obj = obj["spec"]["template"]["metadata"].get("labels") or {}
    metadata = metadata_of(obj)
    if labels and not metadata.get("labels"):
        metadata["labels"] = {**labels}
    return labels


def _selecting_by_template(controller: Obj) -> None:
    """Selector and labels of a ReplicationController default to its template's labels, if it has one."""
    if not isinstance(controller["spec"].get("template"), dict):
        return
    if labels := _labelled_by_template(controller):
        controller["spec"]["selector"] = controller["spec"].get("selector") or {**labels}


def _rolling(**limits: Any) -> Fill:
    """Set the limits of a strategy of type RollingUpdate, which is the default."""
    fill = filler((("rollingUpdate!", members(**limits)),))

    def of_strategy(strategy: Obj) -> None:
        strategy["type"] = strategy.get("type") or "RollingUpdate"
        if strategy["type"] == "RollingUpdate":
            fill(strategy)

    return of_strategy


def _stateful_update(strategy: Obj) -> None:
    """A StatefulSet rolls by default; the limits of an update are those of a missing type only."""
    if not strategy.get("type"):
        strategy["type"] = "RollingUpdate"
        strategy["rollingUpdate"] = strategy.get("rollingUpdate") or {}


def _partition(strategy: Obj) -> None:
    rolling = strategy.get("rollingUpdate")
    if strategy["type"] == "RollingUpdate" and isinstance(rolling, dict):
        rolling.setdefault("partition", 0)


def _job(spec: Obj) -> None:
    if "completions" not in spec and "parallelism" not in spec:
        spec["completions"] = 1
    # With a limit for each index there is none for all indexes together.
    spec.setdefault("backoffLimit", 2**31 - 1 if "backoffLimitPerIndex" in spec else 6)
    replacement = "TerminatingOrFailed" if spec.get("podFailurePolicy") is None else "Failed"
    spec.setdefault("podReplacementPolicy", replacement)


_FAILED = ("podFailurePolicy.rules[].onPodConditions[].status", Unset("True"))


def _service(spec: Obj) -> None:
    kind = spec["type"]
    if kind in ("ClusterIP", "NodePort", "LoadBalancer"):
        spec.setdefault("internalTrafficPolicy", "Cluster")
    if kind in ("NodePort", "LoadBalancer") or (kind == "ClusterIP" and spec.get("externalIPs")):
        spec["externalTrafficPolicy"] = spec.get("externalTrafficPolicy") or "Cluster"
    if kind == "LoadBalancer":
        spec.setdefault("allocateLoadBalancerNodePorts", True)
    if spec["sessionAffinity"] == "None":
        spec.pop("sessionAffinityConfig", None)
    if spec["sessionAffinity"] == "ClientIP":
        config = spec.get("sessionAffinityConfig") or {}
        if (config.get("clientIP") or {}).get("timeoutSeconds") is None:
            spec["sessionAffinityConfig"] = {"clientIP": {"timeoutSeconds": 10800}}


def _ip_modes(service: Obj) -> None:
    if (service.get("spec") or {}).get("type") == "LoadBalancer":
        for address in service["status"]["loadBalancer"].get("ingress") or []:
            if address.get("ip"):
                address.setdefault("ipMode", "VIP")


def _secret(obj: Obj) -> None:
    texts = obj.get("stringData")
    if texts is not None and isinstance(texts, dict) and all(isinstance(t, str) for t in texts.values()):
        # stringData is write-only: only data is stored.
        del obj["stringData"]
        if texts:
            encoded = {name: b64encode(text.encode()).decode() for name, text in texts.items()}
            obj["data"] = {**(obj.get("data") or {}), **encoded}


def _namespace(metadata: Obj) -> None:
    if name := metadata.get("name"):
        labels = metadata.setdefault("labels", {})
        if isinstance(labels, dict):
            labels["kubernetes.io/metadata.name"] = name


def _event(event: Obj) -> None:
    """Set what is written even if empty; in events.k8s.io most of it has other names, or may be missing."""
    new = event.get("apiVersion") == "events.k8s.io/v1"
    times = ("FirstTimestamp", "LastTimestamp")
    names = [f"deprecated{name}" if new else name[:1].lower() + name[1:] for name in times]
    for name in ("eventTime", *names):
        event.setdefault(name, None)
    event.setdefault("deprecatedSource" if new else "source", {})
    for name in () if new else ("reportingComponent", "reportingInstance"):
        event.setdefault(name, "")


def _allocatable(status: Obj) -> None:
    if status.get("capacity") and status.get("allocatable") is None:
        status["allocatable"] = status["capacity"]


def _subject(subject: Obj) -> None:
    if subject.get("kind") in ("User", "Group"):
        subject["apiGroup"] = subject.get("apiGroup") or RBAC


def _policy_types(spec: Obj) -> None:
    spec["policyTypes"] = spec.get("policyTypes") or ["Ingress", *(["Egress"] if spec.get("egress") else [])]


def _limit(limit: Obj) -> None:
    """Set the defaults for containers without limits or requests."""
    if limit.get("type") == "Container":
        default = {**(limit.get("max") or {}), **(limit.get("default") or {})}
        request = {**(limit.get("min") or {}), **default, **(limit.get("defaultRequest") or {})}
        for name, value in (("default", default), ("defaultRequest", request)):
            if value:
                limit[name] = value


_CPU = {"resource": {"name": "cpu", "target": {"averageUtilization": 80, "type": "Utilization"}}}
_PERCENT = {"type": "Percent", "value": 100, "periodSeconds": 15}
_SCALE_UP = [{"type": "Pods", "value": 4, "periodSeconds": 15}, _PERCENT]
_AUTOSCALER = (
    ("spec.metrics", Unset([{"type": "Resource", **_CPU}])),
    ("spec.behavior.scaleUp!.stabilizationWindowSeconds", 0),
    ("spec.behavior.scaleUp", members(selectPolicy="Max", policies=_SCALE_UP)),
    ("spec.behavior.scaleDown!", members(selectPolicy="Max", policies=[_PERCENT])),
)  # fmt: skip


_fill_autoscaler = filler(_AUTOSCALER)


def _autoscaler(obj: Obj) -> None:
    """Autoscaling/v1 stores everything but the number of replicas in annotations."""
    if obj.get("apiVersion") == "autoscaling/v2":
        _fill_autoscaler(obj)


_SHARES, _QUEUING = "nominalConcurrencyShares", "spec.limited.limitResponse.queuing"
_ROLES = (("roleRef.apiGroup", Unset(RBAC)), ("subjects[]", _subject))
_CLAIM = (("spec!.volumeMode", "Filesystem"), ("status!.phase", "Pending"))
_WEBHOOKS = (
    ("webhooks[]", members(failurePolicy="Fail", matchPolicy="Equivalent", timeoutSeconds=10)),
    ("webhooks[]", members(namespaceSelector={}, objectSelector={})), ("webhooks[].rules[].scope", "*"),
    ("webhooks[].clientConfig.service.port", 443),
)  # fmt: skip
_MATCHED = (
    ("", members(matchPolicy="Equivalent", namespaceSelector={}, objectSelector={})),
    ("resourceRules[].scope", "*"), ("excludeResourceRules[].scope", "*"),
)  # fmt: skip
_POLICY = (("spec!.failurePolicy", "Fail"), ("spec.matchConstraints", _MATCHED))
_POLICY_BINDING = (("spec.matchResources", _MATCHED),)
_BY_KIND: dict[str, Table] = {
    "CSIDriver": (
        ("spec!", members(attachRequired=True, podInfoOnMount=False, storageCapacity=False)),
        ("spec", members(requiresRepublish=False, seLinuxMount=False)),
        ("spec.fsGroupPolicy", "ReadWriteOnceWithFSType"),
        ("spec.volumeLifecycleModes", Unset(["Persistent"])),
    ),
    "ClusterRoleBinding": _ROLES,
    "CronJob": (
        ("spec!.concurrencyPolicy", Unset("Allow")),
        ("spec", members(suspend=False, successfulJobsHistoryLimit=3, failedJobsHistoryLimit=1)),
        ("spec.jobTemplate!.metadata!", ()), ("spec.jobTemplate.spec!", (*_TEMPLATE, _FAILED)),
        ("status!", ()),
    ),
    "CustomResourceDefinition": (("", set_definition_defaults),),
    "DaemonSet": (
        ("metadata!.annotations!", lambda obj: obj.setdefault(TEMPLATE_GENERATION, "0")),
        ("spec!.revisionHistoryLimit", 10),
        ("spec.updateStrategy!", _rolling(maxUnavailable=1, maxSurge=0)), ("spec", _TEMPLATE),
        ("status!", members(currentNumberScheduled=0, numberMisscheduled=0)),
        ("status", members(desiredNumberScheduled=0, numberReady=0)),
    ),
    "Deployment": (
        ("spec!", members(replicas=1, revisionHistoryLimit=10, progressDeadlineSeconds=600)),
        ("spec.strategy!", _rolling(maxUnavailable="25%", maxSurge="25%")), ("spec", _TEMPLATE),
        ("status!", ()),
    ),
    "EndpointSlice": (("ports[]", members(name="", protocol="TCP")),),
    "Endpoints": (("subsets[]", PROTOCOL),),
    "Event": (("", _event),),
    "FlowSchema": (("spec!.matchingPrecedence", Unset(DEFAULT_PRECEDENCE)),),
    "HorizontalPodAutoscaler": (("spec!.minReplicas", 1), ("", _autoscaler)),
    "IngressClass": (("spec.parameters.scope", "Cluster"),),
    "Job": (
        ("spec!", _job),
        ("spec", members(parallelism=1, suspend=False, manualSelector=False, completionMode="NonIndexed")),
        ("spec", (*_TEMPLATE, _FAILED)), ("", _labelled_by_template), ("status!", ()),
    ),
    "LimitRange": (("spec.limits[]", _limit),),
    "MutatingAdmissionPolicy": _POLICY,
    "MutatingAdmissionPolicyBinding": _POLICY_BINDING,
    "MutatingWebhookConfiguration": (*_WEBHOOKS, ("webhooks[].reinvocationPolicy", "Never")),
    "Namespace": (("metadata", _namespace), ("spec!", ()), ("status!.phase", Unset("Active"))),
    "NetworkPolicy": (
        ("spec!", _policy_types), ("spec.ingress[].ports[].protocol", "TCP"),
        ("spec.egress[].ports[].protocol", "TCP"),
    ),
    "Node": (("spec!", _either("podCIDR", "podCIDRs")), ("status!", _allocatable)),
    "PersistentVolume": (
        *_CLAIM, ("spec.persistentVolumeReclaimPolicy", Unset("Retain")), ("spec", VOLUME_SOURCES),
    ),
    "PersistentVolumeClaim": _CLAIM,
    "Pod": (
        ("spec!", POD_SPEC), ("spec.enableServiceLinks", True),
        ("spec.initContainers[].resources", _requests), ("spec.containers[].resources", _requests),
        ("spec", whole_pod), ("spec", _host_ports), ("status!", _either("podIP", "podIPs", "ip")),
    ),
    "PodTemplate": _TEMPLATE,
    "PriorityClass": (("preemptionPolicy", "PreemptLowerPriority"),),
    "PriorityLevelConfiguration": (
        ("spec.limited", (("lendablePercent", 0), (_SHARES, DEFAULT_SHARES))),
        ("spec.exempt", (("lendablePercent", 0), (_SHARES, 0))),
        (_QUEUING, members(handSize=Unset(8), queues=Unset(64), queueLengthLimit=Unset(50))),
    ),
    "ReplicaSet": (("spec!.replicas", 1), ("spec", _TEMPLATE), ("status!.replicas", 0)),
    "ReplicationController": (
        ("spec!.replicas", 1), ("spec.template", _TEMPLATE_PARTS), ("", _selecting_by_template),
        ("status!.replicas", 0),
    ),
    "ResourceClaim": (("spec.devices.requests[]", DEVICE_REQUEST),),
    "ResourceClaimTemplate": (("spec.spec.devices.requests[]", DEVICE_REQUEST),),
    "ResourceSlice": (("spec.devices[].taints[]", set_taint_time),),
    "RoleBinding": _ROLES,
    "Secret": (("type", Unset("Opaque")), ("", _secret)),
    "Service": (
        ("spec!", members(type=Unset("ClusterIP"), sessionAffinity=Unset("None"))), ("spec", _service),
        ("spec", PROTOCOL),
        ("spec.ports[]", lambda port: port.update(targetPort=port.get("targetPort") or port.get("port"))),
        ("status!.loadBalancer!", ()), ("", _ip_modes),
    ),
    "StatefulSet": (
        ("spec!", members(replicas=1, revisionHistoryLimit=10, serviceName="")),
        ("spec.podManagementPolicy", Unset("OrderedReady")),
        ("spec.updateStrategy!", _stateful_update), ("spec.updateStrategy", _partition),
        ("spec.persistentVolumeClaimRetentionPolicy!.whenDeleted", Unset("Retain")),
        ("spec.persistentVolumeClaimRetentionPolicy.whenScaled", Unset("Retain")), ("spec", _TEMPLATE),
        ("spec.volumeClaimTemplates[]", members(apiVersion=Unset("v1"), kind=Unset("PersistentVolumeClaim"))),
        ("spec.volumeClaimTemplates[]", _CLAIM), ("status!", members(replicas=0, availableReplicas=0)),
    ),
    "StorageClass": members(reclaimPolicy="Delete", volumeBindingMode="Immediate"),
    "ValidatingAdmissionPolicy": _POLICY,
    "ValidatingAdmissionPolicyBinding": _POLICY_BINDING,
    "ValidatingWebhookConfiguration": _WEBHOOKS,
    "VolumeAttachment": (("spec.source.inlineVolumeSpec", VOLUME_SOURCES),),
}  # fmt: skip
set_defaults = by_kind(_BY_KIND)
"""Set the defaults of missing fields, in place. Kinds not listed here are stored as sent."""
