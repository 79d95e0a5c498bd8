"""Defaults that kube-apiserver sets on objects before it stores them."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from typing import Any

from ktui.writes import other_defaults
from ktui.writes.definitions import set_definition_defaults

Obj = dict[str, Any]


def set_defaults(obj: Obj) -> None:
    """Set the defaults of missing fields, in place. Kinds not listed here are stored as sent."""
    setter = _BY_KIND.get(str(obj.get("kind")))
    if setter is not None:
        setter(obj)


def _sub(obj: Obj, name: str) -> Obj:
    value = obj.setdefault(name, {})
    return value if isinstance(value, dict) else {}


def _fill(obj: Obj, **defaults: Any) -> None:
    """Set missing members; an empty text is missing, too, as Go's types cannot tell them apart."""
    for name, value in defaults.items():
        if obj.get(name, "") == "":
            obj[name] = value


def _pod(obj: Obj) -> None:
    spec = _sub(obj, "spec")
    _pod_spec(spec)
    spec.setdefault("enableServiceLinks", True)
    for name in ("initContainers", "containers"):
        for container in spec.get(name) or []:
            if not isinstance(container, dict):
                continue
            if isinstance(container.get("resources"), dict):
                _requests(container["resources"])
            if spec.get("hostNetwork"):  # for templates only with a deprecated gate
                for port in container.get("ports") or []:
                    port.setdefault("hostPort", port.get("containerPort"))
    _pod_addresses(_sub(obj, "status"))


def _pod_addresses(status: Obj) -> None:
    """Set the older member from the list, or the list from it where they differ, as upstream's conversion."""
    one, several = status.get("podIP"), status.get("podIPs")
    if one and (not several or several[0].get("ip") != one):
        status["podIPs"] = [{"ip": one}]
    elif several and several[0].get("ip"):
        status["podIP"] = several[0]["ip"]


def _requests(resources: Obj) -> None:
    """A limit without a request is also the request; for pods only, not for their templates."""
    limits, requests = resources.get("limits"), resources.get("requests") or {}
    if limits and isinstance(limits, dict) and isinstance(requests, dict):
        resources["requests"] = {**limits, **requests}


def _pod_spec(spec: Obj) -> None:
    _fill(
        spec,
        dnsPolicy="ClusterFirst",
        restartPolicy="Always",
        schedulerName="default-scheduler",
        terminationGracePeriodSeconds=30,
        securityContext={},
    )
    if "serviceAccountName" in spec:
        spec.setdefault("serviceAccount", spec["serviceAccountName"])
    for name in ("initContainers", "containers", "ephemeralContainers"):
        for container in spec.get(name) or []:
            if isinstance(container, dict):
                _container(container)
    for volume in spec.get("volumes") or []:
        _volume(volume)


def _container(container: Obj) -> None:
    _fill(
        container,
        imagePullPolicy=_pull_policy(str(container.get("image", ""))),
        resources={},
        terminationMessagePath="/dev/termination-log",
        terminationMessagePolicy="File",
    )
    for port in container.get("ports") or []:
        _fill(port, protocol="TCP")
    for variable in container.get("env") or []:
        _references(variable.get("valueFrom") or {})
    for probe in ("livenessProbe", "readinessProbe", "startupProbe"):
        if isinstance(container.get(probe), dict):
            _probe(container[probe])
    for hook in ("postStart", "preStop"):
        if isinstance(handler := (container.get("lifecycle") or {}).get(hook), dict):
            _http(handler)


def _pull_policy(image: str) -> str:
    tag = image.rpartition("/")[2].partition(":")[2]
    return "Always" if "@" not in image and tag in ("", "latest") else "IfNotPresent"


def _references(source: Obj) -> None:
    """Set the defaults of references to a pod's own fields, in its environment or in a volume."""
    if isinstance(field := source.get("fieldRef"), dict):
        _fill(field, apiVersion="v1")
    if isinstance(resource := source.get("resourceFieldRef"), dict):
        resource.setdefault("divisor", "0")


# 0 is missing.
_PROBE = {"timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3}


def _probe(probe: Obj) -> None:
    for name, value in _PROBE.items():
        probe[name] = probe.get(name) or value
    _http(probe)
    if isinstance(probe.get("grpc"), dict):
        probe["grpc"].setdefault("service", "")


def _http(handler: Obj) -> None:
    if isinstance(handler.get("httpGet"), dict):
        _fill(handler["httpGet"], path="/", scheme="HTTP")


_MODES = {"secret": 0o644, "configMap": 0o644, "downwardAPI": 0o644, "projected": 0o644}


def _volume(volume: Obj) -> None:
    for source, mode in _MODES.items():
        if isinstance(volume.get(source), dict):
            volume[source].setdefault("defaultMode", mode)
    if isinstance(volume.get("hostPath"), dict):
        volume["hostPath"].setdefault("type", "")
    if isinstance(image := volume.get("image"), dict):
        image.setdefault("pullPolicy", _pull_policy(str(image.get("reference", ""))))
    if isinstance(volume.get("iscsi"), dict):
        volume["iscsi"].setdefault("iscsiInterface", "default")
    if isinstance(claim := (volume.get("ephemeral") or {}).get("volumeClaimTemplate"), dict):
        _sub(claim, "spec").setdefault("volumeMode", "Filesystem")
    projected = volume.get("projected")
    sources = (projected.get("sources") or []) if isinstance(projected, dict) else []
    for source in (*sources, volume):
        if isinstance(token := source.get("serviceAccountToken"), dict):
            token.setdefault("expirationSeconds", 3600)
        downward = source.get("downwardAPI")
        for item in (downward.get("items") or []) if isinstance(downward, dict) else []:
            _references(item)


def _template(holder: Obj) -> None:
    """Set the defaults of the template in a spec, or in a PodTemplate."""
    template = _sub(holder, "template")
    _sub(template, "metadata")
    _pod_spec(_sub(template, "spec"))


def _deployment(obj: Obj) -> None:
    spec = _sub(obj, "spec")
    _fill(spec, replicas=1, revisionHistoryLimit=10, progressDeadlineSeconds=600)
    strategy = _sub(spec, "strategy")
    _fill(strategy, type="RollingUpdate")
    if strategy["type"] == "RollingUpdate":
        _fill(_sub(strategy, "rollingUpdate"), maxUnavailable="25%", maxSurge="25%")
    _template(spec)
    _sub(obj, "status")


def _replica_set(obj: Obj) -> None:
    spec = _sub(obj, "spec")
    spec.setdefault("replicas", 1)
    _template(spec)
    _sub(obj, "status").setdefault("replicas", 0)


def _replication_controller(obj: Obj) -> None:
    """Set the defaults of a ReplicationController; selector and labels default to its template's labels."""
    spec = _sub(obj, "spec")
    spec.setdefault("replicas", 1)
    if isinstance(spec.get("template"), dict):
        _template(spec)
        if labels := _labelled_by_template(obj):
            spec["selector"] = spec.get("selector") or {**labels}
    _sub(obj, "status").setdefault("replicas", 0)


def _labelled_by_template(obj: Obj) -> Obj:
    """Set the template's labels on an object that has none; return the template's labels."""
    labels: Obj = _sub(_sub(_sub(obj, "spec"), "template"), "metadata").get("labels") or {}
    metadata = _sub(obj, "metadata")
    if labels and not metadata.get("labels"):
        metadata["labels"] = {**labels}
    return labels


# A field of the internal type, shown as an annotation; the server counts it.
TEMPLATE_GENERATION = "deprecated.daemonset.template.generation"


def _daemon_set(obj: Obj) -> None:
    _sub(_sub(obj, "metadata"), "annotations").setdefault(TEMPLATE_GENERATION, "0")
    spec = _sub(obj, "spec")
    spec.setdefault("revisionHistoryLimit", 10)
    strategy = _sub(spec, "updateStrategy")
    _fill(strategy, type="RollingUpdate")
    if strategy["type"] == "RollingUpdate":
        _fill(_sub(strategy, "rollingUpdate"), maxUnavailable=1, maxSurge=0)
    _template(spec)
    counts = ("currentNumberScheduled", "numberMisscheduled", "desiredNumberScheduled", "numberReady")
    _fill(_sub(obj, "status"), **dict.fromkeys(counts, 0))


def _stateful_set(obj: Obj) -> None:
    spec = _sub(obj, "spec")
    _fill(spec, replicas=1, revisionHistoryLimit=10, podManagementPolicy="OrderedReady", serviceName="")
    strategy = _sub(spec, "updateStrategy")
    _fill(strategy, type="RollingUpdate")
    if strategy["type"] == "RollingUpdate":
        _sub(strategy, "rollingUpdate").setdefault("partition", 0)
    _fill(_sub(spec, "persistentVolumeClaimRetentionPolicy"), whenDeleted="Retain", whenScaled="Retain")
    _template(spec)
    for claim in spec.get("volumeClaimTemplates") or []:
        if isinstance(claim, dict):
            _fill(claim, apiVersion="v1", kind="PersistentVolumeClaim")
            other_defaults.claim(claim)
    _fill(_sub(obj, "status"), replicas=0, availableReplicas=0)


def _job(obj: Obj) -> None:
    spec = _sub(obj, "spec")
    if "completions" not in spec and "parallelism" not in spec:
        _fill(spec, completions=1)
    replacement = "Failed" if spec.get("podFailurePolicy") else "TerminatingOrFailed"
    # With a limit for each index there is none for all indexes together.
    limit = 2**31 - 1 if "backoffLimitPerIndex" in spec else 6
    _fill(spec, parallelism=1, backoffLimit=limit, suspend=False, manualSelector=False)
    spec.setdefault("completionMode", "NonIndexed")
    spec.setdefault("podReplacementPolicy", replacement)
    _template(spec)
    _labelled_by_template(obj)
    _sub(obj, "status")


def _cron_job(obj: Obj) -> None:
    spec = _sub(obj, "spec")
    _fill(
        spec, concurrencyPolicy="Allow", suspend=False, successfulJobsHistoryLimit=3, failedJobsHistoryLimit=1
    )
    job = _sub(spec, "jobTemplate")
    _sub(job, "metadata")
    _template(_sub(job, "spec"))
    _sub(obj, "status")


def _service(obj: Obj) -> None:
    spec = _sub(obj, "spec")
    _fill(spec, type="ClusterIP", sessionAffinity="None")
    if spec["type"] in ("ClusterIP", "NodePort", "LoadBalancer"):
        spec.setdefault("internalTrafficPolicy", "Cluster")
    if spec["sessionAffinity"] == "ClientIP":
        spec["sessionAffinityConfig"] = spec.get("sessionAffinityConfig") or {
            "clientIP": {"timeoutSeconds": 10800}
        }
    for port in spec.get("ports") or []:
        _fill(port, protocol="TCP", targetPort=port.get("port"))
        port["targetPort"] = port["targetPort"] or port.get("port")
    if spec["type"] in ("NodePort", "LoadBalancer"):
        spec.setdefault("externalTrafficPolicy", "Cluster")
    if spec["type"] == "LoadBalancer":
        spec.setdefault("allocateLoadBalancerNodePorts", True)
    balancer = _sub(_sub(obj, "status"), "loadBalancer")
    if spec["type"] == "LoadBalancer":
        for address in balancer.get("ingress") or []:
            if address.get("ip"):
                address.setdefault("ipMode", "VIP")


def _namespace(obj: Obj) -> None:
    name = (obj.get("metadata") or {}).get("name", "")
    if name:
        _sub(_sub(obj, "metadata"), "labels").setdefault("kubernetes.io/metadata.name", name)
    _sub(obj, "spec")
    _sub(obj, "status").setdefault("phase", "Active")


def _secret(obj: Obj) -> None:
    _fill(obj, type="Opaque")
    texts = obj.get("stringData")
    if texts is not None and isinstance(texts, dict) and all(isinstance(t, str) for t in texts.values()):
        # stringData is write-only: only data is stored.
        del obj["stringData"]
        if texts:
            encoded = {name: b64encode(text.encode()).decode() for name, text in texts.items()}
            obj["data"] = {**(obj.get("data") or {}), **encoded}


def _event(obj: Obj) -> None:
    _fill(obj, eventTime=None, firstTimestamp=None, lastTimestamp=None, source={})
    _fill(obj, reportingComponent="", reportingInstance="")


def _node(obj: Obj) -> None:
    spec = _sub(obj, "spec")
    # Upstream converts to and from a type that has only the list; the older member wins where they differ.
    one, several = spec.get("podCIDR"), spec.get("podCIDRs")
    if one and (not several or several[0] != one):
        spec["podCIDRs"] = [one]
    elif several:
        spec["podCIDR"] = several[0]
    status = _sub(obj, "status")
    if status.get("capacity") and status.get("allocatable") is None:
        status["allocatable"] = status["capacity"]


_BY_KIND: dict[str, Callable[[Obj], None]] = {
    "CSIDriver": other_defaults.csi_driver,
    "EndpointSlice": other_defaults.endpoint_slice,
    "Endpoints": other_defaults.endpoints,
    "FlowSchema": other_defaults.flow_schema,
    "HorizontalPodAutoscaler": other_defaults.autoscaler,
    "IngressClass": other_defaults.ingress_class,
    "LimitRange": other_defaults.limit_range,
    "MutatingWebhookConfiguration": other_defaults.mutating_webhooks,
    "NetworkPolicy": other_defaults.network_policy,
    "PodTemplate": _template,
    "ValidatingWebhookConfiguration": other_defaults.validating_webhooks,
    "ClusterRoleBinding": other_defaults.role_binding,
    "CronJob": _cron_job,
    "CustomResourceDefinition": set_definition_defaults,
    "DaemonSet": _daemon_set,
    "Deployment": _deployment,
    "Event": _event,
    "Job": _job,
    "Namespace": _namespace,
    "Node": _node,
    "PersistentVolume": other_defaults.volume,
    "PersistentVolumeClaim": other_defaults.claim,
    "Pod": _pod,
    "PriorityLevelConfiguration": other_defaults.priority_level,
    "PriorityClass": other_defaults.priority_class,
    "ReplicaSet": _replica_set,
    "ReplicationController": _replication_controller,
    "RoleBinding": other_defaults.role_binding,
    "Secret": _secret,
    "Service": _service,
    "StatefulSet": _stateful_set,
    "StorageClass": other_defaults.storage_class,
}
